"""B2, B3 and D3 with stems: by stems of known make, and through a whole run with a made-up network mounted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.signal import resample_poly

from evaluator.errors import NotApplicable
from evaluator.experts.features import AudioTags, SoundStems, StemFacts, StemTags, Transcript, Utterance
from evaluator.experts.htdemucs import STEMS
from evaluator.judge.types import Question, Raw
from evaluator.media.types import Audio
from evaluator.runtime.lock import read_lock
from evaluator.runtime.store import LOCK_FILE
from evaluator.suites.cutcraft.dimensions import b2, b3, d3
from evaluator.suites.cutcraft.flags import COMPAT, PAPER
from evaluator.suites.cutcraft.labels import Relation
from evaluator.suites.cutcraft.mood import NO_MUSIC
from evaluator.suites.cutcraft.motion import motion
from evaluator.suites.cutcraft.object_sounds import crossing, dbfs, named, runs
from evaluator.suites.cutcraft.stem_signals import StemSignals, cepstra, continuity, signals, speech_gap, trusted
from evaluator.suites.cutcraft.stems import APART, MIX, NO_STEMS, mostly_voices, music
from tests.suites.ave_compass.networks import constant, model, node
from tests.suites.cutcraft.cases import CUT, case, media, needed
from tests.suites.cutcraft.scenes import band
from tests.suites.cutcraft.test_dimensions import heard, knowing
from tests.suites.cutcraft.test_example_run import pair  # noqa: F401  (fixture)
from tests.suites.judging import label
from tests.test_cli import Cli, cli, records  # noqa: F401  (fixture)

RATE, SECONDS = 44_100, 7.2
BEFORE, AFTER = (0.0, CUT), (CUT, SECONDS)
NAMES = ("Engine", "Speech", "Drum kit", "Wind", "Guitar")


def apart(**stems: np.ndarray) -> SoundStems:
    """Stems from arrays at RATE; those that are not given are silent."""
    size = max(len(one) for one in stems.values())
    mono = {name: np.asarray(stems.get(name, np.zeros(size)), np.float32) for name in STEMS}
    energy = {name: float(np.square(one, dtype=np.float64).sum()) for name, one in mono.items()}
    whole = sum(energy.values()) + 1e-8
    facts = {
        name: StemFacts(float(np.sqrt(energy[name] / size)), float(np.abs(one).max()), energy[name] / whole)
        for name, one in mono.items()
    }
    return SoundStems(mono, facts, RATE, 0.0)


def noise(seed: int = 1, low: float = 200, high: float = 900) -> np.ndarray:
    return band(low, high, SECONDS, seed, RATE)


def tagged(**stems: dict[int, tuple[str, float]]) -> StemTags:
    """Segment -> (class, probability) per stem; everything else is unlikely."""
    count = round(SECONDS / 0.5)
    found = {}
    for name in ("drums", "bass", "other"):
        rows = np.full((count, len(NAMES)), 0.01, np.float32)
        for segment, (title, share) in stems.get(name, {}).items():
            rows[segment, NAMES.index(title)] = share
        found[name] = AudioTags(rows, NAMES, 0.5)
    return StemTags(found)


def said(*spans: tuple[float, float], no_speech: float = 0.1) -> Transcript:
    return Transcript("en", 1.0, tuple(Utterance(a, b, "words", -0.2, no_speech) for a, b in spans), SECONDS)


class TestB2:
    def test_motion_is_compared_with_the_music_alone(self, tmp_path: Path) -> None:
        """Against numpy: levels of drums, bass and other sounds, whatever the voices do."""
        swell = np.sin(np.arange(round(SECONDS * RATE)) / RATE)
        stems = apart(bass=noise(1) * swell, drums=0.5 * noise(3), vocals=0.4 * noise(2, 300, 3000) * (1 - swell))
        found = heard(b2, tmp_path, stems=stems)
        whole = resample_poly(stems.mono["bass"] + stems.mono["drums"] + stems.mono["other"], 1, 2)
        size = 22_050 // 8
        levels = np.sqrt(np.square(whole[: len(whole) // size * size].reshape(-1, size)).mean(axis=1))
        moved = motion(media()["flow"])
        rows = np.floor(moved.time * 8 + 1e-6).astype(int)
        wanted = (np.corrcoef(levels[rows], moved.energy)[0, 1] + 1) / 2
        assert found.details["following"] == pytest.approx(wanted, abs=1e-4)
        assert (found.details["music"], found.details["music_is"]) == (True, APART)

    def test_music_is_on_the_clock_of_the_pictures(self) -> None:
        stems = apart(bass=noise())
        from_start = music(stems, 22_050, 0.0)
        late = music(replace(stems, start=0.5), 22_050, 0.0)
        np.testing.assert_array_equal(late, np.pad(from_start, (11_025, 0)))  # silence until it begins
        np.testing.assert_array_equal(music(replace(stems, start=-0.5), 22_050, 0.0), from_start[11_025:])
        with pytest.raises(NotApplicable, match="61 s after the picture"):
            music(replace(stems, start=61.0), 22_050, 0.0)

    def test_voices_above_the_music_are_no_music(self, tmp_path: Path) -> None:
        loud, soft = apart(other=noise(), vocals=1.23 * noise(2)), apart(other=noise(), vocals=1.22 * noise(2))
        assert (mostly_voices(loud), mostly_voices(soft)) == (True, False)  # 1.5 times as much energy
        found = heard(b2, tmp_path, stems=loud)
        assert (found.details["music"], found.details["following"]) == (False, 0.0)

    def test_music_that_is_hardly_there_is_none(self, tmp_path: Path) -> None:
        assert not heard(b2, tmp_path, stems=apart(other=0.1 * noise())).details["music"]  # RMS 0.01

    def test_the_record_says_what_music_was(self, tmp_path: Path) -> None:
        alone = b2.metric(PAPER).instead
        assert "stems" not in alone.unjudged.needs
        found = alone.unjudged.compute(case=case(), **needed(alone.unjudged, case(), media()))
        assert found.details["music_is"] == MIX
        assert heard(b2, tmp_path, stems=None).details["music_is"] == NO_STEMS


class TestB3:
    def told(self, folder: Path, stems: Any) -> tuple[Any, str]:
        asked: list[Question] = []

        def listening(question: Question) -> Raw:
            asked.append(question)
            return knowing(question) if question.task != "cut_rhythm" else label(question, "A")

        found = heard(b3, folder, stems=stems, reply=listening)
        return found, " ".join(str(part) for one in asked if one.task == "cut_rhythm" for part in one.parts)

    def test_the_judge_is_told_the_stems(self, tmp_path: Path) -> None:
        found, text = self.told(tmp_path, apart(drums=3 * noise(1), bass=noise(2)))
        assert "drums, share of the energy" in text
        assert "0.9" in text
        assert "bass, share of the RMS" in text
        assert found.details["music_is"] == APART
        (tmp_path / "none").mkdir()
        found, text = self.told(tmp_path / "none", None)
        assert "share of the energy" not in text
        assert found.details["music_is"] == NO_STEMS

    def test_without_music_in_the_stems_there_is_no_mood(self, tmp_path: Path) -> None:
        for number, stems in enumerate((apart(other=noise(), vocals=2 * noise(2)), apart(other=0.1 * noise()))):
            (tmp_path / str(number)).mkdir()
            assert self.told(tmp_path / str(number), stems)[0].details["mood"] == NO_MUSIC


class TestObjectSounds:
    @pytest.mark.parametrize(
        ("tags", "level", "family"),
        [
            ([("drum kit", 0.5)], -20.0, "percussion"),
            ([("drum kit", 0.5)], -43.0, None),  # too faint
            ([("drum kit", 0.11)], -20.0, None),  # too unlikely
            ([("wind", 0.6), ("engine", 0.3)], -30.0, "machine"),  # something beside noise
            ([("wind", 0.6), ("engine", 0.3)], -35.0, None),
            ([("wind", 0.6), ("speech", 0.3)], -30.0, None),  # noise alone
            ([("speech", 0.6)], -20.0, None),
        ],
    )
    def test_what_names_something(self, tags: list[tuple[str, float]], level: float, family: str | None) -> None:
        assert named(tags, level) == family

    def test_windows_of_one_kind_join_until_another_comes_between(self) -> None:
        drums = {0: ("Drum kit", 0.9), 1: ("Drum kit", 0.9), 4: ("Drum kit", 0.9)}
        stems = apart(drums=noise(), other=noise(2))
        found = runs(stems, tagged(drums=drums))
        assert [(one.start, one.end) for one in found] == [(0.0, 1.0), (2.0, 2.5)]
        assert found[0].dbfs == pytest.approx(-20.0, abs=1.0)
        broken = runs(stems, tagged(drums=drums, other={0: ("Engine", 0.9)}))
        assert [(one.stem, one.start) for one in broken] == [
            ("drums", 0.0),
            ("other", 0.0),
            ("drums", 0.5),
            ("drums", 2.0),
        ]

    @pytest.mark.parametrize(
        ("segments", "relation"),
        [
            (range(2, 8), Relation.L_CUT),  # 1 to 4 s, cut at 3.6 s
            (range(6, 12), Relation.J_CUT),  # 3 to 6 s
            (range(4, 11), Relation.STRAIGHT),  # 2 to 5.5 s: long in both
            (range(7, 9), Relation.STRAIGHT),  # 3.5 to 4.5 s: begins with the cut
        ],
    )
    def test_whose_sound_crosses(self, segments: range, relation: Relation) -> None:
        heard_there = dict.fromkeys(segments, ("Engine", 0.9))
        found = crossing(apart(other=noise()), tagged(other=heard_there), CUT, BEFORE, AFTER)
        assert found is not None
        assert found.relation is relation

    def test_what_ends_before_the_cut_crosses_nothing(self) -> None:
        assert crossing(apart(other=noise()), tagged(other={2: ("Engine", 0.9)}), CUT, BEFORE, AFTER) is None

    def test_levels(self) -> None:
        assert dbfs(np.full(100, 0.1, np.float32)) == pytest.approx(-20.0, abs=1e-4)
        assert dbfs(np.zeros(100, np.float32)) == -120.0


class TestSignals:
    def test_the_same_music_goes_on_and_other_music_does_not(self) -> None:
        time = np.arange(round(SECONDS * RATE)) / RATE
        same, louder = noise(1), np.where(time < CUT, 0.3, 1.0) * noise(1)
        other = np.where(time < CUT, noise(1), noise(2, 3000, 12000))
        (low, goes_on), (level, _), (kind, changed) = (
            continuity(one.astype(np.float32), RATE, CUT) for one in (same, louder, other)
        )
        assert goes_on
        assert low < 0.2
        assert level == pytest.approx(0.7, abs=0.05)
        assert not changed
        assert kind > low
        assert continuity(np.zeros(round(SECONDS * RATE), np.float32), RATE, CUT) == (0.0, False)
        assert continuity(same[: round(3.62 * RATE)].astype(np.float32), RATE, CUT) == (0.0, False)

    def test_cepstra_of_a_louder_sound_differ_in_the_first_one_only(self) -> None:
        part = noise()[: round(0.3 * RATE)].astype(np.float32)
        one, louder = cepstra(part, RATE), cepstra(2 * part, RATE)
        assert louder[1:] == pytest.approx(one[1:], abs=1e-6)
        assert louder[0] - one[0] == pytest.approx(20 * np.log10(2) * np.sqrt(128), abs=1e-6)
        assert not cepstra(part[:4000], RATE).any()  # under a tenth of a second

    def test_a_pause_that_begins_with_the_cut(self) -> None:
        assert speech_gap(trusted(said((1, 3.5), (3.7, 5))), CUT)
        assert not speech_gap(trusted(said((1, 3.5), (3.55, 5))), CUT)  # no pause
        assert not speech_gap(trusted(said((1, 3.2), (4, 5))), CUT)  # too early
        assert not speech_gap(trusted(said((1, 3.5), (3.7, 5), no_speech=0.6)), CUT)

    @pytest.mark.parametrize(
        ("spans", "voices", "overlap"),
        [
            ([(2.0, 5.0)], 1.0, True),
            ([(2.0, 3.7)], 1.0, False),  # 0.1 s after the cut
            ([(2.0, 5.0)], 0.0, False),  # nobody is heard
        ],
    )
    def test_speech_over_the_cut(self, spans: list[tuple[float, float]], voices: float, overlap: bool) -> None:
        stems = apart(vocals=voices * noise(2), other=noise())
        assert signals(stems, tagged(), said(*spans), CUT, BEFORE, AFTER).speech_overlap is overlap

    def test_the_order_of_decisions(self) -> None:
        quiet = StemSignals(0.2, True, False, False, False, None)
        assert (quiet.relation, quiet.fallback) == (None, Relation.STRAIGHT)  # ambience alone goes on
        assert (replace(quiet, onset=True).relation, replace(quiet, onset=True).fallback) == (None, None)
        assert replace(quiet, sync=0.5).relation is Relation.STRAIGHT
        assert replace(quiet, sync=0.5, speech_overlap=True).relation is None
        assert replace(quiet, speech_gap=True, speech_overlap=False).relation is Relation.STRAIGHT
        engine = tagged(other=dict.fromkeys(range(6, 12), ("Engine", 0.9)))
        found = signals(apart(other=noise()), engine, said(), CUT, BEFORE, AFTER)
        assert replace(found, sync=0.9).relation is Relation.J_CUT  # an object's sound comes first


class TestD3:
    def flat(self) -> dict[str, Any]:
        """A track in which ambience says nothing."""
        return {**media(), "track": _silent(media()["track"])}

    def test_stems_decide_where_ambience_cannot(self, tmp_path: Path) -> None:
        engine = tagged(other=dict.fromkeys(range(2, 8), ("Engine", 0.9)))
        more = {"track": self.flat()["track"], "stems": apart(other=noise()), "stem_tags": engine, "words": said()}
        found = heard(d3, tmp_path, replace(PAPER, fixed_ambience_blocks=True), **more)
        (item,) = found.details["transitions"]
        assert (item["found"], item["by"], found.value) == ("l-cut", "stems", 1.0)
        assert item["signals"]["crossing"] == "machine in other, l-cut"
        assert "vocals stem" in found.details["signals_of"]

    def test_what_they_suggest_comes_after_the_judge(self, tmp_path: Path) -> None:
        def cannot_tell(question: Question) -> Raw:
            return label(question, "D") if question.task == "cut_relation" else knowing(question)

        more = {"track": self.flat()["track"], "stems": apart(other=noise()), "stem_tags": tagged(), "words": said()}
        one = replace(PAPER, fixed_ambience_blocks=True)
        found = heard(d3, tmp_path, one, reply=cannot_tell, **more)
        (item,) = found.details["transitions"]
        assert found.details["asked"] == 1
        assert (item["found"], item["by"]) == ("straight", "stems")

    def test_a_clip_without_stems_and_the_profile_paper_say_so(self, tmp_path: Path) -> None:
        assert "stems" not in d3.metric(PAPER).needs
        assert d3.metric(PAPER).instead is None
        assert heard(d3, tmp_path).details["signals_of"] == "the whole mix"
        alone = d3.metric(COMPAT).instead
        assert set(alone.needs) & {"stems", "stem_tags"} == set()
        (tmp_path / "none").mkdir()
        more = {"stems": None, "stem_tags": None, "words": None}
        found = heard(d3, tmp_path / "none", replace(PAPER, fixed_ambience_blocks=True), **more)
        assert NO_STEMS in found.details["signals_of"]


def _silent(sound: Audio) -> Audio:
    return replace(sound, samples=np.zeros_like(sound.samples))


def mounted(folder: Path) -> Path:
    """htdemucs.onnx under its contract: each stem is a fixed share of the mix, and the spectra say nothing."""
    file = read_lock(LOCK_FILE)["htdemucs"].file("htdemucs.onnx")
    shares = np.array([0.2, 0.3, 0.4, 0.1]).reshape(1, 4, 1, 1)
    nodes = node("Mul", ["shares", "wave"], "waves") + node("Mul", ["nothing", "spectrum"], "spectra")
    constants = constant("shares", shares) + constant("nothing", np.zeros((1, 4, 1, 1, 1)))
    (folder / "htdemucs").mkdir(parents=True)
    (folder / "htdemucs" / "htdemucs.onnx").write_bytes(model(file, nodes + constants))
    return folder


def test_a_mounted_network_is_used_and_named_and_without_it_the_record_says_so(
    cli: Cli,  # noqa: F811
    pair: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    given = ("--manifest", pair, "--media-root", tmp_path, "--metrics", "b2,d3", "--profile", "compat")
    told = cli(*given, "--out", tmp_path / "with", "--models", mounted(tmp_path / "models"))
    assert told.code == 0, told.err
    assert cli(*given, "--out", tmp_path / "without").code == 0
    for name, models, words in (("with", True, APART), ("without", False, MIX)):
        found: dict[Any, Any] = {(one["case"], one["metric"]): one for one in records(tmp_path / name)}
        b2_record, d3_record = found["1/lab", "b2"], found["1/lab", "d3"]
        assert b2_record["details"]["music_is"] == words
        assert any(one["id"] == "htdemucs" for one in b2_record["models"]) is models
        d3_models = {one["id"] for one in d3_record["models"]}
        assert ({"htdemucs", "stem_tags", "vocals_transcript"} <= d3_models) is models
        assert ("whisper_base" in d3_models) is not models
