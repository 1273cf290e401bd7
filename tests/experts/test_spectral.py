"""Spectral front ends against scipy and against definitions written out in loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import get_window, stft

from evaluator.experts.spectral import (
    BLOCK,
    MelFormula,
    decibels,
    frame_count,
    hamming,
    hann,
    hertz_to_mel,
    magnitude_blocks,
    mel_bank,
    mel_spectrogram,
    mel_to_hertz,
)

Array = npt.NDArray[np.float64]


def reference_bank(edges: Array, rate: int, fft: int) -> Array:
    """Triangles in plain loops."""
    bank = np.zeros((len(edges) - 2, fft // 2 + 1))
    for band in range(len(bank)):
        left, centre, right = edges[band : band + 3]
        for k in range(fft // 2 + 1):
            hertz = k * rate / fft
            if left < hertz <= centre:
                bank[band, k] = (hertz - left) / (centre - left)
            elif centre < hertz < right:
                bank[band, k] = (right - hertz) / (right - centre)
    return bank


def random_sound(count: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, count)


@pytest.mark.parametrize("length", [2, 320, 321, 400])
def test_windows_are_scipys_periodic_ones(length: int) -> None:
    np.testing.assert_allclose(hann(length, length), get_window("hann", length), atol=1e-15)
    np.testing.assert_allclose(hamming(length), get_window("hamming", length), atol=1e-15)


def test_a_short_window_sits_in_the_middle() -> None:
    found = hann(400, 512)
    np.testing.assert_array_equal(found[56:456], hann(400, 400))
    assert not found[:56].any()
    assert not found[456:].any()


@pytest.mark.parametrize(
    ("fft", "length", "hop"), [(512, 400, 160), (321, 321, 160), (4096, 320, 160), (512, 512, 256)]
)
def test_magnitudes_are_scipys(fft: int, length: int, hop: int) -> None:
    samples, window = random_sound(fft + hop * (BLOCK + 40) + 7), hann(length, fft)
    found = np.concatenate(list(magnitude_blocks(samples, window, hop)))
    _, _, expected = stft(samples, window=window, nperseg=fft, noverlap=fft - hop, boundary=None, padded=False)
    assert len(found) == frame_count(len(samples), fft, hop) == BLOCK + 41
    np.testing.assert_allclose(found, np.abs(expected.T) * window.sum(), atol=1e-9)


def test_blocks_do_not_show() -> None:
    """A long sound has the spectra of its parts."""
    samples, window, hop = random_sound(40_000), hann(64, 64), 16
    whole = np.concatenate(list(magnitude_blocks(samples, window, hop)))
    late = np.concatenate(list(magnitude_blocks(samples[600 * hop :], window, hop)))
    np.testing.assert_array_equal(whole[600:], late)


def test_too_short_for_a_frame() -> None:
    bank = mel_bank(16_000, 512, 64, 125.0, 7500.0, "htk")
    assert mel_spectrogram(np.zeros(511), hann(400, 512), 160, bank, power=1).shape == (0, 64)


def test_htk_scale() -> None:
    """1000 Hz are 1000 mel, and each doubling of 700 + f adds the same."""
    assert float(hertz_to_mel(1000, "htk")) == pytest.approx(1000, abs=0.02)
    np.testing.assert_allclose(hertz_to_mel([0, 700, 2100, 4900], "htk"), 2595 * np.log10(2) * np.arange(4))


def test_slaney_scale_is_linear_to_one_kilohertz_and_then_27_bands_to_6400() -> None:
    np.testing.assert_allclose(hertz_to_mel([0, 500, 1000, 6400], "slaney"), [0, 7.5, 15, 42])
    doubled = hertz_to_mel([2000, 4000, 8000], "slaney")
    np.testing.assert_allclose(np.diff(doubled), np.log(2) / np.log(6.4) * 27)


@given(st.lists(st.floats(0, 24_000), min_size=1), st.sampled_from(["htk", "slaney"]))
def test_mel_and_back(hertz: list[float], formula: MelFormula) -> None:
    np.testing.assert_allclose(mel_to_hertz(hertz_to_mel(hertz, formula), formula), hertz, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("fft", "bands", "low", "high", "formula"),
    [(512, 64, 125.0, 7500.0, "htk"), (1024, 128, 0.0, 8000.0, "htk"), (4096, 48, 0.0, 20_000.0, "slaney")],
)
def test_triangles(fft: int, bands: int, low: float, high: float, formula: MelFormula) -> None:
    edges = mel_to_hertz(np.linspace(*hertz_to_mel([low, high], formula), bands + 2), formula)
    expected = reference_bank(edges, 16_000, fft)
    np.testing.assert_allclose(mel_bank(16_000, fft, bands, low, high, formula), expected, atol=1e-12)
    area = mel_bank(16_000, fft, bands, low, high, formula, unit_area=True)
    np.testing.assert_allclose(area, expected * (2 / (edges[2:] - edges[:-2]))[:, None], atol=1e-12)


def test_triangles_of_neighbours_add_up_to_one() -> None:
    bank = mel_bank(16_000, 4096, 40, 0.0, 8000.0, "slaney")
    hertz = np.fft.rfftfreq(4096, 1 / 16_000)
    centres = mel_to_hertz(np.linspace(0, hertz_to_mel(8000.0, "slaney"), 42), "slaney")[1:-1]
    inside = (hertz > centres[0]) & (hertz < centres[-1])
    np.testing.assert_allclose(bank[:, inside].sum(axis=0), 1.0)


def test_unit_area() -> None:
    bank = mel_bank(16_000, 65_536, 40, 0.0, 8000.0, "slaney", unit_area=True)
    np.testing.assert_allclose(bank.sum(axis=1) * 16_000 / 65_536, 1.0, rtol=1e-3)


def test_bands_above_half_the_rate_are_empty() -> None:
    bank = mel_bank(16_000, 4096, 48, 0.0, 20_000.0, "slaney")
    left = mel_to_hertz(np.linspace(0, hertz_to_mel(20_000.0, "slaney"), 50), "slaney")[:-2]
    np.testing.assert_array_equal(bank.any(axis=1), left < 8000)
    assert not bank[-1].any()


def test_a_bank_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        mel_bank(16_000, 512, 64, 125.0, 7500.0, "htk")[0, 0] = 1.0


@given(st.floats(300, 6000))
def test_a_tone_is_loudest_in_its_band(hertz: float) -> None:
    samples = np.sin(2 * np.pi * hertz * np.arange(4000) / 16_000)
    bank = mel_bank(16_000, 1024, 40, 0.0, 8000.0, "slaney")
    mel = mel_spectrogram(samples, hann(1024, 1024), 160, bank, power=2).mean(axis=0)
    bins = np.arange(513) * 16_000 / 1024
    centre = bins[bank[mel.argmax()].argmax()]
    assert abs(hertz_to_mel(centre, "slaney") - hertz_to_mel(hertz, "slaney")) < 2 * 45.25 / 41


def test_power_is_the_square_of_magnitude() -> None:
    samples, identity = random_sound(2000), np.eye(257)
    magnitude = mel_spectrogram(samples, hann(512, 512), 160, identity, power=1)
    np.testing.assert_allclose(mel_spectrogram(samples, hann(512, 512), 160, identity, power=2), magnitude**2)


def test_decibels() -> None:
    power = np.array([0.0, 1e-12, 1e-3, 1.0, 10.0])
    np.testing.assert_allclose(decibels(power, smallest=1e-10), [-70, -70, -30, 0, 10])
    np.testing.assert_allclose(decibels(power, smallest=1e-10, reference=10.0, span=50), [-50, -50, -40, -10, 0])
    np.testing.assert_allclose(decibels(np.zeros(3), smallest=1e-8), [-80, -80, -80])
