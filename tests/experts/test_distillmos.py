"""Distill-MOS: the windows of the package, and its figures."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.experts.distillmos import EXPERT, FILE, LONGEST_HOP, WINDOW, window_starts
from evaluator.media.types import Audio
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.sounds import golden_signals, part, readings, sound, with_noise

WANT = ExpertNeed("speech_quality")

UPSTREAM = {"tone": 1.6101387, "noise": 1.9977005, "sweep": 1.4134227, "beat": 1.1335573, "zeros": 1.9690435}
"""What the package distillmos 0.9.1 gives for the signals (torch, CPU)."""


@given(st.integers(1, 2_000_000))
def test_windows_cover_the_clip_evenly(samples: int) -> None:
    starts = window_starts(samples)
    assert len(starts) == max(0, ceil((samples - WINDOW) / 16_000)) + 1
    assert starts[0] == 0
    assert starts[-1] == max(0, samples - WINDOW)
    hops = np.diff(starts)
    assert (hops > 0).all()
    assert (hops <= LONGEST_HOP + 1).all()
    assert not len(hops) or hops.max() - hops.min() <= 2  # floats are truncated, as in the package


def test_mean_worst_and_best_over_windows_of_one_size() -> None:
    session = FakeSession(lambda feeds: {"mos": feeds["wave"].max(axis=1)})
    samples = np.zeros(WINDOW + 20_000)  # windows start at 0, 10,000 and 20,000
    samples[:5000], samples[-5000:] = 0.5, 0.25
    found = EXPERT(FakeSource({FILE: session})).run(WANT, {"audio": sound(samples)})
    assert [feeds["wave"].shape for feeds in session.fed] == [(1, WINDOW)] * 3
    assert found.mos == pytest.approx((0.5 + 0.0 + 0.25) / 3, abs=1e-4)
    assert found.diagnostics == pytest.approx({"worst_window": 0.0, "best_window": 0.5}, abs=1e-4)


@pytest.mark.parametrize("name", UPSTREAM)
def test_agrees_with_the_package(models: SessionSource, name: str) -> None:
    found = EXPERT(models).run(WANT, {"audio": golden_signals()[name]})
    assert found.mos == pytest.approx(UPSTREAM[name], abs=2e-3)


def test_noise_lowers_the_score(models: SessionSource, speech: Audio) -> None:
    clips = [part(speech, 0, 7.6), *(with_noise(part(speech, 0, 7.6), snr) for snr in (30, 15, 0))]
    scores = [EXPERT(models).run(WANT, {"audio": clip}).mos for clip in clips]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] - scores[-1] > 0.5


def test_published_speech(models: SessionSource) -> None:
    """What the package gives for nine seconds of a reading, clean and with white noise at 20 and 5 dB."""
    if "beckett" not in (voices := readings()):
        pytest.skip("the wheel with recorded readings is not in the wheel folder of the model store")
    clean = part(voices["beckett"], 0, 9)
    found = [
        EXPERT(models).run(WANT, {"audio": clip}).mos for clip in (clean, with_noise(clean, 20), with_noise(clean, 5))
    ]
    assert found == pytest.approx([4.39, 3.09, 2.25], abs=0.1)
