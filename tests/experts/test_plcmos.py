"""PLCMOS: front end, fixed raters, parts of a long clip, and the figures of the package."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import stft

from evaluator.errors import NotApplicable
from evaluator.experts.plcmos import EXPERT, FILE, features, log_power, parts, raters
from evaluator.media.types import Audio
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.sounds import golden_signals, lcg, part, sound

WANT = ExpertNeed("plcmos")

UPSTREAM = {"tone": 4.820055, "noise": 3.730525, "sweep": 3.462432, "beat": 2.287491, "zeros": 3.628869}
"""What the package speechmos 0.0.1.1 gives for the signals after `numpy.random.seed(0)`."""


def test_front_end_is_that_of_scipy() -> None:
    samples = 0.1 * lcg(5000)
    frames = -(-5000 // 256) + 1
    line = np.concatenate([np.zeros(256), samples, np.zeros(256 * (frames + 1) - 256 - 5000)])
    _, _, spectrum = stft(line, window="hamming", nperseg=512, noverlap=256, boundary=None, padded=False)
    window_sum = 0.54 * 512
    found = features(samples.astype(np.float32))
    assert found.shape == (frames, 257)
    np.testing.assert_allclose(found, np.log((np.abs(spectrum.T) * window_sum) ** 2) / 20, atol=1e-3)


@given(st.integers(1, 3000))
@settings(deadline=None)
def test_frames_reach_the_last_sample(count: int) -> None:
    assert len(features(np.ones(count, np.float32))) == -(-(count + 256) // 256)


def test_empty_bins_lie_120_db_below_the_weakest() -> None:
    found = log_power(np.array([[0.0, 1e-3, 2.0]]))
    np.testing.assert_allclose(found, [[np.log(1e-3) - 12 * np.log(10), np.log(1e-3), np.log(2.0)]])
    np.testing.assert_allclose(log_power(np.zeros((2, 3))), -8 * np.log(10))


def test_raters_are_always_the_same() -> None:
    found = raters()
    assert found.shape == (15, 64)
    np.testing.assert_allclose(found[0, :3], [1.7640524, 0.4001572, 0.978738], atol=1e-6)
    np.testing.assert_array_equal(found, raters())


@given(st.integers(16_000, 16_000 * 100))
@settings(deadline=None, max_examples=30)
def test_parts_follow_each_other(count: int) -> None:
    samples = np.arange(count, dtype=np.float32)
    cut = parts(samples)
    assert all(16_000 <= len(one) <= 480_000 for one in cut)
    joined = np.concatenate(cut)
    np.testing.assert_array_equal(joined, samples[: len(joined)])
    assert len(samples) - len(joined) < 16_000


def test_longer_parts_weigh_more() -> None:
    """30 s rated 4 and 10 s rated 2, by 15 raters each."""
    session = FakeSession(lambda feeds: {"plcmos": 4.0 if feeds["degraded_audio"].shape[2] > 1000 else 2.0})
    found = EXPERT(FakeSource({FILE: session})).run(WANT, {"audio": sound(np.zeros(16_000 * 40))})
    assert found.mos == pytest.approx((30 * 4 + 10 * 2) / 40)
    assert found.diagnostics == {"worst_part": 2.0, "best_part": 4.0}
    assert len(session.fed) == 30
    assert len({feeds["rater_embed"].tobytes() for feeds in session.fed}) == 15


def test_less_than_a_second() -> None:
    with pytest.raises(NotApplicable, match=r"PLCMOS needs 1\.00 s"):
        EXPERT(FakeSource({})).run(WANT, {"audio": sound(np.zeros(15_999))})


@pytest.mark.parametrize("name", UPSTREAM)
def test_agrees_with_the_package(models: SessionSource, name: str) -> None:
    found = EXPERT(models).run(WANT, {"audio": golden_signals()[name]})
    assert found.mos == pytest.approx(UPSTREAM[name], abs=1e-3)


def test_lost_packets_lower_the_score(models: SessionSource, speech: Audio) -> None:
    """Every fifth packet of 40 ms is lost and nothing conceals it."""
    clean = part(speech, 0, 9)
    lost = clean.samples.copy()
    packets = lost[: len(lost) // 640 * 640].reshape(-1, 640)
    packets[::5] = 0
    found = [EXPERT(models).run(WANT, {"audio": Audio(samples, 16_000, True)}).mos for samples in (clean.samples, lost)]
    assert found[0] - found[1] > 0.5
