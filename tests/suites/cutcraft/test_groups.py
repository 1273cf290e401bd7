"""Groups, pairs, displacement, sensitivity, agreement and counters on records written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluator.errors import UsageError
from evaluator.report.boards import printed
from evaluator.schema import Case, Score, Status
from evaluator.suites.cutcraft import agreement, counters, displacement, sensitivity
from evaluator.suites.cutcraft.boards import boards
from evaluator.suites.cutcraft.groups import DIMENSIONS, group_of, membership, overall, samples
from evaluator.suites.cutcraft.kinds import ORDER, kinds
from evaluator.suites.cutcraft.pairwise import pairs
from tests.suites.cutcraft.cases import case


def record(one: Case, metric: str, value: float, **details: object) -> Score:
    return Score(
        case=one.id, suite="cutcraft", system=one.system, metric=metric, value=value, status=Status.OK, reason=None,
        raw=None, details=details, models=(), profile="paper", fingerprint="",
    )  # fmt: skip


def output(number: int, system: str, **more: object) -> Case:
    made = case(prompt_id=number)
    return replace(made, id=f"{number}/{system}", system=system, **more)  # type: ignore[arg-type]


def test_membership_covers_every_dimension_once() -> None:
    for division in ("six", "two"):
        assert sorted(name for members in membership(division).values() for name in members) == sorted(DIMENSIONS)
    assert sum(map(len, membership("families").values())) == 13


def test_overall_is_the_mean_of_cells_and_not_of_means() -> None:
    own = {1: {"A1": 1.0, "B1": 0.0}, 2: {"A1": 1.0}}
    assert overall(own) == pytest.approx(2 / 3)
    assert group_of(own[1], ("A1", "A2")) == 1.0
    assert group_of({}, ("A1",)) is None


def test_pairs_are_corrected_and_paired_by_prompt() -> None:
    better = {n: {"A1": 0.9 + 0.001 * (n % 3)} for n in range(20)}
    worse = {n: {"A1": 0.5 + 0.01 * (n % 5), "F2": 1.0} for n in range(20)}
    (first, second, third) = pairs({"x": better, "y": worse, "z": dict(better)})
    assert first.significant
    assert first.difference == pytest.approx(0.38, abs=0.01)
    assert not second.significant
    assert second.difference == 0.0
    assert third.p is not None
    assert third.adjusted is not None
    assert third.adjusted >= third.p


def test_a_displaced_clip_keeps_its_place_and_takes_another_script() -> None:
    lines = [
        {"id": f"{n}/{s}", "system": s, "video": f"{n}{s}.mp4", "prompt": f"p{n}",
         "data": {"prompt_id": n}, "labels": {}}
        for s in "xy" for n in range(4)
    ]  # fmt: skip
    made = displacement.displaced(lines, 3)
    assert [(one["id"], one["prompt"], one["data"]) for one in made[:2]] == [
        ("0/x", "p3", {"prompt_id": 3, "shown": 0}),
        ("1/x", "p0", {"prompt_id": 0, "shown": 1}),
    ]
    assert "labels" not in made[0]
    with pytest.raises(UsageError, match="changes nothing"):
        displacement.displaced(lines, 4)


def test_displacement_board() -> None:
    one = output(1, "x")
    own = [record(one, name, value) for name, value in (("a2", 0.9), ("e1", 0.5), ("f2", 0.5))]
    other = [record(one, name, value) for name, value in (("a2", 0.1), ("e1", 0.25), ("f2", 0.5))]
    rows = displacement.board([one], own, [one], other).rows
    assert [(row[0], row[1], row[5]) for row in rows] == [
        ("A2", "must drop", pytest.approx(-0.8)),
        ("E1", "not said", -0.25),
        ("F2", "must stay", 0.0),
    ]


def test_sensitivity_gives_the_records_own_values_by_default() -> None:
    a2 = record(output(1, "x"), "a2", 0.4, grades=[1.0, 0.5, 0.1, None])
    assert sensitivity.a2_value(a2, (1.0, 0.5, 0.1, 0.0)) == pytest.approx(0.4)
    assert sensitivity.a2_value(a2, (1.0, 0.6, 0.2, 0.0)) == pytest.approx(0.45)
    lost = record(output(1, "x"), "a2", 0.75, grades=[1.0, None, 0.5], unanswered=[2])
    assert sensitivity.a2_value(lost, (1.0, 0.5, 0.1, 0.0)) == 0.75  # of the two events that were graded
    chains = [{"forward": 1.0, "reversed": 0.5}]
    a3 = record(output(1, "x"), "a3", 0.0, question=1.0, counterfactual=0.65, chains=chains, threads_parts=[None, None])
    assert sensitivity.a3_value(a3, False, 0.3, 0.5) == pytest.approx(0.825)
    assert sensitivity.a3_value(a3, False, 0.5, 1.0) == pytest.approx(0.75)


def test_alignment_and_agreement_with_people() -> None:
    found = agreement.alignment([0, 1, 1, -1], [0, 1, 2, 2])
    assert (found.precision, found.recall, found.f1) == pytest.approx((2 / 3, 0.5, 4 / 7))
    labels = {"segments": [1, 2], "dimensions": {"D2": [[1, 1, 0], [0, 0, 0], [1, 0]]}}
    one = output(1, "x", labels=labels)
    items = [{"credit": 1.0}, {"credit": 1.0}, {"credit": 0.0}]
    scored = [record(one, "d2", 0.6, transitions=items, alignment={"labels": [0, 1], "method": "judge"})]
    assert agreement.agreements([one], scored) == {"D2": (1, 2)}
    events = output(1, "x", labels={"dimensions": {"A2": [[1], [1], [0]]}})
    graded = record(events, "a2", 0.5, grades=[1.0, None, None], unanswered=[2])
    assert agreement.agreements([events], [graded]) == {"A2": (2, 2)}  # a missing shot is a verdict, silence is none
    assert agreement.alignments([one], scored)["x"].f1 == 1.0


def test_calls_are_counted_once_per_sample() -> None:
    one = output(1, "x")
    found = [record(one, "a2", 1.0, calls=["k1", "k2"]), record(one, "a3", 1.0, calls=["k1", "k3"])]
    assert counters.calls(found) == {"1/x": 3}
    rows = {row[0]: row[1:] for row in counters.board(found, {"telemetry": {"counters": {"decode_passes": 1}}}).rows}
    assert rows["calls of the judge"] == (3.0, 38.0)
    assert rows["decodes of the file"] == (1.0, 19.0)


def test_samples_aligned_by_order_have_rows_of_their_own() -> None:
    cases = [output(n, "x") for n in (1, 2)]
    found = [
        record(cases[0], "b1", 0.9, alignment={"method": "judge", "labels": []}),
        record(cases[1], "b1", 0.1, alignment={"method": "order", "labels": []}),
    ]
    assert kinds(found) == {"1/x": (), "2/x": (ORDER,)}
    tables = {board.id: board for board in boards(cases, found)}
    assert [(row[0], row[2]) for row in tables["main"].rows] == [("x", 0.9), (f"x [{ORDER}]", 0.1)]
    assert all(printed(board) for board in tables.values())
    assert samples(cases, found)["x"][1] == {"B1": 0.9}
