"""Label scoring against arithmetic that was done by hand, and against replies that must not become an answer."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judge.labels import expectation, read_labels
from evaluator.judge.types import Answer, Status

YES_NO = ("Yes", "No")


def logs(**shares: float) -> dict[str, float]:
    return {label: math.log(share) if share else -math.inf for label, share in shares.items()}


def test_probabilities_are_relative_to_the_labels_and_the_mass_is_not() -> None:
    answer = read_labels(YES_NO, logs(Yes=0.6, No=0.2), "Yes", "k")
    assert answer.status is Status.OK
    assert answer.label == "Yes"
    assert answer.probabilities == pytest.approx({"Yes": 0.75, "No": 0.25})
    assert answer.label_mass == pytest.approx(0.8)
    assert answer.margin == pytest.approx(0.5)
    assert not answer.near_tie


@pytest.mark.parametrize(("yes", "near"), [(0.5, True), (0.519, True), (0.481, True), (0.521, False), (0.479, False)])
def test_a_near_tie_is_within_two_hundredths_of_a_half(yes: float, near: bool) -> None:
    assert read_labels(YES_NO, logs(Yes=yes, No=1 - yes), "Yes", "k").near_tie is near


def test_equal_probabilities_go_to_the_label_that_is_named_first() -> None:
    assert read_labels(("No", "Yes"), logs(Yes=0.3, No=0.3), "Yes", "k").label == "No"


def test_a_label_without_any_probability_is_possible() -> None:
    answer = read_labels(YES_NO, logs(Yes=1.0, No=0.0), "Yes", "k")
    assert answer.probabilities == {"Yes": 1.0, "No": 0.0}


def test_probabilities_too_small_for_a_float_still_have_an_order() -> None:
    answer = read_labels(YES_NO, {"Yes": -1000.0, "No": -999.0}, "No", "k")
    assert answer.label == "No"
    assert answer.label_mass == 0.0
    assert answer.probabilities["No"] == pytest.approx(1 / (1 + math.exp(-1)))


@pytest.mark.parametrize(
    ("logprobs", "text"),
    [
        (logs(Yes=0.6, No=0.2), "Maybe"),
        (logs(Yes=0.6, No=0.2), ""),
        (logs(Yes=0.6, No=0.2), "Yes, clearly"),
        (logs(Yes=0.6), "Yes"),
        ({}, "Yes"),
        ({"Yes": math.nan, "No": -1.0}, "Yes"),
        ({"Yes": math.inf, "No": -1.0}, "Yes"),
        (logs(Yes=0.0, No=0.0), "Yes"),
        ({"Yes": 2.0, "No": 1.0}, "Yes"),  # logits, not log-probabilities
    ],
)
def test_a_reply_that_is_no_distribution_over_the_labels_is_unparsed(logprobs: dict[str, float], text: str) -> None:
    answer = read_labels(YES_NO, logprobs, text, "k")
    assert answer == Answer(Status.UNPARSED, "k", message=answer.message)
    assert answer.message


@given(st.lists(st.floats(-50, 0), min_size=2, max_size=13), st.floats(0.01, 10))
def test_identities(values: list[float], shift: float) -> None:
    """Shares sum to 1, the label is the largest, a common factor changes the mass and nothing else."""
    whole = math.log(math.fsum(map(math.exp, values)))
    given_ = {str(index): value - whole for index, value in enumerate(values)}
    answer = read_labels(tuple(given_), given_, "0", "k")
    fainter = read_labels(tuple(given_), {label: value - shift for label, value in given_.items()}, "0", "k")
    assert math.fsum(answer.probabilities.values()) == pytest.approx(1)
    assert answer.probabilities[answer.label or ""] == max(answer.probabilities.values())
    assert fainter.probabilities == pytest.approx(answer.probabilities)
    assert fainter.label_mass == pytest.approx((answer.label_mass or 0) * math.exp(-shift))


def test_the_expectation_of_grades() -> None:
    answer = read_labels(("1", "2", "3"), logs(**{"1": 0.25, "2": 0.25, "3": 0.5}), "3", "k")
    assert expectation(answer) == pytest.approx(2.25)
    assert expectation(answer, {"1": 0.0, "2": 0.0, "3": 1.0}) == pytest.approx(0.5)


def test_a_failure_has_no_expectation() -> None:
    with pytest.raises(ValueError, match="unparsed"):
        expectation(Answer(Status.UNPARSED, "k"))
