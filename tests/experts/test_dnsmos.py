"""DNSMOS: windows, the P.808 front end, polynomials, and the figures of the package."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import stft

from evaluator.experts.dnsmos import EXPERT, OUTPUT, P808_FILE, P835_FILE, WINDOW, looped, p808_features, window_starts
from evaluator.media.types import Audio
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.sounds import golden_signals, lcg, part, sound, with_noise

WANT = ExpertNeed("dnsmos")

UPSTREAM = {
    "tone": (1.848796, 2.255992, 1.508114, 2.111574),
    "noise": (1.120051, 1.099737, 1.089358, 2.082093),
    "sweep": (1.183395, 0.977732, 1.093703, 2.188859),
    "beat": (1.988455, 2.036613, 1.392573, 2.284346),
    "zeros": (2.513565, 3.472424, 1.839863, 2.146801),
}
"""sig, bak, ovrl, p808 that the package speechmos 0.0.1.1 gives for the signals, with librosa 0.11."""


@given(st.integers(1, 40_000))
def test_a_short_clip_is_doubled_until_it_fills_a_window(count: int) -> None:
    samples = np.arange(count, dtype=np.float32)
    found = looped(samples)
    assert WINDOW <= len(found) < 2 * WINDOW
    times = len(found) // count
    assert times & (times - 1) == 0
    np.testing.assert_array_equal(found, np.tile(samples, times))


@given(st.integers(WINDOW, 16_000 * 600))
def test_windows_are_counted_as_published_and_fit(samples: int) -> None:
    starts = window_starts(samples)
    assert len(starts) == int(samples // 16_000 - 9.01) + 1
    assert list(starts) == [16_000 * k for k in range(len(starts))]
    assert starts[-1] + WINDOW <= samples


def test_raw_figures_are_mapped_and_averaged() -> None:
    """Two windows, told apart by their first sample."""
    p835 = FakeSession(lambda feeds: {OUTPUT: [[1.0, 2.0, 3.0] if feeds["input_1"][0, 0] else [3.0, 3.0, 3.0]]})
    p808 = FakeSession(lambda feeds: {OUTPUT: [[4.0]]})
    samples = np.zeros(11 * 16_000)
    samples[0] = 0.5
    found = EXPERT(FakeSource({P835_FILE: p835, P808_FILE: p808})).run(WANT, {"audio": sound(samples)})
    assert [feeds["input_1"].shape for feeds in p835.fed] == [(1, WINDOW)] * 2
    assert [feeds["input_1"].shape for feeds in p808.fed] == [(1, 900, 120)] * 2
    assert found.sig == pytest.approx((1.14211064 + 2.91200645) / 2)
    assert found.bak == pytest.approx((2.29558938 + 3.24639997) / 2)
    assert found.ovrl == pytest.approx(2.78345404)
    assert found.p808 == 4.0


def test_p808_front_end_is_that_of_scipy() -> None:
    """Power in 120 Slaney bands of unit area, in dB relative to the loudest, 80 dB deep, mapped to -1..1."""
    samples = 0.1 * lcg(WINDOW)
    samples[4000:8000] = 0.0
    padded = np.pad(samples[:-160], 160)
    _, _, spectrum = stft(padded, window="hann", nperseg=321, noverlap=161, boundary=None, padded=False)
    mel = np.linspace(0, 15 + np.log(8) * 27 / np.log(6.4), 122)
    edges = np.where(mel < 15, mel * 200 / 3, 1000 * 6.4 ** ((mel - 15) / 27))
    bins = np.arange(161) * 16_000 / 321
    bank = [np.interp(bins, edges[k : k + 3], [0, 2 / (edges[k + 2] - edges[k]), 0]) for k in range(120)]
    power = (np.array(bank) @ (np.abs(spectrum) * 160.5) ** 2).T
    level = 10 * np.log10(np.maximum(power, 1e-10) / power.max())
    expected = (np.maximum(level, -80) + 40) / 40
    found = p808_features(samples.astype(np.float32))
    assert found.shape == (900, 120)
    assert (found.min(), found.max()) == (-1.0, 1.0)
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("name", UPSTREAM)
def test_agrees_with_the_package(models: SessionSource, name: str) -> None:
    found = EXPERT(models).run(WANT, {"audio": golden_signals()[name]})
    assert (found.sig, found.bak, found.ovrl, found.p808) == pytest.approx(UPSTREAM[name], abs=1e-3)


def test_noise_lowers_background_and_overall(models: SessionSource, speech: Audio) -> None:
    clean = part(speech, 0, 5)  # one window
    found = [EXPERT(models).run(WANT, {"audio": clip}) for clip in (clean, with_noise(clean, 20), with_noise(clean, 0))]
    assert found[0].bak > found[1].bak > found[2].bak
    assert found[0].ovrl > found[1].ovrl > found[2].ovrl
    assert found[0].p808 > found[2].p808
