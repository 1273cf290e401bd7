"""Spans hold every wanted frame once and in order, fit into memory, are few, and decode little twice."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluator.media.spans import CALL, LONGEST, spans
from evaluator.media.types import I64


def decoded(parts: list[I64], keys: I64) -> int:
    """Frames that a decoder goes through, when each call begins at the key frame before its first frame."""
    return sum(int(part[-1]) + 1 - int(keys[keys <= part[0]].max()) for part in parts)


def cost(parts: list[I64], keys: I64) -> int:
    return decoded(parts, keys) + CALL * len(parts)


@given(
    wanted=st.sets(st.integers(0, 400), min_size=1),
    keys=st.sets(st.integers(1, 400), max_size=40),
    most=st.integers(1, 80),
)
def test_every_frame_comes_once_in_order_and_no_span_is_too_long(wanted: set[int], keys: set[int], most: int) -> None:
    index, starts = np.array(sorted(wanted)), np.array(sorted({0, *keys}))
    parts = list(spans(index, starts, most))
    assert np.array_equal(np.concatenate(parts), index)
    assert max(map(len, parts)) <= most


@given(
    wanted=st.sets(st.integers(0, 30), min_size=1, max_size=9), keys=st.sets(st.integers(1, 30)), most=st.integers(1, 9)
)
def test_no_other_way_to_cut_is_cheaper(wanted: set[int], keys: set[int], most: int) -> None:
    index, starts = np.array(sorted(wanted)), np.array(sorted({0, *keys}))

    def cheapest(left: I64) -> int:  # every way, one after the other
        heads = range(1, min(most, len(left)) + 1)
        return min((cost([left[:head]], starts) + cheapest(left[head:]) for head in heads), default=0)

    assert cost(list(spans(index, starts, most)), starts) == cheapest(index)


def test_frames_far_apart_are_one_call() -> None:
    """A decoder passes over what lies between them; a call for each would read the whole file as often."""
    assert len(list(spans(np.arange(0, 240, 10), np.arange(0, 240, 12), 86))) == 1


def test_small_pictures_are_cut_as_well_for_their_views_may_be_large() -> None:
    parts = list(spans(np.arange(3 * LONGEST), np.array([0]), 1_000_000))
    assert [len(part) for part in parts] == 3 * [LONGEST]


@given(wanted=st.sets(st.integers(0, 400), min_size=1), keys=st.sets(st.integers(1, 400)), most=st.integers(1, 80))
def test_there_are_no_more_calls_than_memory_asks_for(wanted: set[int], keys: set[int], most: int) -> None:
    parts = list(spans(np.array(sorted(wanted)), np.array(sorted({0, *keys})), most))
    assert len(parts) == -(-len(wanted) // most)


def test_no_frame_is_decoded_twice_where_groups_of_pictures_fit() -> None:
    index, keys = np.arange(240), np.arange(0, 240, 12)
    assert decoded(list(spans(index, keys, 86)), keys) == 240


def test_a_long_group_of_pictures_is_cut_where_memory_ends() -> None:
    parts = list(spans(np.arange(250), np.array([0]), 100))
    assert sorted(len(part) for part in parts) == [50, 100, 100]
    assert decoded(parts, np.array([0])) == 50 + 150 + 250  # the short one first: it is decoded most often


def test_a_file_whose_index_begins_without_a_key_frame_is_cut_too() -> None:
    assert [len(part) for part in spans(np.arange(10), np.array([], np.int64), 4)] == [2, 4, 4]


def test_no_frames_make_no_span() -> None:
    assert list(spans(np.array([], np.int64), np.array([0]), 4)) == []
