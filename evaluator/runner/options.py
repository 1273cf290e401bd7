"""What a person may choose about a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evaluator.runner.judging import NOBODY, JudgeChoice


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The choices, as they were given; nothing here is looked up yet."""

    out: Path
    workers: int
    metrics: tuple[str, ...] = ()  # empty: all
    suites: tuple[str, ...] = ()  # empty: all that the manifest names
    limit: int | None = None
    shard: tuple[int, int] = (1, 1)
    profile: str = "paper"
    require_reference: bool = False
    fresh: bool = False
    quiet: bool = False
    dry_run: bool = False
    judge: JudgeChoice = NOBODY
    device: str = "cpu"
