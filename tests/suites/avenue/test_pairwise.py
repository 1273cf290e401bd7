"""Direct comparison: both orders, what is excluded and counted, and what a table makes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.judge.types import FramesPart, Question, Raw, TextPart
from evaluator.metrics.base import Outcome
from evaluator.runner.outcome import Absent
from evaluator.schema import Score
from evaluator.suites.avenue import SUITE
from evaluator.suites.avenue.comparison import board
from tests.suites.avenue.cases import case, pictures, record, tone
from tests.suites.judging import Court, label

METRIC = SUITE.metric("pairwise_perceptual_quality")
OUTPUT, RIVAL = pictures(60), pictures(200)


def asked(folder: Path, verdicts: dict[str, str]) -> Outcome | Absent:
    one = case("B", rival="r")
    with Court(folder, lambda question: label(question, verdicts[question.item.rsplit("/", 1)[-1]])) as court:
        return court.hear(METRIC, one, output_frames=OUTPUT, rival_frames=RIVAL)


@pytest.mark.parametrize(("verdicts", "value"), [(("A", "B"), 1.0), (("B", "A"), 0.0)])
def test_the_same_system_in_both_orders(tmp_path: Path, verdicts: tuple[str, str], value: float) -> None:
    found = asked(tmp_path, dict(zip(("output_first", "rival_first"), verdicts, strict=True)))
    assert isinstance(found, Outcome)
    assert (found.value, found.details["rival"]) == (value, "r")


@pytest.mark.parametrize(
    ("verdicts", "why"),
    [(("A", "A"), "order_inconsistent"), (("B", "B"), "order_inconsistent"), (("C", "B"), "tie"), (("A", "C"), "tie")],
)
def test_ties_and_changes_of_mind_are_excluded(tmp_path: Path, verdicts: tuple[str, str], why: str) -> None:
    found = asked(tmp_path, dict(zip(("output_first", "rival_first"), verdicts, strict=True)))
    assert isinstance(found, Absent)
    assert found.reason.code == "filtered"
    assert found.reason.message.startswith(why)


def test_the_second_question_shows_the_clips_swapped(tmp_path: Path) -> None:
    seen: list[dict[str, str]] = []

    def reply(question: Question) -> Raw:
        seen.append({part.name: part.sha256 for part in question.parts if isinstance(part, FramesPart)})
        return label(question, "C")

    with Court(tmp_path, reply) as court:
        court.hear(METRIC, case("B", rival="r"), output_frames=OUTPUT, rival_frames=RIVAL)
    first, second = seen
    assert first["first"] == second["second"] != first["second"] == second["first"]


def test_all_clips_of_a_question_are_shown_at_the_same_times(tmp_path: Path) -> None:
    """A request has one list of times: the rival at half the rate shows its nearest frames."""
    slow = replace(RIVAL, data=RIVAL.data[:4], index=RIVAL.index[::2], time=RIVAL.time[::2])
    metric = SUITE.metric("pairwise_edit_accuracy")
    with Court(tmp_path, lambda question: label(question, "C")) as court:
        court.hear(metric, case("B", rival="r"), output_frames=OUTPUT, rival_frames=slow, source_frames=pictures(1))
        for question in court.asked:
            shown = [part for part in question.parts if isinstance(part, FramesPart)]
            assert {part.name for part in shown} == {"source", "first", "second"}
            assert len({part.times for part in shown}) == 1


@pytest.mark.parametrize(
    ("dimension", "scope", "told"),
    [
        ("edit_accuracy", "A", {"instruction": "Let a bell ring.", "changed": "a bell rings", "preserved": "wind"}),
        ("edit_accuracy", "B", {"instruction": "Let a bell ring.", "changed": "a bell rings", "preserved": "a tree"}),
        ("modality_selectivity", "B", {"instruction": "Let a bell ring.", "preserved": "wind\na tree"}),
        ("perceptual_quality", "B", {}),
        ("av_consistency", "C", {"instruction": "Let a bell ring.", "changed": "a bell rings"}),
    ],
)
def test_a_judge_of_two_clips_is_told_what_the_aspect_speaks_of(
    tmp_path: Path, dimension: str, scope: str, told: dict[str, str]
) -> None:
    """Changes that the aspect calls "listed" are listed."""
    metric, one = SUITE.metric(f"pairwise_{dimension}"), case(scope, rival="r")
    given = {name: tone() if name.endswith("_sound") else pictures(9) for name in metric.needs_for(one)}
    with Court(tmp_path, lambda question: label(question, "C")) as court:
        court.hear(metric, one, **given)
        for question in court.asked:
            blocks = {part.name: part.text for part in question.parts if isinstance(part, TextPart) and part.untrusted}
            assert blocks.pop("question")
            assert blocks == told


def won(system: str, rival: str, value: float | None, case_id: str, why: str = "") -> Score:
    reason = "filtered" if why in {"tie", "order_inconsistent"} else "no_judge"
    return record(METRIC.id, value, case_id, system, reason=reason, message=f"{why}: told")


def test_win_rates_and_what_was_left_out() -> None:
    """x beats y and z, y and z disagree once and tie once: x 1, y 0, z 0."""
    scores = [
        won("x", "y", 1.0, "1/x"),
        won("z", "x", 0.0, "2/z"),
        won("y", "z", None, "3/y", "order_inconsistent"),
        won("y", "z", None, "4/y", "tie"),
        won("y", "z", None, "5/y", "no_judge"),
    ]
    rivals = {"1/x": "y", "2/z": "x", "3/y": "z", "4/y": "z", "5/y": "z"}
    cases = [case("B", name=score.case, system=score.system, rival=rivals[score.case]) for score in scores]
    table = board(cases, scores)
    assert table is not None
    rows = {row[1]: row[2:] for row in table.rows}
    assert rows["x"] == (1.0, 2, 0, 0, 0)
    assert rows["y"] == (0.0, 1, 1, 1, 1)
    assert rows["z"] == (0.0, 1, 1, 1, 1)
    shuffled = board(cases[::-1], scores[::-1])
    assert shuffled is not None
    assert {row[1]: row[2:] for row in shuffled.rows} == rows
