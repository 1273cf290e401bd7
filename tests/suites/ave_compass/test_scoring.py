"""Cells of a case: binarisation, shares, intent, rounding; the golden values of the specification."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.suites.ave_compass.checklist import Dimension, Item, Subdimension, Tag
from evaluator.suites.ave_compass.scoring import Verdict, binary, chosen, intent, percent, share

PUBLISHED_INTENT = (  # spec 12.2: five cases, six systems
    (100, 38.1, 19.0, 50.0, 35.7, 28.6),
    (100, 14.3, 0, 35.7, 0, 14.3),
    (100, 57.1, 28.6, 35.7, 0, 0),
    (83.3, 60.0, 80.0, 50.0, 60.0, 6.7),
    (100, 28.6, 22.9, 42.9, 0, 0),
)
MOST_IF, MOST_FP = 6, 7


def verdicts(dimension: Dimension, *answers: bool | None, tag: Tag = Tag.VIDEO) -> list[Verdict]:
    sub = {Dimension.ER: Subdimension.RESPONSE, Dimension.IF: Subdimension.CORRECTNESS}
    kind = sub.get(dimension, Subdimension.PRESERVATION)
    return [Verdict(Item(f"{dimension}{n}", dimension, kind, tag, "?"), yes) for n, yes in enumerate(answers)]


def value(said: list[Verdict], dimension: Dimension, scope: str = "overall") -> float | None:
    return share(chosen(said, dimension, scope)).value


@pytest.mark.parametrize(
    ("answer", "yes"),
    [
        ("Yes", True),
        (" yes \n", True),
        ("YES", True),
        ("yes.", False),
        ("Yes, mostly", False),
        ("No", False),
        ("", False),
    ],
)
def test_only_a_bare_yes_affirms(answer: str, yes: bool) -> None:
    assert binary(answer) is yes


def test_the_case_of_the_reference_tests() -> None:
    """Spec 12.3: ER Yes; IF Yes, No; FP Yes, all video."""
    said = [*verdicts(Dimension.ER, True), *verdicts(Dimension.IF, True, False), *verdicts(Dimension.FP, True)]
    for scope in ("overall", "video"):
        following, fidelity = value(said, Dimension.IF, scope), value(said, Dimension.FP, scope)
        assert (following, fidelity) == (0.5, 1.0)
        assert intent(0.5, 1.0) == 0.5
    assert value(said, Dimension.IF, "audio") is None


@pytest.mark.parametrize(
    ("part", "whole", "cell"), [(1, 3, 33.33), (2, 3, 66.67), (1, 6, 16.67), (3, 7, 42.86), (5, 7, 71.43)]
)
def test_percent_cells(part: int, whole: int, cell: float) -> None:
    assert percent(part / whole, rounded=True) == cell
    assert percent(part / whole) == pytest.approx(100 * part / whole)


def test_general_items_count_in_overall_alone() -> None:
    said = [*verdicts(Dimension.FP, True), *verdicts(Dimension.FP, False, tag=Tag.GENERAL)]
    assert value(said, Dimension.FP) == 0.5
    assert value(said, Dimension.FP, "video") == 1.0
    assert value(said, Dimension.FP, "audio") is None


def test_what_was_not_answered_is_left_out_and_counted() -> None:
    found = share(verdicts(Dimension.IF, True, None, False))
    assert (found.value, found.answered, found.asked) == (0.5, 2, 3)
    assert share(verdicts(Dimension.IF, None)).value is None


@pytest.mark.parametrize("shown", sorted({cell for row in PUBLISHED_INTENT for cell in row}))
def test_published_intents_are_products_of_two_shares(shown: float) -> None:
    """Spec 12.2: each equals (a/b)(c/d) with b <= 6 items of instruction and d <= 7 of fidelity, in our arithmetic."""
    found = []
    for b, d in product(range(1, MOST_IF + 1), range(1, MOST_FP + 1)):
        for a, c in product(range(b + 1), range(d + 1)):
            said = [
                *verdicts(Dimension.IF, *([True] * a + [False] * (b - a))),
                *verdicts(Dimension.FP, *([True] * c + [False] * (d - c))),
            ]
            following, fidelity = value(said, Dimension.IF), value(said, Dimension.FP)
            assert following is not None
            assert fidelity is not None
            if round(percent(intent(following, fidelity)), 1) == shown:
                found.append(Fraction(a, b) * Fraction(c, d))
    assert found


@pytest.mark.parametrize(("product_", "shown"), [("2/3*4/7", 38.1), ("2/5*4/7", 22.9), ("1/3*1/5", 6.7)])
def test_the_examples_of_the_specification(product_: str, shown: float) -> None:
    first, second = (Fraction(part) for part in product_.split("*"))
    assert round(100 * intent(float(first), float(second)), 1) == shown


@given(st.integers(1, 6), st.integers(1, 7), st.data())
def test_rounding_moves_an_intent_by_at_most_a_hundredth_of_a_point(b: int, d: int, data: st.DataObject) -> None:
    following, fidelity = data.draw(st.integers(0, b)) / b, data.draw(st.integers(0, d)) / d
    plain, rounded = intent(following, fidelity), intent(following, fidelity, rounded=True)
    assert abs(plain - rounded) <= 1.01e-4
    assert plain <= min(following, fidelity)
