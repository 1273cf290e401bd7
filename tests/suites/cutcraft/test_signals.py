"""Onsets, motion, rhythm, sound quality, mood and the scores per cut: goldens of spec 15.1 and identities."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.experts.features import AudioTags, Embeddings
from evaluator.media.types import ClipInfo, Frames
from evaluator.suites.cutcraft.cut_scores import (
    Candidate,
    contrast_cut,
    graphic_match,
    match_transitions,
    optical_credit,
    relation_credit,
    sound_match,
    visual_match,
    wanted_optical,
)
from evaluator.suites.cutcraft.flags import COMPAT, PAPER, Defects
from evaluator.suites.cutcraft.labels import Optical, Relation
from evaluator.suites.cutcraft.mood import TABLE, expected_moods, mood_score
from evaluator.suites.cutcraft.motion import Motion, across, action_match, energy_peaks, motion, whip
from evaluator.suites.cutcraft.onsets import RATE, onset_near, onset_times, sync_score
from evaluator.suites.cutcraft.rhythm import fit_of_cut, following, has_music, hop_levels, rhythm_score
from evaluator.suites.cutcraft.sound_quality import SoundFacts, sound_facts, sound_score
from tests.suites.cutcraft.scenes import band, pan, plane


def clicks(times: list[float], seconds: float = 4.0) -> np.ndarray:
    samples = 1e-4 * np.random.RandomState(0).standard_normal(round(seconds * RATE))
    burst = np.random.RandomState(1).standard_normal(round(0.05 * RATE)) * np.exp(-np.arange(round(0.05 * RATE)) / 200)
    for time in times:
        samples[round(time * RATE) :][: len(burst)] += 0.5 * burst
    return samples


class TestOnsets:
    def test_clicks_are_found_where_they_are(self) -> None:
        times = [0.6, 1.3, 2.2, 3.1]
        found = onset_times(clicks(times))
        assert len(found) == 4
        assert found == pytest.approx(times, abs=0.05)

    def test_silence_has_none(self) -> None:
        assert len(onset_times(np.zeros(2 * RATE))) == 0

    def test_sync_score(self) -> None:
        assert sync_score(np.array([1.0, 2.0]), np.array([1.1, 2.174])) == pytest.approx(0.863)
        assert sync_score(np.array([0.0]), np.array([5.0])) == 0.0
        assert sync_score(np.zeros(0), np.array([1.0])) is None

    def test_near_a_cut(self) -> None:
        assert onset_near(clicks([2.0]), 2.0)
        assert not onset_near(np.zeros(4 * RATE), 2.0)


def sampled(pictures: np.ndarray, rate: float) -> Frames:
    return Frames(
        pictures[..., :1], np.arange(len(pictures)), np.arange(len(pictures)) / rate, ClipInfo("", None, None)
    )


class TestMotion:
    def test_a_pan_moves_by_its_speed_to_the_left(self) -> None:
        moved = motion(sampled(pan(plane(1, (90, 90, 90)), 3.0, 6), 10.0))
        assert moved.magnitude == pytest.approx(np.full(5, 3.0), abs=0.5)
        assert np.abs(moved.direction) == pytest.approx(np.full(5, np.pi), abs=0.1)

    def test_a_still_shot_does_not_move(self) -> None:
        assert motion(sampled(pan(plane(1, (90, 90, 90)), 0.0, 4), 10.0)).magnitude.max() < 0.01

    def test_true_times_and_nominal_ones(self) -> None:
        """D-05: at 30 frames a second every third frame is 0.1 s after the last, not 0.125."""
        frames = sampled(pan(plane(1, (90, 90, 90)), 1.0, 4), 10.0)
        assert motion(frames).time == pytest.approx([0.0, 0.1, 0.2])
        assert motion(frames, nominal=True).time == pytest.approx([0.0, 0.125, 0.25])

    def test_one_frame_is_not_applicable(self) -> None:
        with pytest.raises(NotApplicable):
            motion(sampled(pan(plane(1, (90, 90, 90)), 1.0, 1), 10.0))

    def test_peaks_and_matches(self) -> None:
        size = np.array([1.0, 1, 1, 9, 1, 1, 1, 1])
        moved = Motion(size, np.zeros(8), size**2, np.arange(8) / 8)
        assert energy_peaks(moved) == pytest.approx([3 / 8])
        assert action_match(moved, 0.5) == pytest.approx(1.0)
        assert action_match(replace(moved, direction=np.array([0, 0, 0, 0] + [np.pi] * 4)), 0.5) == 0.0
        assert action_match(moved, 0.05) is None
        assert action_match(replace(moved, magnitude=size[::-1].copy()), 0.625) == pytest.approx(1.0)
        assert whip(moved, 0.5) == pytest.approx((15 / 7, 9.0))

    @pytest.mark.parametrize("cut", [84, 85, 86])
    def test_one_motion_over_a_cut_matches_wherever_the_cut_is(self, cut: int) -> None:
        """Two unlike scenes under one pan: the flow from the last picture of the one to the first of the other is
        of neither, for every place of the cut among the sampled pictures."""
        pans = [pan(plane(seed, hue, width=900), 3.0, 170) for seed, hue in ((1, (70, 90, 140)), (2, (150, 130, 60)))]
        moved = motion(sampled(np.concatenate([pans[0][:cut], pans[1][cut:]])[::3], 8.0))
        assert action_match(moved, cut / 24.0) > 0.95
        assert action_match(motion(sampled(pans[0][::3], 8.0)), cut / 24.0) > 0.99

    def test_the_pair_across_a_cut(self) -> None:
        moved = Motion(np.ones(8), np.zeros(8), np.ones(8), np.arange(8) / 8)
        assert [across(moved, cut) for cut in (0.0, 0.3, 0.375, 0.4, 5.0)] == [-1, 2, 2, 3, 7]
        assert [across(moved, cut, cut_is_old=True) for cut in (0.0, 0.3, 0.375, 0.4)] == [
            int(8 * cut) for cut in (0.0, 0.3, 0.375, 0.4)
        ]

    def test_directions_are_on_the_circle(self) -> None:
        """D-16: 179 and -179 degrees are the same way; in degrees they are opposite."""
        turn = np.radians([179.0, 179, 179, 179, -179, -179, -179, -179])
        moved = Motion(np.ones(8), turn, np.ones(8), np.arange(8) / 8)
        assert action_match(moved, 0.5) > 0.99
        assert action_match(moved, 0.5, mixed_units=True) == 0.0


class TestRhythm:
    def test_golden(self) -> None:
        assert rhythm_score((0.4 + 1) / 2, (1.0 + 0.7 + 0.6) / 3) == pytest.approx(0.7233, abs=1e-4)

    def test_music_that_moves_with_the_picture(self) -> None:
        level = np.array([0.1, 0.2, 0.4, 0.3, 0.1, 0.2, 0.5, 0.1])
        moved = Motion(level, level, 3 * level + 1, np.arange(8) / 8)
        assert following(level, moved) == pytest.approx(1.0)
        assert following(level, replace(moved, energy=-level)) == pytest.approx(0.0)
        assert following(np.ones(8), moved) is None
        late = replace(moved, time=np.arange(8) / 4)  # half as fast as nominal
        assert following(np.repeat(level, 2), late) == pytest.approx(1.0)
        assert following(np.repeat(level, 2), late, by_position=True) < 0.9

    def test_levels(self) -> None:
        tone = 0.2 * np.sqrt(2) * np.sin(np.arange(2 * RATE) * 0.1)
        assert hop_levels(tone, RATE) == pytest.approx(np.full(16, 0.2), rel=0.01)
        assert has_music(tone)
        assert not has_music(tone / 100)

    def test_sound_at_a_cut(self) -> None:
        quiet = 0.01 * np.ones(4 * RATE)
        loud = quiet.copy()
        loud[round(1.9 * RATE) : round(2.1 * RATE)] = 1.0
        assert fit_of_cut(loud, RATE, 2.0, Optical.FLASH_WHITE) == 1.0
        assert fit_of_cut(quiet, RATE, 2.0, Optical.FLASH_WHITE) == 0.3
        assert fit_of_cut(quiet, RATE, 2.0, Optical.DISSOLVE) == 1.0
        assert fit_of_cut(loud, RATE, 2.0, Optical.DISSOLVE) == 0.5
        assert fit_of_cut(quiet, RATE, 2.0, Optical.HARD_CUT) == 0.7
        assert all(fit_of_cut(quiet[: RATE // 10], RATE, 0.0, effect) is None for effect in Optical)


class TestSoundQuality:
    def test_golden(self) -> None:
        assert sound_score(SoundFacts(20, 18, 0.55, 3, 2400, 0.001, 0.1)) == pytest.approx(0.5229, abs=1e-4)

    def test_facts(self) -> None:
        noise = band(300, 6000, 2.0, 3)
        facts = sound_facts(noise)
        assert facts.silent == facts.clipped == 0.0
        assert 0.5 < facts.richness <= 1.0
        assert sound_facts(np.clip(20 * noise, -1, 1)).clipped > 0.3
        assert sound_facts(np.concatenate([noise, np.zeros(len(noise))])).silent == pytest.approx(0.5, abs=0.05)
        tone = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(2 * RATE) / RATE)
        assert sound_facts(tone).bandwidth < facts.bandwidth
        assert sound_facts(tone).richness < facts.richness

    def test_no_frame_is_more_than_80_db_below_the_loudest(self) -> None:
        """librosa's amplitude_to_db, written out: digital silence counts for 80 dB less than the peak, not for -100."""
        draw = np.random.RandomState(0)
        samples = 1e-4 * draw.standard_normal(10 * RATE)
        samples[: 12 * RATE // 10] = 0.0
        samples[5 * RATE :][:6600] = 0.8 * draw.uniform(-1, 1, 6600)
        padded = np.pad(samples, 1024)
        level = [np.sqrt(np.mean(padded[k : k + 2048] ** 2)) for k in range(0, len(samples) + 1, 512)]
        loudness = 20.0 * np.log10(np.maximum(level, 1e-5))
        loudness = np.maximum(loudness, loudness.max() - 80.0)
        low, quiet, loud, high = np.percentile(loudness, (5, 10, 90, 95))
        assert sound_facts(samples).snr == pytest.approx(loud - quiet, abs=1e-6)
        assert sound_facts(samples).dynamics == pytest.approx(high - low, abs=1e-6)

    def test_too_short(self) -> None:
        with pytest.raises(NotApplicable):
            sound_facts(np.zeros(1000))


class TestMood:
    def test_votes(self) -> None:
        assert expected_moods("A rainy night, a book") == ("tender",)  # three votes; one each for sad and scary
        assert expected_moods("A wedding at sunset, with joy and dance") == ("happy", "tender")
        assert expected_moods("a chair") == ()
        assert expected_moods("melancholy") == ()  # a stem never matches as a whole word

    def test_score(self) -> None:
        assert mood_score(("happy",), {"happy": 0.2}) == 1.0
        assert mood_score(("happy",), {"sad": 0.2}) == 0.0
        assert mood_score(("happy",), {"happy": 0.1, "funny": 0.1}) == pytest.approx(1.0)
        assert mood_score((), {"happy": 0.2}) is None
        assert mood_score(("happy",), {"happy": 0.0}) is None

    def test_the_table_is_closed(self) -> None:
        table = json.loads(TABLE.read_text())
        known = set(table["classes"])
        assert {mood for moods in table["words"].values() for mood in moods} <= known
        assert set(table["conflicts"]) == known
        assert sorted(table["classes"].values()) == list(range(276, 283))


class TestCutScores:
    def test_flash_labels(self) -> None:
        """D-01: asked for a flash, the reference rewards a hard cut."""
        assert wanted_optical("Flash-to-White", PAPER) is Optical.FLASH_WHITE
        assert wanted_optical("Flash-to-White", COMPAT) is Optical.HARD_CUT

    def test_credit(self) -> None:
        wipe = Candidate(1.0, Optical.WIPE)
        assert optical_credit(Optical.WIPE, wipe) == 1.0
        assert optical_credit(Optical.DISSOLVE, wipe) == 0.5
        assert optical_credit(Optical.HARD_CUT, wipe) == 0.0
        assert optical_credit(Optical.HARD_CUT, None) == 0.0
        assert (relation_credit(Relation.J_CUT, Relation.J_CUT), relation_credit(Relation.J_CUT, None)) == (1.0, 0.0)

    def test_one_transition_serves_one_cut(self) -> None:
        """D-17."""
        found = [Candidate(2.2, Optical.WIPE), Candidate(2.8, Optical.HARD_CUT)]
        assert match_transitions([2.9, None, 2.0], found, PAPER) == [found[1], None, found[0]]
        assert match_transitions([2.9, None, 2.0], found, COMPAT) == [found[0], None, found[0]]
        assert match_transitions([2.85, 2.7], found[1:], PAPER) == [found[1], None]
        assert match_transitions([1.75], found[1:], PAPER) == [None]

    def test_visual_match(self) -> None:
        vectors = Embeddings(np.array([[1, 0], [1, 0], [0.6, 0.8]], np.float32), np.arange(3))
        similarity = visual_match(vectors, np.array([0.0, 0.25, 0.5]), 0.3)
        assert similarity == pytest.approx(0.6)
        assert graphic_match(0.6) == pytest.approx(0.6 / 0.7)
        assert contrast_cut(0.6) == pytest.approx(0.4)
        assert visual_match(vectors, np.array([0.0, 0.25, 0.5]), 0.6) is None

    def test_a_picture_at_the_cut_is_the_new_shots_first_one(self) -> None:
        """In the reference, which dates a cut by the last frame of the old shot, it is the old one's last."""
        vectors = Embeddings(np.eye(2, dtype=np.float32)[[0, 0, 1, 1]], np.arange(4))
        time = np.arange(4) / 4
        assert visual_match(vectors, time, 0.5) == 0.0
        assert visual_match(vectors, time, 0.25, cut_is_old=True) == 0.0
        sevenths = np.array([84, 91, 98, 105]) / 30.0  # of 30 frames a second; the old shot ends with the second one
        assert visual_match(vectors, sevenths, round(91 / 30.0, 3), cut_is_old=True) == 0.0
        assert visual_match(vectors, time, 0.0) is None

    def test_sound_match_looks_at_both_sides(self) -> None:
        """D-16."""
        probability = np.zeros((12, 2), np.float32)
        probability[:6, 0] = probability[6:, 1] = 1.0
        tags = AudioTags(probability, ("a", "b"), 0.5)
        assert sound_match(tags, 3.0) == pytest.approx(0.0)
        assert sound_match(tags, 1.5) == pytest.approx(1.0)
        assert sound_match(tags, 0.2) is None


class TestProfiles:
    def test_paper_has_no_defect_and_compat_has_all(self) -> None:
        names = [field.name for field in fields(Defects)]
        assert not any(getattr(PAPER, name) for name in names)
        assert all(getattr(COMPAT, name) for name in names)
