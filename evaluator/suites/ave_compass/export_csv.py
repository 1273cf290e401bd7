"""The results as the reference writes them: one CSV row per case, with its column names and order (spec 8).

Scores are the reference's: objective and checklist cells, checklist_score 0..1, percentages for judged cells. A cell
without a value is empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from evaluator.schema import Case, Score
from evaluator.suites.ave_compass.cells import Records
from evaluator.suites.ave_compass.judged import FAMILIES, INTENT, REALISM, metric_id
from evaluator.suites.ave_compass.routing import ROUTING, branch_for
from evaluator.suites.ave_compass.scoring import PERCENT, SCOPES

_HEAD = (
    "id",
    "sample_id",
    "model_name",
    "instruction_id",
    "case_name",
    "src_video_name",
    "edited_video_name",
    "category",
)
_JUDGED = tuple((family, scope) for family in FAMILIES if family != REALISM for scope in SCOPES)
COLUMNS = (
    *_HEAD,
    "active_metrics",
    *ROUTING,
    "checklist_score",
    "checklist_raw_score",
    "checklist_success",
    *(f"{family}_{scope}" for family, scope in _JUDGED),
    *(f"{REALISM}_{scope}" for scope in SCOPES),
    "realism_success",
    "warnings",
)


def rows(cases: Sequence[Case], scores: Sequence[Score]) -> Iterator[dict[str, str]]:
    """One row per case, in their order."""
    records = Records(cases, scores)
    profile = scores[0].profile if scores else "paper"
    for case in cases:
        yield {**_facts(case, profile), **_objective(records, case), **_judged(records, case)}


def text(cases: Sequence[Case], scores: Sequence[Score]) -> str:
    """The whole file."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(cases, scores))
    return buffer.getvalue()


def _facts(case: Case, profile: str) -> dict[str, str]:
    branch = branch_for(case, profile)
    sample = case.id.removesuffix(f"/{case.system}")  # a manifest of several systems has ids `sample/system`
    source = case.source.stem if case.source is not None else ""
    number = case.data.get("instruction_id")
    return {
        "id": str(case.data.get("compat_id") or f"{case.system}/{sample}"),
        "sample_id": sample,
        "model_name": case.system,
        "instruction_id": "" if number is None else str(number),
        "case_name": str(case.data.get("case_name") or source or sample),
        "src_video_name": case.source.name if case.source is not None else "",
        "edited_video_name": case.video.name,
        "category": branch,
        "active_metrics": ";".join(metric for metric, branches in ROUTING.items() if branch in branches),
    }


def _objective(records: Records, case: Case) -> dict[str, str]:
    return {metric: _number(records, case, metric) for metric in ROUTING}


def _judged(records: Records, case: Case) -> dict[str, str]:
    cells = {f"{family}_{scope}": _percent(records, case, metric_id(family, scope)) for family, scope in _JUDGED}
    cells |= {f"{REALISM}_{scope}": _percent(records, case, metric_id(REALISM, scope)) for scope in SCOPES}
    intent = _number(records, case, INTENT)
    return {
        "checklist_score": intent,
        "checklist_raw_score": _percent(records, case, INTENT),
        "checklist_success": str(bool(intent)),
        **cells,
        "realism_success": str(bool(cells[f"{REALISM}_overall"])),
        "warnings": " | ".join(_warnings(records, case)),
    }


def _warnings(records: Records, case: Case) -> Iterator[str]:
    """Why a cell is empty, and what was not answered."""
    for metric in (*ROUTING, *(metric_id(family) for family in FAMILIES)):
        score = records[case, metric]
        if score is not None and score.reason is not None and score.reason.code != "not_applicable":
            yield f"{metric}: {score.reason.code}: {' '.join(score.reason.message.split())}"
        missing: Mapping[str, str] = score.details.get("unanswered", {}) if score is not None else {}
        if missing:
            yield f"{metric}: no answer to {', '.join(missing)}"


def _number(records: Records, case: Case, metric: str) -> str:
    score = records[case, metric]
    return "" if score is None or score.value is None else repr(score.value)


def _percent(records: Records, case: Case, metric: str) -> str:
    score = records[case, metric]
    return "" if score is None or score.value is None else repr(round(PERCENT * score.value, 2))
