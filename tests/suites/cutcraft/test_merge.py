"""Formulas and merge rules: the golden numbers of spec 15.1, 15.3, and what a missing part does."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.suites.cutcraft import merge, scoring
from evaluator.suites.cutcraft.parsing import reference_letter, reference_yes_no

LETTERS = "ABCDEFGHIJKLM"


def test_events() -> None:
    assert merge.events([1.0, 0.5, 0.1, None]) == pytest.approx(0.4)
    assert merge.events([1.0, 0.5, 0.1, None], scoring.GRADE_VECTORS["floor"]) == pytest.approx(0.55)


@pytest.mark.parametrize(
    ("forward", "backward", "wanted"),
    [(1, 0, 1.0), (1, 1, 0.3), (1, 0.5, 0.65), (0.75, 0.25, 0.4875), (0.5, 0.5, 0.15), (0.5, 0, 0.325)],
)
def test_chain(forward: float, backward: float, wanted: float) -> None:
    assert scoring.chain_score(forward, backward) == pytest.approx(wanted)


def test_causality_needs_only_one_half() -> None:
    assert scoring.causality(1.0, 0.3) == pytest.approx(0.65)
    assert scoring.causality(None, 0.3) == 0.3
    assert scoring.causality(1.0, None) == 1.0
    assert scoring.causality(None, None) is None


def test_threads() -> None:
    assert scoring.threads_score(0.5, [True, False], 2) == pytest.approx(0.5)
    assert scoring.threads_score(1.0, [], 2) == pytest.approx(0.5)


def test_style_rank_decay() -> None:
    wanted = [1, 0.5134, 0.2636, 0.1353, 0.0695, 0.0357, 0.0183, 0.0094, 0.0048]
    assert [scoring.style_decay(rank) for rank in range(1, 10)] == pytest.approx(wanted, abs=5e-5)
    cosines = {"a": np.array([0.2, 0.3]), "b": np.array([0.25, 0.35]), "c": np.array([0.1, 0.1])}
    assert [scoring.style_rank(cosines, name) for name in "abc"] == [2, 1, 3]


def test_thread_weights() -> None:
    assert scoring.thread_weights([0, 1, 0, 1, 0]) == pytest.approx({0: 0.6, 1: 0.4})


def test_transitions_without_anybody_count_nothing() -> None:
    expert = merge.transitions([0.9, None, None, None], [None, None, 1.0, 0.0])
    assert expert == pytest.approx(0.475)
    assert merge.mean_of(expert, 1.0) == pytest.approx(0.7375)
    assert merge.mean_of(None, 1.0) == 1.0
    assert merge.mean_of(None, None) is None


def test_camera_credits() -> None:
    assert [scoring.camera_credit("scale", "CU", one) for one in ("CU", "ECU", "MS", "FS")] == [1.0, 0.7, 0.3, 0.0]
    assert scoring.camera_credit("motion", "Truck", "Tracking") == 0.5
    assert scoring.camera_credit("motion", "Truck", "Pan") == 0.0
    assert scoring.camera_credit("depth", "Macro", "Telephoto") == 0.5
    assert scoring.camera_credit("angle", "Dutch", "POV") == 0.0


def test_choices_stand_in_the_references_order() -> None:
    """Spec 7, E1: a letter that is guessed out of text (D-12) depends on it."""
    listed = "Pan Tilt Dolly-In Dolly-Out Tracking Truck Arc Crane Handheld Steadicam Zoom Dolly_Zoom Static"
    assert [name.replace(" ", "_") for name in scoring.MOTIONS] == listed.split()
    assert [name for name in scoring.MOTIONS_WHOLE if name != "Roll"] == [*scoring.MOTIONS[:-2], "Static"]


def test_modes_cover_all_dimensions() -> None:
    assert len(merge.MODES) == 16
    assert merge.overall({"A1": 1.0, "F2": 0.5}) == 0.75
    assert merge.overall({}) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("C", "C"),
        ("C. Dolly-In", "C"),
        ("The answer is C", "C"),
        ("Answer: C", "A"),
        ("Based on the clip, C", "B"),
        ("(C)", None),
        ("**C**", None),
        ("Dutch angle", "D"),
        ("ERROR: timeout", None),
    ],
)
def test_the_reference_guesses_letters(text: str, wanted: str | None) -> None:
    """D-12."""
    assert reference_letter(text, LETTERS) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Not really", "No"),
        ("Unknown", "No"),
        ("Yes, not exactly", "Yes"),
        ("Not yes", "No"),
        ("Yes", "Yes"),
        ("?", None),
    ],
)
def test_the_reference_guesses_yes(text: str, wanted: str | None) -> None:
    assert reference_yes_no(text) == wanted
