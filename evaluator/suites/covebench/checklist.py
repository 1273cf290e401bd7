"""The four judge scores of one task: IFS, VRS, UAS and SEM, and the superseded UAS of whole tasks.

    ifs       share of its execution questions that are right
    vrs       share of its questions about physical logic that are right
    uas       share of its edits of which every such question is right
    sem       mean grade of what was to stay, times ten
    uas_task  whether every question of the first two kinds is right (superseded)

The benchmark's figures are not means of these over tasks: it pools questions and edits of all tasks, which the tables
do (`boards`). A question without an answer is wrong (the lowest grade, for SEM), so that a judge that fails raises no
score; in `compat` it vanishes, as in the reference, and failures can raise UAS; `data.missing` of the cases chooses one
of the two in any profile, and the details name it. A task without any answer has no value.
All five share one set of questions. Source: CoVEBench 3.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

from evaluator.errors import AnswerError, NotApplicable
from evaluator.judge.types import Answer
from evaluator.media.types import Frames
from evaluator.metrics.answers import NOBODY, evidence
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import Case, FramesNeed
from evaluator.suites.covebench import tally
from evaluator.suites.covebench.judged import BATCHED, ONE_BY_ONE, VIEW, Asking, Verdict
from evaluator.suites.covebench.questions import Dimension, groups_of
from evaluator.suites.covebench.rules import UNANSWERED, Missing, missing_rule

UNION = frozenset({Dimension.IFS, Dimension.VRS})


def dimension_score(
    case: Case,
    answers: Sequence[Answer],
    output: Frames,
    source: Frames,
    *,
    dimension: Dimension,
    asking: Asking = ONE_BY_ONE,
    missing: Missing = "wrong",
) -> Outcome:
    """IFS or VRS, 0..100, or SEM, 10..100, of one task. `raw`: the same from probabilities instead of decisions.

    Raises NotApplicable for a task without such questions, AnswerError if none of them has an answer.
    """
    mine, missing = _relevant(asking.read(case, answers), frozenset({dimension})), missing_rule(case, missing)
    full = tally.FULL[dimension]
    scores = {verdict.item.id: verdict.score for verdict in mine}
    found = tally.pooled([(groups_of(case), scores)], dimension, missing)
    soft = [verdict.soft for verdict in mine if verdict.soft is not None]
    details = {**_account(mine, answers, missing), "questions": [verdict.record() for verdict in mine]}
    return Outcome(_value(found.value), full * fmean(soft) if soft else None, details)


def union_score(
    case: Case,
    answers: Sequence[Answer],
    output: Frames,
    source: Frames,
    *,
    asking: Asking = ONE_BY_ONE,
    missing: Missing = "wrong",
) -> Outcome:
    """UAS of one task, 0..100: the share of its edits of which every question is right. Errors as above.

    Details: the edits with the scores of their questions, and what the scalability tables bin by.
    """
    mine, missing = _relevant(asking.read(case, answers), UNION), missing_rule(case, missing)
    scores = {verdict.item.id: verdict.score for verdict in mine}
    groups = groups_of(case)
    found = tally.pooled_union([(groups, scores)], missing)
    details = {
        **_account(mine, answers, missing),
        "edits": [
            {
                "target": group.target,
                "right": tally.union(group, scores, missing),
                "scores": {item.id: scores[item.id] for item in group.union},
            }
            for group in groups
            if group.union
        ],
        "output_frames": output.clip.video.frames if output.clip.video else None,
        "source_seconds": source.clip.video.duration if source.clip.video else None,
    }
    return Outcome(_value(found.value), details=details)


def task_union_score(
    case: Case,
    answers: Sequence[Answer],
    output: Frames,
    source: Frames,
    *,
    asking: Asking = ONE_BY_ONE,
    missing: Missing = "wrong",
) -> Outcome:
    """100 if every IFS and VRS question of the task is right, else 0. Raises NotApplicable unless it has both kinds."""
    mine, missing = _relevant(asking.read(case, answers), UNION), missing_rule(case, missing)
    scores = {verdict.item.id: verdict.score for verdict in mine}
    found = tally.task_union((groups_of(case), scores), missing)
    if found is None:
        raise NotApplicable("not_applicable", "A task needs scored questions of both kinds, IFS and VRS.")
    return Outcome(100.0 * found, details=_account(mine, answers, missing))


def _relevant(verdicts: Sequence[Verdict], dimensions: frozenset[Dimension]) -> list[Verdict]:
    """The verdicts that a score rests on. Raises NotApplicable if there are none, AnswerError if none is usable."""
    mine = [verdict for verdict in verdicts if verdict.item.dimension in dimensions]
    if not mine:
        raise NotApplicable("not_applicable", f"No question of the task is about {' or '.join(sorted(dimensions))}.")
    if any(verdict.score is not None for verdict in mine):
        return mine
    found = Counter(verdict.status for verdict in mine)
    told = ", ".join(f"{status} {count}" for status, count in sorted(found.items()))
    message = f"no question of {len(mine)} has an answer ({told}); first: {mine[0].details.get('message', '')}"
    if found.keys() <= set(map(str, NOBODY)):
        raise NotApplicable("no_judge", message)
    raise AnswerError(UNANSWERED, message)


def _account(mine: Sequence[Verdict], answers: Sequence[Answer], missing: Missing) -> dict[str, Any]:
    """How many questions stand behind a value, and of what kind the answers are."""
    return {
        "asked": len(mine),
        "answered": sum(verdict.score is not None for verdict in mine),
        "missing": missing,
        "near_ties": sum(verdict.near_tie for verdict in mine),
        "evidence": evidence(answers),
    }


def _value(found: float | None) -> float:
    """The value of a share that is known to rest on something."""
    if found is None:
        raise ValueError("a share over scored questions has no value")
    return found


NEEDS = {"output": FramesNeed(VIEW, "video"), "source": FramesNeed(VIEW, "source")}


def _metric(
    name: str, title: str, summary: str, compute: Callable[..., Outcome], low: float = 0.0, section: str = "3.5"
) -> Metric:
    return Metric(
        id=name,
        version=2,
        title=title,
        summary=summary,
        direction=Direction.HIGHER,
        range=(low, 100.0),
        unit="",
        paper=f"CoVEBench {section}",
        needs=NEEDS,
        compute=compute,
        judged=ONE_BY_ONE.judged,
        reads=("checklist", "data"),
    )


UAS = _metric("uas", "UAS", "Share of edits that are entirely right, in percent.", union_score)
IFS = _metric(
    "ifs",
    "IFS",
    "Share of execution questions that are right, in percent.",
    partial(dimension_score, dimension=Dimension.IFS),
)
VRS = _metric(
    "vrs",
    "VRS",
    "Share of questions about physical logic that are right, in percent.",
    partial(dimension_score, dimension=Dimension.VRS),
)
SEM = _metric(
    "sem",
    "SEM",
    "Mean grade of what was to stay as it was, times ten.",
    partial(dimension_score, dimension=Dimension.SEM),
    low=10.0,
)
UAS_TASK = _metric(
    "uas_task", "UAS (task)", "100 if every question about the edits of a task is right, else 0.", task_union_score
)

METRICS = (UAS, IFS, VRS, SEM, UAS_TASK)


def _compat(metric: Metric) -> Metric:
    """The metric as the reference computes it. Its grades are not kept within 1..10."""
    compute = partial(metric.compute, asking=BATCHED, missing="reference")
    free = (None, None) if metric is SEM else metric.range
    return replace(metric, compute=compute, judged=BATCHED.judged, range=free)


COMPAT = {metric.id: _compat(metric) for metric in METRICS}
