"""Times of decoded frames whose stamps are missing, stale or absurd."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import MediaError
from evaluator.media.decoding import ascending, timeline


def stream(rate: Fraction | None = Fraction(10), container: str = "mov,mp4") -> SimpleNamespace:
    """What `timeline` looks at: ticks of a millisecond."""
    form = SimpleNamespace(format=SimpleNamespace(name=container), name="clip.mp4")
    return SimpleNamespace(time_base=Fraction(1, 1000), guessed_rate=rate, container=form)


def times(stamps: list[int | None], last: int = 40, **wishes: object) -> tuple[list[float], float]:
    found, end = timeline(stream(**wishes), [(stamp, last) for stamp in stamps])
    return found.round(9).tolist(), end


@given(st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=9))
def test_ascending_is_longest_and_ascends(stamps: list[int | None]) -> None:
    places = ascending(stamps)
    values = [stamps[place] for place in places]
    assert None not in values
    assert all(a < b for a, b in pairwise(values))
    longer = combinations([stamp for stamp in stamps if stamp is not None], len(places) + 1)
    assert not any(all(a < b for a, b in pairwise(pick)) for pick in longer)


def test_good_stamps_are_kept() -> None:
    assert times([1500, 1540, 1700]) == ([1.5, 1.54, 1.7], 1.74)


def test_unknown_last_duration_is_the_usual_interval() -> None:
    assert times([0, 40, 80, 120], last=0) == ([0, 0.04, 0.08, 0.12], 0.16)
    assert times([7], last=0) == ([0.007], 0.007)


@pytest.mark.parametrize("stale", [None, 0, 40, 10**9])
def test_one_bad_stamp_does_not_move_the_others(stale: int | None) -> None:
    assert times([0, 40, 80, stale, 160, 200])[0] == [0, 0.04, 0.08, 0.12, 0.16, 0.2]


def test_bad_stamps_at_the_ends_follow_the_interval() -> None:
    assert times([None, 40, 80, 120, None, 5])[0] == [0, 0.04, 0.08, 0.12, 0.16, 0.2]


@pytest.mark.parametrize("stamps", [[None, None, None], [5, 4, 3], [None, None, 8]])
def test_mostly_bad_stamps_give_way_to_the_frame_rate(stamps: list[int | None]) -> None:
    found, end = times(stamps)
    assert found == [0, 0.1, 0.2]
    assert end == pytest.approx(0.3)


def test_containers_without_times_use_the_frame_rate() -> None:
    assert times([1, 2, 3], container="avi")[0] == [0, 0.1, 0.2]


def test_neither_times_nor_rate() -> None:
    with pytest.raises(MediaError) as caught:
        times([None, None], rate=None)
    assert caught.value.code == "no_times"


@given(st.lists(st.one_of(st.none(), st.integers(0, 10**6)), min_size=1, max_size=60))
def test_times_always_ascend(stamps: list[int | None]) -> None:
    found, end = timeline(stream(), [(stamp, 0) for stamp in stamps])
    assert (np.diff(found) > 0).all()
    assert end >= found[-1]
