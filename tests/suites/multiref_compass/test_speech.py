"""SLS, TS and strict SCA: the published arithmetic on toys, made-up faces and voices, and real synthetic voices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.experts.ecapa_stand_in import EcapaStandIn
from evaluator.experts.face_clips_stand_in import FaceClipsStandIn, track_crops
from evaluator.experts.face_lips import FaceLips
from evaluator.experts.face_tracks import PAD, lip_crop, squares, tracks
from evaluator.experts.features import (
    FaceClip,
    FaceClips,
    FaceTrack,
    LipTrack,
    LipTracks,
    SpeakerEmbedding,
    SpeechActivity,
    Transcript,
    Utterance,
    WindowEmbeddings,
)
from evaluator.experts.resemblyzer import Resemblyzer
from evaluator.experts.silero_vad import SileroVad
from evaluator.media.types import Audio, ClipInfo
from evaluator.metrics.base import Outcome
from evaluator.runner.experts import ExpertPool
from evaluator.runner.graph import Missing
from evaluator.runner.outcome import Absent
from evaluator.runtime.session import SessionSource
from evaluator.runtime.store import Store
from evaluator.schema import ExpertNeed, Reference
from evaluator.suites.multiref_compass import SUITE, sls, ts
from evaluator.suites.multiref_compass.sca_strict import compute as strict
from evaluator.suites.multiref_compass.sca_strict import normalised
from evaluator.suites.multiref_compass.sls import confidence
from evaluator.suites.multiref_compass.technical import compute_vtq, seed_of, sigmoid
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import clip_of, frames_of
from tests.experts.sounds import clip_sound, sound
from tests.suites.judging import Court, written
from tests.suites.multiref_compass.cases import case, flat, view

PROXY = SUITE.metric("sls").instead
assert PROXY is not None


def test_confidence_of_the_toy() -> None:
    """Section 8: D = [3, 2, 5, 4, 1] at shifts -2 .. 2."""
    assert confidence(np.array([3.0, 2, 5, 4, 1])) == (2.0, -2)


RATE = 25


def mouth(seconds: float, seed: int = 0) -> np.ndarray:
    """A mouth that opens at the rate of syllables, per tick."""
    rng = np.random.default_rng(seed)
    ticks = int(seconds * RATE)
    return np.clip(
        np.convolve(rng.random(ticks + 4) > 0.6, np.ones(4) / 4, "valid")[:ticks] + 0.02 * rng.random(ticks), 0, 1
    )


def voice(opening: np.ndarray, shift: int = 0) -> Audio:
    """Noise in the voice band as loud as the mouth is open, `shift` ticks late."""
    level = np.roll(np.repeat(np.roll(opening, shift), 640), -320)  # a tick lies in the middle of its sound
    rng = np.random.default_rng(1)
    return sound(
        0.8 * level * np.sin(2 * np.pi * 1500 * np.arange(len(level)) / 16_000) * (0.9 + 0.1 * rng.random(len(level)))
    )


def face(opening: np.ndarray, box: Any = (0.3, 0.3, 0.6, 0.7), start: int = 0) -> FaceTrack:
    count = len(opening)
    return FaceTrack(
        index=np.arange(count),
        time=start + np.arange(count) / RATE,
        score=np.full(count, 0.9, np.float32),
        box=np.tile(np.array(box, np.float32), (count, 1)),
        count=np.ones(count, np.int64),
        mouth_opening=opening.astype(np.float32),
        detector=("blazeface",) * count,
    )


CLIP: ClipInfo = clip_of(150, 480, 640)


def test_lips_that_follow_the_voice_have_more_confidence_than_a_foreign_voice() -> None:
    opening = mouth(6)
    own = sls.compute(face(opening), voice(opening), CLIP)
    foreign = sls.compute(face(opening), voice(mouth(6, seed=7)), CLIP)
    assert own.value > 2 * foreign.value
    assert own.details["tracks"][0]["offset_ticks"] == 0


@pytest.mark.parametrize("shift", [-6, 4])
def test_a_shift_moves_the_offset_and_keeps_the_confidence(shift: int) -> None:
    opening = mouth(6)
    found = sls.compute(face(opening), voice(opening, shift), CLIP)
    assert found.details["tracks"][0]["offset_ticks"] == -shift
    assert found.value == pytest.approx(sls.compute(face(opening), voice(opening), CLIP).value, rel=0.2)


def test_tracks_break_where_the_face_jumps_and_small_or_short_ones_are_dropped() -> None:
    track = face(mouth(8))
    there = track.box[100:] + np.array([0.35, 0, 0.35, 0], np.float32)
    jumped = replace(track, box=np.concatenate([track.box[:100], there]))
    assert [(one.start, one.stop) for one in tracks(jumped, 640, 480)] == [(0, 100), (100, 200)]
    assert tracks(face(mouth(8), (0.3, 0.3, 0.4, 0.4)), 640, 480) == []
    assert tracks(face(mouth(1.5)), 640, 480) == []
    gap = replace(track, score=np.where((np.arange(200) >= 50) & (np.arange(200) < 70), 0, 0.9).astype(np.float32))
    assert [(one.start, one.stop) for one in tracks(gap, 640, 480)] == [(0, 200)]
    with pytest.raises(NotApplicable) as caught:
        sls.compute(face(mouth(1.5)), voice(mouth(6)), CLIP)
    assert caught.value.reason == "filtered"


def test_shifted_vectors_are_found_again_by_the_published_arithmetic() -> None:
    """The sound is three windows late: the least distance lies there, and a foreign voice has no such place."""
    rng = np.random.default_rng(0)
    lips = rng.standard_normal((80, 32)).astype(np.float32)
    late = np.roll(lips, 3, axis=0)
    track = LipTracks((LipTrack(5, lips),), 1)
    voice = WindowEmbeddings(np.concatenate([rng.standard_normal((5, 32)), late]).astype(np.float32), 25.0)
    found = sls.compute_syncnet(track, voice)
    assert found.details["tracks"][0]["offset_ticks"] == -3
    foreign = WindowEmbeddings(rng.standard_normal((85, 32)).astype(np.float32), 25.0)
    assert found.value > 4 * sls.compute_syncnet(track, foreign).value
    with pytest.raises(NotApplicable, match="0 tracks"):
        sls.compute_syncnet(LipTracks((), 0), voice)


def test_lips_are_cut_below_the_face_and_grey_lies_outside() -> None:
    picture = np.zeros((100, 100, 3), np.uint8)
    picture[60:80] = 200
    crop = lip_crop(picture, 20, 50, 50)  # rows 30 to 86, columns 22 to 78
    assert crop.shape == (224, 224, 3)
    bright = np.flatnonzero(crop[:, 112, 0] > 100)
    assert bright[0] / 224 == pytest.approx(30 / 56, abs=0.02)
    corner = lip_crop(picture, 20, 0, 0)
    assert (corner[0, 0] == PAD).all()
    jitter = np.tile([10.0, 10, 50, 50], (30, 1))
    jitter[11] += 25
    np.testing.assert_allclose(squares(jitter), np.tile([20.0, 30, 30], (30, 1)))


def test_the_eye_sees_windows_of_five_crops_in_blue_green_red() -> None:
    session = FakeSession(lambda feeds: {"embedding": feeds["frames"].mean(axis=(2, 3, 4))}, ["embedding"])
    crops = np.zeros((60, 224, 224, 3), np.uint8)
    crops[..., 0] = np.arange(60)[:, None, None]
    faces = FaceClips((FaceClip(7, crops, 58), FaceClip(0, crops[:5], 5)), 9)
    found = FaceLips(FakeSource({"syncnet_lip.onnx": session})).run(ExpertNeed("face_lip_embedding"), {"faces": faces})
    (track,) = found.tracks  # five crops have no window of five with one to spare
    assert (track.first, found.started) == (7, 9)
    assert track.vectors.shape == (55, 3)
    assert session.fed[0]["frames"].shape[1:] == (3, 5, 224, 224)
    np.testing.assert_allclose(track.vectors, [[0, 0, at + 2] for at in range(55)], atol=1e-4)


def test_the_stand_in_follows_the_most_prominent_face() -> None:
    data = np.zeros((60, 48, 64, 3), np.uint8)
    data[..., 0] = 90
    frames = replace(frames_of(data), clip=clip_of(60, 480, 640))
    seen = face(mouth(60 / RATE))
    lost = replace(seen, score=np.where(np.arange(60) == 20, 0, seen.score).astype(np.float32))
    expert = FaceClipsStandIn(FakeSource({}))
    found = expert.run(ExpertNeed("face_clips"), {"frames": frames, "faces": lost})
    (track,) = found.tracks
    assert (track.first, len(track.crops), track.detections, found.started) == (0, 60, 59, 1)
    assert expert.stands_in_for == "S3FD"
    assert track_crops(frames, face(mouth(60 / RATE)), slice(10, 40))[0] == 10


def test_how_many_tracks_began_and_how_many_stayed_is_told() -> None:
    lips = np.random.default_rng(0).standard_normal((80, 32)).astype(np.float32)
    found = sls.compute_syncnet(LipTracks((LipTrack(0, lips),), started=4), WindowEmbeddings(lips, 25.0))
    assert (len(found.details["tracks"]), found.details["tracks_started"]) == (1, 4)


def test_syncnet_takes_over_where_it_is_mounted(models: SessionSource) -> None:
    assert isinstance(models, Store)
    missing = ExpertPool(models).serve("face_lip_embedding")
    assert isinstance(missing, Missing)
    assert "syncnet_lip/syncnet_lip.onnx" in missing.message
    assert SUITE.metric("sls").instead is PROXY


def screen(**change: Any) -> dict[str, Any]:
    good = {
        "speaking_face_visible": True,
        "frontal_share": 0.7,
        "stable_scale": True,
        "single_active_speaker_per_shot": True,
    }
    return {**good, **change}


@pytest.mark.parametrize(
    "change",
    [
        {"speaking_face_visible": False},
        {"frontal_share": 0.69},
        {"stable_scale": False},
        {"single_active_speaker_per_shot": False},
    ],
)
def test_a_clip_that_the_screen_stops_is_filtered(tmp_path: Path, change: dict[str, Any]) -> None:
    opening = mouth(6)
    media = {"frames": flat(90, 16), "faces": face(opening), "sound": voice(opening), "clip": CLIP}
    with Court(tmp_path, lambda question: written(screen(**(change if "stopped" in question.item else {})))) as court:
        stopped = court.hear(PROXY, case("stopped/x"), **media)
    assert isinstance(stopped, Absent)
    assert stopped.reason.code == "filtered"
    assert "pre-screen" in stopped.reason.message


def test_a_clip_that_passes_has_the_value_of_the_unscreened_one(tmp_path: Path) -> None:
    opening = mouth(6)
    media = {"faces": face(opening), "sound": voice(opening), "clip": CLIP}
    with Court(tmp_path, lambda _: written(screen())) as court:
        passed = court.hear(PROXY, case(), frames=flat(90, 16), **media)
    assert isinstance(passed, Outcome)
    assert passed.value == pytest.approx(sls.compute(**media).value, abs=1e-6)


# ------------------------------------------------------------------------------------------------------ voices

VOICES = (
    Reference("audio", Path("/a.wav"), "ref_audio", "Mia"),
    Reference("audio", Path("/b.wav"), "ref_audio", "Tom"),
)
SPEAKING = case(board="B4", references=(view("mia"), *VOICES), facts={"speech": "monologue"})
TALK = SpeechActivity(np.full(100, 0.9, np.float32), 0.032, 3.2)
HUSH = SpeechActivity(np.full(100, 0.1, np.float32), 0.032, 3.2)


def embedded(*values: float) -> SpeakerEmbedding:
    vector = np.array(values, np.float32)
    return SpeakerEmbedding(vector / np.linalg.norm(vector), 3.2)


def test_the_nearest_reference_voice_counts() -> None:
    found = ts.compute(
        case=SPEAKING, output=embedded(1, 0), spoken=TALK,
        voice_1=embedded(0, 1), speech_1=TALK, voice_2=embedded(3, 4), speech_2=TALK,
    )  # fmt: skip
    assert found.value == pytest.approx(0.6, abs=1e-6)
    assert found.details["nearest"] == "Tom"


@pytest.mark.parametrize("hushed", ["spoken", "speech_2"])
def test_too_little_speech_on_either_side_is_filtered(hushed: str) -> None:
    given: dict[str, Any] = {"output": embedded(1, 0), "spoken": TALK, "voice_1": embedded(1, 0), "speech_1": TALK}
    given |= {"voice_2": embedded(0, 1), "speech_2": TALK, hushed: HUSH}
    with pytest.raises(NotApplicable) as caught:
        ts.compute(case=SPEAKING, **given)
    assert caught.value.reason == "filtered"


def test_the_needs_name_each_voice() -> None:
    assert set(ts.needs_of(SPEAKING)) == {"output", "spoken", "voice_1", "speech_1", "voice_2", "speech_2"}
    assert ts.needs_of(SPEAKING)["voice_2"] == ExpertNeed("speaker_verification", ("reference:2",))


def test_a_wrong_speaker_lowers_timbre_similarity(models: SessionSource, shared: Path) -> None:
    whole, other = (clip_sound(shared / "data" / "clips" / name) for name in ("talking1.mp4", "talking2.mp4"))
    first, second = (replace(whole, samples=part) for part in np.array_split(whole.samples, 2))

    def heard(audio: Audio) -> tuple[SpeakerEmbedding, SpeechActivity]:
        activity = SileroVad(models).run(ExpertNeed("speech_activity"), {"audio": audio})
        voice = Resemblyzer(models).run(ExpertNeed("speaker_embedding"), {"audio": audio, "speech": activity})
        return EcapaStandIn(models).run(ExpertNeed("speaker_verification"), {"voice": voice}), activity

    one = case(board="B4", references=(view("mia"), VOICES[0]), facts={"speech": "monologue"})
    output, spoken = heard(second)
    values = []
    for reference in (first, other):
        embedding, activity = heard(reference)
        values.append(ts.compute(case=one, output=output, spoken=spoken, voice_1=embedding, speech_1=activity).value)
    assert values[0] > values[1] + 0.05


# ------------------------------------------------------------------------------------------------------- words


def said(text: str, language: str = "en", *lines: tuple[str, str]) -> Outcome:
    exact = [{"speaker": "Mia", "text": line, "lang": lang} for line, lang in lines]
    utterance = (Utterance(0.0, 1.0, text, -0.1, 0.01),) if text else ()
    return strict(case(facts={"exact_lines": exact}), Transcript(language if text else "", 0.9, utterance, 3.0))


@pytest.mark.parametrize(
    ("text", "language", "lines", "value"),
    [
        ("Hello, there!", "en", [("hello there", "en")], 1),
        ("Hello there, Tom.", "en", [("hello there", "en")], 0),
        ("Hello.", "en", [("hello there", "en")], 0),
        ("Hello there.", "de", [("hello there", "en")], 0),
        ("你好,世界。", "zh", [("你好 世界", "zh")], 1),
        ("你好", "zh", [("你好世界", "zh")], 0),
        ("Don't go. Stay here.", "en", [("Don’t go", "en"), ("Stay here", "en")], 1),
        ("Stay here. Don't go.", "en", [("Don't go", "en"), ("Stay here", "en")], 0),
        ("", "en", [("hello", "en")], 0),
        ("ハリー・ポッター。", "ja", [("ハリーポッター", "ja")], 1),  # the dot between words is punctuation
        ("की", "hi", [("का", "hi")], 0),  # signs of vowels are not
        ("Hello you", "en", [("Hello \u2764\ufe0f you!\U0001f44d\ufe0f", "en")], 1),  # nor is an emoji
        ("1 go", "en", [("1\ufe0f\u20e3 go", "en")], 1),
    ],
)
def test_strict_words(text: str, language: str, lines: list[tuple[str, str]], value: int) -> None:
    found = said(text, language, *lines)
    assert found.value == value
    assert (found.details["similarity"] == 1) >= bool(value)


def test_words_are_compared_without_case_and_punctuation_and_signs_one_by_one() -> None:
    assert normalised("It's 3 o'clock — ＯＫ?") == ["its", "3", "oclock", "ok"]
    assert normalised("我有2只cats") == ["我", "有", "2", "只", "cats"]


# ---------------------------------------------------------------------------------------------------- quality


@pytest.mark.parametrize(
    ("raw", "scaled"), [(0.0248275, 0.2373), (-0.0094716, 0.1633), (0.2373, 0.848293), (0.1633, 0.671540)]
)
def test_both_readings_of_the_published_figures(raw: float, scaled: float) -> None:
    assert sigmoid(raw) == pytest.approx(scaled, abs=5e-6)


def test_fragments_are_drawn_from_the_sample_and_not_from_the_system() -> None:
    from evaluator.experts.features import TechnicalQuality

    assert seed_of(case("s/x")) == seed_of(case("s/y", system="y")) != seed_of(case("t/x"))
    found = compute_vtq(TechnicalQuality(np.array([0.2, 0.3], np.float32), np.zeros(2, np.int64), 1, "0" * 64))
    assert found.value == pytest.approx(0.25)
    assert found.details["vtq_sigmoid"] == pytest.approx(sigmoid(0.25), abs=1e-6)
