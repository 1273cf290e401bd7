"""Cases and records made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluator.schema import Case, ModelRef, Reason, Score, Status, Tier

RIFE = ModelRef("rife", "0" * 64, Tier.EMBEDDED, "AMT-G")
AMT = ModelRef("amt_g", "1" * 64, Tier.REFERENCE)


def case(name: str, branch: str, system: str = "model", **data: Any) -> Case:
    return Case(
        id=name,
        suite="ave_compass",
        video=Path("edited.mp4"),
        source=Path("source.mp4"),
        system=system,
        prompt="Let it rain.",
        category=branch,
        data=data,
    )


def record(
    name: str,
    metric: str,
    value: float | None = None,
    reason: str = "",
    system: str = "model",
    models: tuple[ModelRef, ...] = (),
    **details: Any,
) -> Score:
    """A record with a value, or without one for `reason` (an error code if it is no skip reason)."""
    skips = {"not_applicable", "unavailable", "no_judge", "filtered"}
    status = Status.OK if not reason else Status.SKIPPED if reason in skips else Status.FAILED
    return Score(
        case=name,
        suite="ave_compass",
        system=system,
        metric=metric,
        value=value,
        status=status,
        reason=Reason(reason, "made up") if reason else None,
        raw=None,
        details=details,
        models=models,
        profile="paper",
        fingerprint="f" * 64,
    )
