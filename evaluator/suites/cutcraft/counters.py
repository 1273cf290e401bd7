"""What one sample cost beside what it costs in the reference (spec 14).

From records: calls of the judge (each counted once, however many dimensions use its answer) and models. From the header
of a run: decodes. Knows no clip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from evaluator.schema import Score, Status
from evaluator.suites.board import Board

REFERENCE: Mapping[str, float | None] = {
    "calls of the judge": 38.0,
    "models": 14.0,
    "decodes of the file": 19.0,
}
"""Of an average sample: 4.16 shots, 3.16 transitions, 24 frames a second. Twelve decodes of the video, five whole and
seven in part, and seven of the sound; here pictures and sound come out of one pass."""


def calls(scores: Sequence[Score]) -> dict[str, int]:
    """Case -> distinct calls of the judge behind its records."""
    found: dict[str, set[str]] = {}
    for score in scores:
        found.setdefault(score.case, set()).update(score.details.get("calls", ()))
    return {case: len(own) for case, own in found.items()}


def models(scores: Sequence[Score]) -> dict[str, int]:
    """Case -> models behind its records, the judge left out."""
    found: dict[str, set[str]] = {}
    for score in scores:
        if score.status is not Status.OK:
            continue
        asked = bool(score.details.get("calls"))
        own = score.models[:-1] if asked else score.models
        found.setdefault(score.case, set()).update(model.id for model in own)
    return {case: len(own) for case, own in found.items()}


def board(scores: Sequence[Score], header: Mapping[str, Any] | None = None) -> Board:
    """Means per sample; decodes only if the header of the run is given."""
    per_case = calls(scores)
    rows: list[tuple[str, float | None, float | None]] = [
        ("calls of the judge", _mean(per_case), REFERENCE["calls of the judge"]),
        ("models", _mean(models(scores)), REFERENCE["models"]),
    ]
    telemetry = (header or {}).get("telemetry", {}).get("counters", {})
    if "decode_passes" in telemetry and per_case:
        rows.append(
            ("decodes of the file", telemetry["decode_passes"] / len(per_case), REFERENCE["decodes of the file"])
        )
    notes = (
        f"means over {len(per_case)} samples; the reference's figures are for 4.16 shots and 3.16 transitions.",
        "a question that several dimensions put in the same words is asked once.",
        *(() if header else ("decodes: `evaluator cutcraft counters RUN` (from run.json).",)),
    )
    return Board("counters", "What a sample costs", ("per sample", "here", "reference"), tuple(rows), notes, decimals=1)


def _mean(found: Mapping[str, int]) -> float | None:
    return fmean(found.values()) if found else None
