"""Mel pictures: where a tone, a cut and silence are seen, one scale for all rows, and bytes that never change."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import numpy.typing as npt
import pytest

from evaluator.judge.evidence_mel import AXIS, BAND_HEIGHT, BANDS, HOP, RED, ROW, WIDTH, mel_level, mel_picture
from tests.conftest import ROOT

RATE = 16_000
I16 = npt.NDArray[np.int16]


def tone(hertz: float, seconds: float = 2.0, level: float = 0.5) -> I16:
    t = np.arange(round(RATE * seconds)) / RATE
    return np.round(32767 * level * np.sin(2 * np.pi * hertz * t)).astype(np.int16)


def row(picture: npt.NDArray[np.uint8], place: int = 0) -> npt.NDArray[np.int64]:
    """Grey levels [BANDS, WIDTH] of one row, the highest band first."""
    top = place * ROW
    return picture[top : top + BANDS * BAND_HEIGHT : BAND_HEIGHT, :, 0].astype(np.int64)


def band_of(hertz: float) -> float:
    """Place of a frequency among the bands, from the definition of the mel scale; 0 is the highest."""
    mel = lambda f: 2595 * np.log10(1 + f / 700)  # noqa: E731
    return float(BANDS - (mel(hertz) - mel(50)) / (mel(8000) - mel(50)) * (BANDS + 1))


@pytest.mark.parametrize("hertz", [200, 1000, 5000])
def test_a_tone_is_a_line_at_its_frequency(hertz: float) -> None:
    column = row(mel_picture({"sound": tone(hertz)}, RATE))[:, WIDTH // 2]
    assert abs(column.argmax() - band_of(hertz)) <= 1.5
    assert column.max() == 255


def test_time_runs_from_left_to_right() -> None:
    samples = np.concatenate([np.zeros(RATE, np.int16), tone(1000, 1.0)])
    loudest = row(mel_picture({"sound": samples}, RATE)).max(axis=0)
    assert (loudest[: WIDTH // 2 - 20] == 0).all()
    assert (loudest[WIDTH // 2 + 20 : -20] == 255).all()


def test_rows_share_one_scale() -> None:
    """30 dB less is 30/70 of the way from white to black."""
    picture = mel_picture({"source": tone(1000), "target": tone(1000, level=0.5 / 10**1.5)}, RATE)
    assert row(picture, 0).max() == 255
    assert row(picture, 1).max() == pytest.approx(255 * 40 / 70, abs=2)


def test_a_shorter_sound_ends_where_it_ends() -> None:
    picture = mel_picture({"long": tone(1000, 2.0), "short": tone(1000, 1.0)}, RATE)
    assert (picture[ROW : ROW + BANDS * BAND_HEIGHT, WIDTH // 2 + 1 :] == 255).all()


def test_silence_is_black() -> None:
    assert not row(mel_picture({"sound": np.zeros(RATE, np.int16)}, RATE)).any()


def test_a_short_click_survives_in_a_long_clip() -> None:
    samples = np.zeros(60 * RATE, np.int16)
    samples[30 * RATE] = 30_000
    columns = row(mel_picture({"sound": samples}, RATE)).max(axis=0)
    assert columns.max() > 200
    assert abs(int(columns.argmax()) - WIDTH // 2) <= 1


def test_a_cut_is_a_red_line() -> None:
    picture = mel_picture({"source": tone(300), "target": tone(300)}, RATE, cuts=[0.5])
    red = (picture == np.array(RED, np.uint8)).all(axis=2)
    x = round(0.25 * (WIDTH - 1))
    assert red[: BANDS * BAND_HEIGHT, x].all()
    assert red[ROW : ROW + BANDS * BAND_HEIGHT, x].all()
    assert not red[: BANDS * BAND_HEIGHT, x + 1].any()


def test_the_axis_has_ticks_and_labels() -> None:
    picture = mel_picture({"target": tone(300)}, RATE)
    axis = picture[BANDS * BAND_HEIGHT : ROW]
    assert axis.shape == (AXIS, WIDTH, 3)
    assert (axis[2, [0, WIDTH - 1]] == 0).all()
    assert (axis[-12:] != 255).any()


def test_level_is_that_of_one_frame_written_out() -> None:
    samples = (3000 * np.sin(np.arange(8000) ** 1.3 / 7)).astype(np.int16)
    k = 20
    padded = np.pad(samples / 32768, 512)
    spectrum = np.abs(np.fft.rfft(padded[k * HOP : k * HOP + 1024] * np.hanning(1025)[:-1])) ** 2
    low, high = 2595 * np.log10(1 + np.array([50, 8000]) / 700)
    edges = 700 * (10 ** (np.linspace(low, high, BANDS + 2) / 2595) - 1)
    bins = np.arange(513) * RATE / 1024
    bank = [
        2 / (c - a) * np.interp(bins, [a, b, c], [0, 1, 0])
        for a, b, c in zip(edges, edges[1:], edges[2:], strict=False)
    ]
    expected = 10 * np.log10(np.maximum(np.array(bank) @ spectrum, 1e-10))
    np.testing.assert_allclose(mel_level(samples, RATE)[k], expected, atol=1e-6)


def test_no_sound_and_cuts_outside_are_refused() -> None:
    for tracks in ({}, {"sound": np.zeros(0, np.int16)}):
        with pytest.raises(ValueError, match="at least one sound"):
            mel_picture(tracks, RATE)
    with pytest.raises(ValueError, match="cuts"):
        mel_picture({"sound": tone(300)}, RATE, cuts=[2.5])


SCRIPT = """
import hashlib, numpy as np
from evaluator.judge.evidence_mel import mel_picture
from evaluator.judge.evidence_picture import PNG, encode
noise = (2000 * np.random.default_rng(0).normal(size=80_000)).astype(np.int16)
picture = mel_picture({"source": noise, "target": noise[:30_000]}, 16_000, [1.0])
print(hashlib.sha256(encode(picture, PNG)).hexdigest())
"""


def digest(**variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_bytes_do_not_depend_on_threads_or_kernels() -> None:
    plain = digest(OPENBLAS_NUM_THREADS="1")
    assert len(plain) == len(hashlib.sha256().hexdigest())
    assert digest(OPENBLAS_NUM_THREADS="2") == plain
    assert digest(OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE="Haswell") == plain
    assert digest(OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE="Nehalem", NPY_DISABLE_CPU_FEATURES="AVX2") == plain
