"""Calls about the same clip are on the same side of a split, however they are linked."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judge.clips import Clips, held_out

Calls = Sequence[tuple[str, Sequence[str]]]


def grouped(calls: Calls) -> dict[str, str]:
    clips = Clips()
    for item, digests in calls:
        clips.add(item, digests)
    return {item: clips.group(item) for item, _ in calls}


def test_questions_of_a_case_and_cases_with_a_shared_picture_are_one_clip() -> None:
    found = grouped(
        [
            ("a/metric/1", ["source", "a1"]),
            ("a/metric/2", ["a2"]),
            ("b/metric/1", ["source", "b1"]),
            ("c/metric/1", ["c1"]),
            ("d/metric/1", []),
        ]
    )
    assert found["a/metric/1"] == found["a/metric/2"] == found["b/metric/1"]
    assert len(set(found.values())) == 3


def test_an_item_that_was_never_added_has_no_group() -> None:
    with pytest.raises(KeyError):
        Clips().group("a/1")


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.lists(st.sampled_from("123456789"), max_size=3)), max_size=12),
    st.randoms(),
)
def test_groups_do_not_depend_on_the_order_and_are_what_a_search_finds(calls: Calls, rng: random.Random) -> None:
    shuffled = list(calls)
    rng.shuffle(shuffled)
    found = grouped(calls)
    assert grouped(shuffled) == found
    for item in found:
        assert {other for other in found if found[other] == found[item]} == _reachable(item, calls)


def _reachable(item: str, calls: Calls) -> set[str]:
    items, digests = {item}, set[str]()
    while True:
        more = digests | {digest for name, shown in calls if name in items for digest in shown}
        wider = items | {name for name, shown in calls if set(shown) & more}
        if (wider, more) == (items, digests):
            return items
        items, digests = wider, more


def test_the_share_of_a_split_is_about_right_and_each_clip_keeps_its_side() -> None:
    sides = [held_out(f"clip {index}", 0.2) for index in range(5000)]
    assert 0.18 < sum(sides) / 5000 < 0.22
    assert sides == [held_out(f"clip {index}", 0.2) for index in range(5000)]
    assert not held_out("clip", 0.0)
    assert held_out("clip", 1.0)
    assert all(held_out(f"clip {index}", 0.5) for index in range(5000) if sides[index])
