"""Who speaks when: windows and groups on vectors that are known, and two real voices one after the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import SpeechActivity, VoicesApart
from evaluator.experts.silero_vad import SileroVad
from evaluator.experts.voices_apart import LEAST, WINDOW, VoicesApartExpert, apart, turns, windows
from evaluator.media.types import Audio
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.sounds import clip_sound, sound


def speech(*spans: tuple[float, float], seconds: float = 12.0) -> SpeechActivity:
    time = np.arange(round(seconds / 0.1)) * 0.1 + 0.05
    return SpeechActivity(sum(((time > a) & (time < b)) * 0.9 for a, b in spans).astype(np.float32), 0.1, seconds)  # type: ignore[union-attr]


def test_short_pauses_do_not_end_a_turn_and_short_turns_have_no_voice() -> None:
    found = turns(speech((1.0, 2.0), (2.2, 4.0), (5.0, 6.0), (7.0, 9.0)))
    assert found == [pytest.approx((1.0, 4.0)), pytest.approx((7.0, 9.0))]


@given(st.floats(0, 30), st.floats(LEAST, 20))
def test_the_parts_of_a_turn_are_the_turn_and_every_window_hears_its_part(start: float, length: float) -> None:
    found = windows((start, start + length))
    parts = [part for _, part in found]
    assert parts[0][0] == start
    assert parts[-1][1] == start + length
    assert all(first[1] == second[0] for first, second in pairwise(parts))
    assert all(end - begin <= WINDOW + 1e-9 and end <= start + length for (begin, end), _ in found)


def alike(*mix: float) -> np.ndarray:
    """Rows near the first axis (1) or the second (0)."""
    rows = np.array([[value, 1 - value, 0.1 * k] for k, value in enumerate(mix)], np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


SPANS = [(0.0, 1.0), (1.0, 2.0), (3.0, 4.0), (4.0, 5.0)]


def test_like_windows_are_one_speaker_with_merged_turns() -> None:
    found = apart(alike(1, 1, 0, 1), SPANS)
    assert found.turns == (((0.0, 2.0), (4.0, 5.0)), ((3.0, 4.0),))
    assert [found.seconds(speaker) for speaker in (0, 1)] == [3, 1]
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)
    assert apart(alike(1), SPANS[:1]).turns == (((0.0, 1.0),),)


@given(st.permutations(range(4)))
def test_whoever_speaks_when_the_groups_are_the_same(order: list[int]) -> None:
    found = apart(alike(1, 1, 0, 1)[order], SPANS)
    assert sorted(found.seconds(speaker) for speaker in (0, 1)) == [1, 3]
    assert found.turns[0][0][0] == 0  # speakers come in the order in which they are heard


def test_each_window_is_one_call_of_the_network_and_nothing_said_is_no_voice() -> None:
    session = FakeSession(lambda feeds: {"embedding": np.ones((len(feeds["mels"]), 2)) / np.sqrt(2)}, ("embedding",))
    expert = VoicesApartExpert(FakeSource({"resemblyzer.onnx": session}))
    audio = sound(0.1 * np.random.default_rng(0).standard_normal(12 * 16_000))
    found = expert.run(ExpertNeed("voices_apart"), {"audio": audio, "speech": speech((1.0, 4.0))})
    assert session.fed[0]["mels"].shape == (8, 160, 40)  # four windows in a batch of eight
    assert found.turns == ((pytest.approx((1.0, 4.0)),),)
    with pytest.raises(NotApplicable):
        expert.run(ExpertNeed("voices_apart"), {"audio": audio, "speech": speech((1.0, 2.0))})


def heard(models: SessionSource, audio: Audio) -> VoicesApart:
    activity = SileroVad(models).run(ExpertNeed("speech_activity"), {"audio": audio})
    return VoicesApartExpert(models).run(ExpertNeed("voices_apart"), {"audio": audio, "speech": activity})


def test_two_people_in_turn_are_two_and_one_is_one(models: SessionSource, shared: Path) -> None:
    one, other = (clip_sound(shared / "data" / "clips" / name) for name in ("talking1.mp4", "lowres_dark.mp4"))
    pause = np.zeros(8_000, np.int16)
    part, rest = one.samples[: 6 * 16_000], other.samples[4 * 16_000 :]
    both = replace(one, samples=np.concatenate([part, pause, rest]))
    assert len(heard(models, replace(one, samples=part)).turns) == 1
    found = heard(models, both)
    assert len(found.turns) == 2
    change = 6.25  # seconds, in the middle of the pause
    assert max(end for _, end in found.turns[0]) < change < min(start for start, _ in found.turns[1])
