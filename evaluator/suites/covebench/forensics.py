"""Open-ended passes of the error analysis: how many violations of physics, and faults of rendering, a viewer would see.

The prompts of the paper are not published: wording, answer and counting are ours. A judge lists issues with a time span
and a severity of 1 to 3; issues of one subtype whose spans overlap or touch are one, as severe as the worst of them;
those of at least severity 2 are counted. The judge sees the edited clip and the instruction, so that a style that was
asked for is no fault. Source: CoVEBench 8.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from evaluator.judge.evidence import clip_frames
from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Question
from evaluator.media.types import Frames
from evaluator.metrics.answers import accepted, evidence
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import Case, FramesNeed
from evaluator.suites.covebench.judged import BUDGET, VIEW

SEVERE = 2
"""From this severity on a viewer notices."""

Issue = Mapping[str, Any]


def ask(case: Case, output: Frames, *, prompt: str) -> list[Question]:
    """One question about the whole clip."""
    part = clip_frames(output, "Video B", BUDGET).part
    return [load(prompt).ask(f"{case.id}/{prompt}", [part], {"instruction": case.prompt})]


def merged(issues: Sequence[Issue]) -> list[dict[str, Any]]:
    """Issues of one subtype with overlapping spans as one; spans given backwards are turned round. By start time."""
    ordered = sorted((_forward(issue) for issue in issues), key=lambda issue: (issue["start_s"], issue["end_s"]))
    found: list[dict[str, Any]] = []
    for issue in ordered:
        same = [one for one in found if one["subtype"] == issue["subtype"] and issue["start_s"] <= one["end_s"]]
        if same:
            same[-1]["end_s"] = max(same[-1]["end_s"], issue["end_s"])
            same[-1]["severity"] = max(same[-1]["severity"], issue["severity"])
        else:
            found.append(issue)
    return found


def _forward(issue: Issue) -> dict[str, Any]:
    start, end = sorted((float(issue["start_s"]), float(issue["end_s"])))
    return {**issue, "subtype": " ".join(str(issue["subtype"]).lower().split()), "start_s": start, "end_s": end}


def compute(answers: Sequence[Answer], output: Frames) -> Outcome:
    """Number of severe issues of one clip. Raises NotApplicable or AnswerError for an answer that is none."""
    answer = accepted(answers[0])
    issues = merged(answer.value["issues"])
    count = sum(issue["severity"] >= SEVERE for issue in issues)
    details = {"issues": issues, "listed": len(answer.value["issues"]), "ledger_key": answer.key}
    return Outcome(float(count), details={**details, "evidence": evidence(answers)})


def _metric(name: str, title: str, what: str, prompt: str) -> Metric:
    return Metric(
        id=name,
        version=1,
        title=title,
        summary=f"How many {what} a judge lists that a viewer would notice.",
        direction=Direction.LOWER,
        range=(0.0, None),
        unit="issues",
        paper="CoVEBench 8.1, counted in our way",
        needs={"output": FramesNeed(VIEW)},
        compute=compute,
        judged=Judged(partial(ask, prompt=prompt), reads=("prompt",), prompts=(prompt,)),
    )


PHYSICS = _metric("physics_issues", "Physics issues", "violations of physics", "cove_physics")
ARTIFACTS = _metric("artifact_issues", "Artifact issues", "faults of generation or rendering", "cove_artifacts")

METRICS = (PHYSICS, ARTIFACTS)
