"""Whisper: its front end, its tokens, how windows follow each other, and what it hears."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import ExpertError, NotApplicable, PrerequisiteError
from evaluator.experts import whisper_base
from evaluator.experts.features import AudioTags, SpeechActivity, Transcript
from evaluator.experts.whisper_base import EXPERT, GATE, WINDOW, log_mel, speaks
from evaluator.experts.whisper_tokens import FIRST_TIME, SIZE, WORDS, Span, decoded, spans, vocabulary
from evaluator.media.types import Audio
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSource
from tests.experts.sounds import _wave, lcg, sound, times

WANT = ExpertNeed("transcript")


def at(seconds: float) -> int:
    """The token of a time."""
    return FIRST_TIME + round(seconds / 0.02)


# --------------------------------------------------------------------------------------------------------- front end


def test_the_front_end_is_that_of_the_paper_written_out() -> None:
    samples = (0.3 * np.sin(times(1.0) ** 2 * 3000)).astype(np.float32)
    padded = np.concatenate([samples[200:0:-1], samples, samples[-2:-202:-1]]).astype(np.float64)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    frames = np.array([padded[k * 160 : k * 160 + 400] * window for k in range(100)])
    power = np.abs(np.fft.rfft(frames)) ** 2
    mel = np.linspace(0, 15 + np.log(8) / (np.log(6.4) / 27), 82)
    edges = np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))
    bank = [
        2 / (edges[k + 2] - edges[k]) * np.interp(np.arange(201) * 40.0, edges[k : k + 3], [0, 1, 0]) for k in range(80)
    ]
    level = np.log10(np.maximum(power @ np.array(bank).T, 1e-10))
    expected = (np.maximum(level, level.max() - 8) + 4) / 4
    found = log_mel(samples)
    assert found.shape == (80, 100)
    np.testing.assert_allclose(found, expected.T, atol=1e-5)


def test_a_window_has_three_thousand_frames() -> None:
    found = log_mel(np.zeros(WINDOW, np.float32))
    assert found.shape == (80, 3000)
    np.testing.assert_allclose(found, -1.5)


# ------------------------------------------------------------------------------------------------------------ tokens


def test_pairs_of_stamps_cut_a_window() -> None:
    ids = [at(0), 5, 6, at(2), at(2.5), 7, at(4)]
    assert spans(ids, 30) == ([Span(0, 2, (5, 6)), Span(2.5, 4, (7,))], 30)


def test_what_was_cut_off_is_left_to_the_next_window() -> None:
    ids = [at(0), 5, at(2), at(2.5), 7, at(29), at(29), 8]
    assert spans(ids, 30) == ([Span(0, 2, (5,)), Span(2.5, 29, (7,))], 29)


def test_a_single_utterance_is_heard_whole() -> None:
    assert spans([at(1), 5, at(3)], 30) == ([Span(1, 3, (5,))], 30)
    assert spans([at(1), 5], 8) == ([Span(1, 8, (5,))], 8)
    assert spans([5], 8) == ([Span(0, 8, (5,))], 8)


def test_no_words_are_no_span() -> None:
    assert spans([at(0), at(0)], 30)[0] == []
    assert spans([WORDS], 30)[0] == []


def test_no_span_ends_after_the_sound() -> None:
    found, _ = spans([at(0), 5, at(3), at(3), 6, at(9)], 4.0)
    assert [span.end for span in found] == [3, 4]


@given(st.lists(st.one_of(st.integers(0, WORDS), st.integers(FIRST_TIME, SIZE - 1)), min_size=1, max_size=30))
def test_spans_hold_text_and_go_forward_whatever_the_network_writes(ids: list[int]) -> None:
    found, heard = spans(ids, 30.0)
    assert 0 <= heard <= 30
    for span in found:
        assert 0 <= span.start < span.end <= 30
        assert span.tokens


def write_vocabulary(path: Path, lines: dict[int, str]) -> Path:
    table = {WORDS: "<|endoftext|>", FIRST_TIME: "<|0.00|>", **lines}
    path.write_text("\n".join(table.get(k, "x") for k in range(SIZE)), encoding="utf-8")
    return path


def test_characters_that_span_tokens_are_put_together(tmp_path: Path) -> None:
    """GPT-2 writes a space as U+0120 and the byte 0xC3 of "é" as itself."""
    words = vocabulary(write_vocabulary(tmp_path / "v.txt", {1: "\u0120caf", 2: "\u00c3", 3: "\u00a9", 4: "\u010a!"}))
    assert words[3] == b"\xa9"
    assert decoded([1, 2, 3, 4], words) == "café !"
    assert decoded([1, 2], words) == "caf\ufffd"


def test_another_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExpertError, match="not the vocabulary"):
        vocabulary(write_vocabulary(tmp_path / "v.txt", {FIRST_TIME: "<|notimestamps|>"}))


# ----------------------------------------------------------------------------------------------------------- windows


@dataclass
class Result:
    """One answer in the form of CTranslate2's."""

    ids: list[int]
    score: float = -0.2
    no_speech_prob: float = 0.1

    @property
    def sequences_ids(self) -> list[list[int]]:
        return [self.ids]

    @property
    def scores(self) -> list[float]:
        return [self.score]


@dataclass
class FakeNetwork:
    """Answers window after window from a list, and remembers what it was shown."""

    answers: list[Result]
    shown: list[Any] = field(default_factory=list)
    prompts: list[list[str]] = field(default_factory=list)

    def detect_language(self, features: Any) -> list[list[tuple[str, float]]]:
        return [[("<|de|>", 0.9), ("<|en|>", 0.1)]]

    def generate(self, features: Any, prompts: list[list[str]], **_: Any) -> list[Result]:
        self.shown.append(features)
        self.prompts += prompts
        return [self.answers[len(self.shown) - 1]]


Hear = Callable[[Audio, list[Result]], tuple[Transcript, FakeNetwork]]


@pytest.fixture
def hear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hear:
    """Run the expert with given answers of the network."""
    path = write_vocabulary(tmp_path / "vocabulary.txt", {5: "\u0120one", 6: "\u0120two"})

    class Arrays:
        StorageView = type("StorageView", (), {"from_array": staticmethod(lambda array: array)})

    monkeypatch.setattr(whisper_base, "_library", lambda: Arrays)

    def hearing(audio: Audio, answers: list[Result]) -> tuple[Transcript, FakeNetwork]:
        expert = EXPERT(FakeSource({}, {"vocabulary.txt": path}))
        expert._loaded = network = FakeNetwork(answers)
        return expert.run(WANT, {"audio": audio}), network

    return hearing


def test_the_next_window_begins_where_the_last_utterance_ended(hear: Hear) -> None:
    noise = sound(0.1 * lcg(40 * 16_000))
    first = Result([at(0), 5, at(10), at(10), 6, at(20), at(20), 5])
    found, network = hear(noise, [first, Result([at(1), 6, at(4)])])
    assert [(one.start, one.end, one.text) for one in found.utterances] == [
        (0, 10, "one"),
        (10, 20, "two"),
        (21, 24, "two"),
    ]
    assert (found.language, found.language_probability, found.duration) == ("de", 0.9, 40)
    assert found.text == "one two two"
    assert network.prompts == [["<|startoftranscript|>", "<|de|>", "<|transcribe|>"]] * 2
    assert [shown.shape for shown in network.shown] == [(1, 80, 3000)] * 2


def test_a_silent_window_is_dropped_by_the_published_rule(hear: Hear) -> None:
    noise = sound(0.1 * lcg(16_000))
    assert hear(noise, [Result([at(0), 5, at(1)], score=-1.1, no_speech_prob=0.7)])[0].utterances == ()
    assert hear(noise, [Result([at(0), 5, at(1)], score=-0.9, no_speech_prob=0.7)])[0].text == "one"


def test_digital_silence_is_not_shown_to_the_network(hear: Hear) -> None:
    found, network = hear(sound(np.zeros(70 * 16_000)), [])
    assert (found.utterances, found.language, found.language_probability) == ((), "", 0.0)
    assert network.shown == []


def test_windows_always_go_forward(hear: Hear) -> None:
    """A network that writes stamps of zero must not be asked for ever."""
    found, network = hear(sound(0.1 * lcg(16_000)), [Result([at(0), at(0), 5])])
    assert len(network.shown) == 1
    assert found.utterances == ()


def test_too_short_a_sound_is_not_applicable(hear: Hear) -> None:
    with pytest.raises(NotApplicable, match="Whisper"):
        hear(sound(np.zeros(100)), [])


def test_without_the_library_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(PrerequisiteError, match="ctranslate2"):
        whisper_base._library()


def test_nothing_heavy_is_imported_with_the_module() -> None:
    script = "import sys, evaluator.experts.whisper_base; print({'ctranslate2', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# -------------------------------------------------------------------------------------------------- the real network


def test_noise_and_silence_hold_no_words(models: SessionSource) -> None:
    for audio in (sound(np.zeros(48_000)), sound(0.05 * lcg(48_000))):
        assert EXPERT(models).run(WANT, {"audio": audio}).utterances == ()


def test_a_synthesised_sentence_is_understood_twice_alike(models: SessionSource) -> None:
    speaker = shutil.which("espeak-ng")
    if speaker is None:
        pytest.skip("espeak-ng is not installed")
    text = "The quick brown fox jumps over the lazy dog. Today is a good day for a long walk in the park."
    audio = _wave(subprocess.run([speaker, "-v", "en", "--stdout", text], capture_output=True, check=True).stdout)
    found = EXPERT(models).run(WANT, {"audio": audio})
    assert found.language == "en"
    heard = found.text.lower()
    assert "lazy dog" in heard
    assert "walk in the park" in heard
    assert found == EXPERT(models).run(WANT, {"audio": audio})


def test_a_talking_head_speaks_its_language(models: SessionSource, shared: Path) -> None:
    from tests.experts.sounds import clip_sound

    found = EXPERT(models).run(WANT, {"audio": clip_sound(shared / "data" / "clips" / "playground_veo.mp4")})
    assert found.language == "en"
    assert "cheerful little boy" in found.text
    assert 0 < found.utterances[-1].end <= found.duration


@pytest.mark.parametrize(("seconds", "speech", "listens"), [(1.0, 0.9, True), (0.3, 0.9, False), (1.0, 0.3, False)])
def test_a_gated_need_listens_only_where_two_witnesses_hear_speech(
    seconds: float, speech: float, listens: bool
) -> None:
    activity = SpeechActivity(np.ones(round(seconds * 10), np.float32), 0.1, 2.0)
    tags = AudioTags(np.array([[0.1, 0.0], [0.1, speech]], np.float32), ("Music", "Speech"), 0.48)
    assert speaks(activity, tags) is listens


def test_a_closed_gate_needs_no_network() -> None:
    want = ExpertNeed("transcript", options=((GATE, True),))
    expert = EXPERT(None)  # type: ignore[arg-type]
    assert set(expert.needs(want)) == {"audio", "activity", "tags"}
    assert set(expert.needs(ExpertNeed("transcript"))) == {"audio"}
    silent = SpeechActivity(np.zeros(10, np.float32), 0.1, 1.0)
    tags = AudioTags(np.zeros((1, 1), np.float32), ("Speech",), 0.48)
    audio = Audio(np.full(16_000, 9, np.int16), 16_000, True)
    found = expert.run(want, {"audio": audio, "activity": silent, "tags": tags})
    assert (found.text, found.duration) == ("", 1.0)
