"""Shot alignment: the goldens of spec 15.1, the corrections, and that nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.suites.cutcraft.alignment import (
    Timed,
    by_labels,
    by_order,
    by_times,
    close_gap,
    duration_score,
    move_by_time,
    shot_count_score,
    split_outliers,
    valid_labels,
)
from evaluator.suites.cutcraft.flags import COMPAT, PAPER


def spans(count: int, length: float = 2.0) -> list[tuple[float, float]]:
    return [(k * length, (k + 1) * length) for k in range(count)]


def test_labels_are_validated() -> None:
    assert valid_labels([0, "1", 5, True, 1.0, -1], 8, 3) == [0, -1, -1, -1, -1, -1, -1, -1]
    assert valid_labels([0, 1, 2], 2, 3) == [0, 1]


@pytest.mark.parametrize(
    ("given", "wanted"), [([0, 1, 1, 3], [0, 1, 1, 2]), ([0, 3], [0, 2]), ([0, 1], [0, 1]), ([2, 0], [2, 0])]
)
def test_a_skipped_index_is_filled(given: list[int], wanted: list[int]) -> None:
    """Spec 15.1."""
    assert close_gap(given) == wanted


def test_a_shot_in_two_places_gives_the_later_one_away() -> None:
    """Spec 15.1: [0, 1, 1, 0] with three shots."""
    assert split_outliers([0, 1, 1, 0], spans(4), spans(3, 3.0)) == [0, 1, 1, 2]


def test_a_segment_moves_to_the_missing_shot_that_covers_it() -> None:
    assert move_by_time([0, 0, 2], [(0, 5), (5, 10), (10, 15)], [(0, 5), (5, 10), (10, 15)]) == [0, 1, 2]


def test_paper_can_say_that_an_earlier_shot_is_missing() -> None:
    """D-19. The prompt's times are too far off to undo the reference's guess."""
    segments, prompts = [(0.0, 5.0), (5.0, 15.0)], [(0.0, 5.0), (5.0, 6.0), (6.0, 15.0)]
    assert by_labels([0, 2], segments, prompts, PAPER).labels == (0, 2)
    assert by_labels([0, 2], segments, prompts, COMPAT).labels == (0, 1)


def test_a_judges_times_take_the_segments_whose_middles_they_hold() -> None:
    """Spec 5, the second way: a segment serves one shot; one without a segment has the judge's own times."""
    segments = [(0.0, 8.0), (8.0, 10.0), (10.0, 12.0)]
    times = [(0.0, 4.0), (4.0, 8.0), (8.2, 12.0), (30.0, 31.0)]
    given = [Timed(k, start, end, merged=k == 1) for k, (start, end) in enumerate(times)]
    found = by_times(given, segments, 5)
    assert [(shot.status, shot.span) for shot in found.shots] == [
        ("matched", (0.0, 8.0)),
        ("merged", (4.0, 8.0)),
        ("merged", (8.0, 12.0)),
        ("missing", None),  # it would be after the end
        ("missing", None),
    ]
    assert (found.labels, found.method) == ((0, 2, 2), "judge")
    assert by_times([], segments, 2).accuracy == 0.0
    twice = [given[0], Timed(0, 8.0, 12.0, merged=False), Timed(9, 0.0, 1.0, merged=False)]
    assert by_times(twice, segments, 1).labels == (0, -1, -1)


def test_a_judges_times_are_not_corrected() -> None:
    """D-19 and the other corrections are of labels."""
    assert by_times([Timed(2, 0.0, 4.0, merged=False)], [(0.0, 4.0)], 3).labels == (2,)


def test_segments_that_follow_one_another_are_one_place() -> None:
    segments = [(0, 2), (2.1, 5), (5, 7), (7, 8), (8, 9)]
    alignment = by_labels([0, 0, -1, 0, 1], segments, [(0.0, 5.0), (5.0, 9.0)], PAPER)
    assert [shot.places for shot in alignment.shots] == [((0, 5), (7, 8)), ((8, 9),)]
    assert by_times([], [(0, 2)], 1).shots[0].places == ()


def test_missing_neighbours_and_cuts() -> None:
    alignment = by_labels([0, 0, 2], [(0, 2), (2, 5), (5, 9)], [(0, 5), (40, 41), (5, 9)], PAPER)
    assert [shot.status for shot in alignment.shots] == ["merged", "missing", "matched"]
    assert (alignment.evaluable(0), alignment.cut(0)) == (False, None)
    assert alignment.accuracy == pytest.approx(2 / 3)
    whole = by_order([(0, 2), (2, 5), (5, 9)], spans(2))
    assert (whole.cut(0), whole.discarded, whole.method) == (2, (2,), "order")


@given(st.lists(st.one_of(st.integers(-3, 6), st.none(), st.text(max_size=2)), max_size=8), st.integers(1, 6))
def test_every_segment_has_a_label_and_every_shot_a_status(given: list[object], shots: int) -> None:
    for defects in (PAPER, COMPAT):
        alignment = by_labels(given, spans(6), spans(shots), defects)
        assert len(alignment.labels) == 6
        owned = [place for shot in alignment.shots for place in shot.segments]
        assert sorted([*owned, *alignment.discarded]) == list(range(6))
        assert all((shot.status == "missing") == (shot.span is None) for shot in alignment.shots)


def test_shot_count() -> None:
    assert shot_count_score(5, 6) == pytest.approx(0.8333, abs=1e-4)
    assert shot_count_score(7, 3) == 0.0
    assert shot_count_score(6, 6) == 1.0


def test_durations() -> None:
    prompts = [(0.0, 2.5), (2.5, 5.0), (5.0, 10.0)]
    alignment = by_order([(0.0, 2.0), (2.0, 5.0), (5.0, 10.0)], prompts)
    assert duration_score(alignment, prompts, PAPER) == pytest.approx(0.8667, abs=1e-4)


def test_what_lies_between_a_shots_segments_is_not_the_shot() -> None:
    """D-23."""
    prompts = [(0.0, 4.0)]
    alignment = by_labels([0, -1, 0], [(0, 2), (2, 5), (5, 7)], prompts, PAPER)
    assert duration_score(alignment, prompts, PAPER) == 1.0
    assert duration_score(alignment, prompts, COMPAT) == pytest.approx(1 - 3 / 4)


def test_no_shot_no_score() -> None:
    assert duration_score(by_order([], spans(2)), spans(2), PAPER) is None
