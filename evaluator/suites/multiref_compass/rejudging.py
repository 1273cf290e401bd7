"""Rejudging (section 4): a second look at one checklist item over the outputs of all systems, both values kept.

Needs observations beside grades, so it works on runs of profile `compat`. Items that nobody doubts are not asked about;
at least two systems are needed. The result depends on which systems stood beside each other, so every record names
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluator.judge.rejudge import Grade, Regrade, apply, ask, worth_it
from evaluator.judge.session import JudgeSession
from evaluator.schema import Case, Score, rounded, to_tree
from evaluator.suites.base import Rejudged
from evaluator.suites.multiref_compass import bc, bc_items
from evaluator.suites.multiref_compass.data import of
from evaluator.suites.multiref_compass.graded import SHEETS

RUBRICS = {**{sheet.id: sheet.rubric for sheet in SHEETS}, bc.METRIC.id: bc_items.RUBRIC}


@dataclass(frozen=True, slots=True)
class Group:
    """One item of one sample, as all systems got it."""

    sample: str
    metric: str
    item: str
    question: str
    grades: tuple[Grade, ...]


@dataclass(frozen=True, slots=True)
class Second:
    """What became of a group. `asked` is False where nothing was doubtful."""

    group: Group
    asked: bool
    regrades: tuple[Regrade, ...]
    status: str = ""
    ledger_key: str = ""


def groups(cases: Sequence[Case], scores: Sequence[Score]) -> list[Group]:
    """Items that at least two systems have a grade and an observation for, in the order of the records."""
    samples = {case.id: of(case).sample for case in cases}
    found: dict[tuple[str, str, str], list[Grade]] = defaultdict(list)
    questions: dict[tuple[str, str, str], str] = {}
    for score in scores:
        for item in score.details.get("items", ()) if score.metric in RUBRICS and score.case in samples else ():
            if item.get("grade") is None or "observation" not in item:
                continue
            key = samples[score.case], score.metric, item["id"]
            questions[key] = item["question"]
            found[key].append(Grade(score.system, round(item["grade"]), item["observation"]))
    return [Group(*key, questions[key], tuple(grades)) for key, grades in found.items() if len(grades) >= 2]


def rejudge(found: Sequence[Group], session: JudgeSession) -> list[Second]:
    """Ask about the doubtful groups. A second look that failed changes nothing, and says so."""
    doubtful = [group for group in found if worth_it(group.grades)]
    asked = [
        ask(f"{one.sample}/rejudge/{one.metric}/{one.item}", one.question, one.grades, RUBRICS[one.metric])
        for one in doubtful
    ]
    answers = dict(zip(doubtful, session.ask_all(asked), strict=True))
    return [
        Second(one, True, tuple(apply(one.grades, answers[one])), str(answers[one].status), answers[one].key)
        if one in answers
        else Second(one, False, tuple(Regrade(g.system, g.score, g.score) for g in one.grades))
        for one in found
    ]


def after(cases: Sequence[Case], scores: Sequence[Score], seconds: Sequence[Second]) -> list[Score]:
    """The records with the grades of the second look; the value before stands in the details, changed or not."""
    samples = {case.id: of(case).sample for case in cases}
    changed = {
        (second.group.sample, second.group.metric, second.group.item, one.system): (one, second)
        for second in seconds
        for one in second.regrades
    }
    return [_after(score, samples.get(score.case, ""), changed) for score in scores]


Changes = Mapping[tuple[str, str, str, str], tuple[Regrade, Second]]


def _after(score: Score, sample: str, changed: Changes) -> Score:
    items = score.details.get("items")
    if score.value is None or score.metric not in RUBRICS or not items:
        return score
    again = [_item(item, changed.get((sample, score.metric, item["id"], score.system))) for item in items]
    beside = {name for item in again for name in item.get("beside", ())}
    if not beside:
        return score
    grades = [item["grade"] for item in again if item["grade"] is not None]
    details = {**score.details, "items": again, "before": score.value, "beside": sorted(beside)}
    return replace(score, value=rounded(sum(grades) / len(grades)), details=details)


def _item(item: Mapping[str, Any], found: tuple[Regrade, Second] | None) -> dict[str, Any]:
    if found is None:
        return dict(item)
    regrade, second = found
    told = {"beside": sorted(grade.system for grade in second.group.grades)}
    if regrade.after == regrade.before:
        return {**item, **told, **({"rejected": regrade.rejected} if regrade.rejected else {})}
    return {**item, **told, "grade": float(regrade.after), "before": item["grade"], "reason": regrade.reason}


def second_look(cases: Sequence[Case], scores: Sequence[Score], session: JudgeSession) -> Rejudged:
    """Everything at once: what `evaluator rejudge` runs."""
    seconds = rejudge(groups(cases, scores), session)
    log = [
        {
            "sample": one.group.sample,
            "metric": one.group.metric,
            "item": one.group.item,
            "asked": one.asked,
            "status": one.status,
            "ledger_key": one.ledger_key,
            "grades": [to_tree(regrade) for regrade in one.regrades],
        }
        for one in seconds
    ]
    return Rejudged(tuple(after(cases, scores, seconds)), tuple(log))
