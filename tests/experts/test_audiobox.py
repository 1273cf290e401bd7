"""Audiobox Aesthetics: windows, masks and weights by a session that honours the contract."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.audiobox import AXES, EXPERT, FILE
from evaluator.media.types import Audio
from evaluator.runtime.session import Array
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSession, FakeSource

WANT = ExpertNeed("audio_aesthetics")
WINDOW = 160_000


def respond(feeds: dict[str, Array]) -> dict[str, Array]:
    """Axes that tell what was seen: mean over the mask, its length, and the sum outside it."""
    wave, mask = feeds["wave"], feeds["mask"]
    inside = np.array([wave[0][mask[0]].mean()])
    return {"CE": inside, "CU": np.array([mask.sum() / WINDOW]), "PC": np.array([wave[~mask].sum()]), "PQ": 2 * inside}


def rate(samples: Array) -> tuple[dict[str, float], int, FakeSession]:
    session = FakeSession(respond)
    found = EXPERT(FakeSource({FILE: session})).run(WANT, {"audio": Audio(samples.astype(np.int16), 16_000, True)})
    return found.axes, found.windows, session


def test_contract() -> None:
    axes, _, session = rate(np.ones(WINDOW + 1))
    assert set(axes) == set(AXES) == {"PQ", "CU", "CE", "PC"}
    for feeds in session.fed:
        assert (feeds["wave"].shape, feeds["wave"].dtype) == ((1, WINDOW), np.float32)
        assert (feeds["mask"].shape, feeds["mask"].dtype) == ((1, WINDOW), np.bool_)


@given(st.integers(1, 3 * WINDOW))
@settings(deadline=None, max_examples=10)
def test_a_mean_over_windows_by_weight_is_the_mean_over_the_clip(count: int) -> None:
    samples = np.random.default_rng(count).integers(-30_000, 30_000, count)
    axes, windows, session = rate(samples)
    assert windows == -(-count // WINDOW) == len(session.fed)
    assert axes["CE"] == pytest.approx((samples / 32768).mean(), abs=1e-6)
    assert axes["PQ"] == pytest.approx(2 * axes["CE"], abs=1e-6)
    assert axes["PC"] == 0.0


def test_a_last_window_of_one_sample_weighs_one_sample() -> None:
    axes, windows, _ = rate(np.zeros(WINDOW + 1))
    assert windows == 2
    assert axes["CU"] == pytest.approx((WINDOW * 1 + 1 * (1 / WINDOW)) / (WINDOW + 1), rel=1e-12)


def test_no_samples() -> None:
    with pytest.raises(NotApplicable):
        rate(np.zeros(0))
