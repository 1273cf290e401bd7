"""YAMNet: patches, quantisation, class names, and what it hears."""

from __future__ import annotations

from math import ceil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import stft

from evaluator.errors import ExpertError
from evaluator.experts.yamnet import (
    CLASS_MAP,
    CLASSES,
    EXPERT,
    FILE,
    LOG_MEL,
    LOGITS,
    PATCH_SAMPLES,
    Quantisation,
    class_names,
    patches,
)
from evaluator.media.types import Audio
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.sounds import lcg, sound, times

WANT = ExpertNeed("audio_tags")


def write_map(path: Path, indices: range) -> Path:
    path.write_text("index,mid,display_name\n" + "".join(f'{k},/m/{k},"class, {k}"\n' for k in indices))
    return path


@given(st.integers(1, 60_000))
@settings(max_examples=20, deadline=None)
def test_patches_cover_every_sample(samples: int) -> None:
    found = patches(np.full(samples, 0.1, np.float32))
    assert found.shape == (ceil(max(0, samples - PATCH_SAMPLES) / 7680) + 1, 1, 96, 64)


def test_patches_overlap_by_half() -> None:
    found = patches(lcg(40_000).astype(np.float32))
    np.testing.assert_array_equal(found[0, 0, 48:], found[1, 0, :48])


def test_log_mel_is_that_of_scipy() -> None:
    samples = 0.1 * lcg(PATCH_SAMPLES)
    window = np.pad(np.hanning(401)[:400], 56)
    _, _, spectrum = stft(samples, window=window, nperseg=512, noverlap=352, boundary=None, padded=False)
    edges = 700 * (10 ** (np.linspace(*(2595 * np.log10(1 + np.array([125, 7500]) / 700)), 66) / 2595) - 1)
    bins = np.arange(257) * 31.25
    bank = np.array([np.interp(bins, edges[k : k + 3], [0, 1, 0]) for k in range(64)])
    expected = np.log(bank @ np.abs(spectrum) * window.sum() + 1e-3).T
    np.testing.assert_allclose(patches(samples.astype(np.float32))[0, 0], expected, atol=1e-5)


def test_silence_is_the_smallest_stored_value() -> None:
    """log(1e-3) = -6.908 = 0.0479 * (0 - 144): the offset is the one that the quantisation was made for."""
    silent = patches(np.zeros(1000, np.float32))
    np.testing.assert_allclose(silent, -6.9077554)
    assert not LOG_MEL.store(silent).any()


@given(st.floats(-6.9, 5.3))
def test_quantisation_is_within_half_a_step(value: float) -> None:
    stored = LOG_MEL.store(np.array([value], np.float32))
    assert abs(float(LOG_MEL.real(stored)[0]) - value) <= LOG_MEL.scale / 2 + 1e-5


def test_quantisation_saturates() -> None:
    np.testing.assert_array_equal(Quantisation(0.5, 10).store(np.array([-99, 99], np.float32)), [0, 208])
    np.testing.assert_array_equal(Quantisation(0.5, 10).store(np.array([-99, 999], np.float32)), [0, 255])


def test_probabilities_are_the_logistic_of_real_logits(tmp_path: Path) -> None:
    """Each patch is run alone."""
    stored = np.full((1, CLASSES), 190, np.uint8)
    stored[0, 7] = 192
    session = FakeSession(lambda feeds: {"class_scores": stored}, outputs=["class_scores"])
    names = write_map(tmp_path / CLASS_MAP, range(CLASSES))
    found = EXPERT(FakeSource({FILE: session}, {CLASS_MAP: names})).run(WANT, {"audio": sound(np.zeros(30_000))})
    assert [feeds["audio"].shape for feeds in session.fed] == [(1, 1, 96, 64)] * 3
    assert found.probability.shape == (3, CLASSES)
    assert found.step == 0.48
    assert found.top(1)[0][0] == "class, 7"
    assert found.top(1)[0][1] == pytest.approx(1 / (1 + np.exp(-2 * LOGITS.scale)))
    assert found.probability[0, 0] == 0.5


def test_another_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExpertError, match="520 rows"):
        class_names(write_map(tmp_path / "short.csv", range(520)))
    with pytest.raises(ExpertError, match="in order"):
        class_names(write_map(tmp_path / "reversed.csv", range(520, -1, -1)))


def test_silence_is_silence(models: SessionSource) -> None:
    assert EXPERT(models).run(WANT, {"audio": sound(np.zeros(48_000))}).top(1)[0][0] == "Silence"


@pytest.mark.parametrize(("hertz", "heard"), [(440, {"Telephone", "Dial tone"}), (1000, {"Beep, bleep", "Sine wave"})])
def test_a_tone_is_no_speech(models: SessionSource, hertz: int, heard: set[str]) -> None:
    tags = EXPERT(models).run(WANT, {"audio": sound(0.3 * np.sin(2 * np.pi * hertz * times(4)))})
    assert {name for name, _ in tags.top(6)} & heard
    assert tags.probability[:, tags.names.index("Speech")].max() < 0.1


def test_white_noise(models: SessionSource) -> None:
    tags = EXPERT(models).run(WANT, {"audio": sound(0.1 * lcg(64_000))})
    assert "White noise" in {name for name, _ in tags.top(3)}


def test_speech_is_speech(models: SessionSource, speech: Audio) -> None:
    name, probability = EXPERT(models).run(WANT, {"audio": speech}).top(1)[0]
    assert name == "Speech"
    assert probability > 0.7
