"""What a person may choose about a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evaluator.errors import UsageError
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
    engine: str = "local"  # or "ray": `workers` are actors then, 0 for as many as fit
    ray_address: str | None = None  # None: a Ray of our own, for this run, on this machine

    def __post_init__(self) -> None:
        if self.ray_address and self.engine != "ray":
            raise UsageError("--ray-address: only --engine ray has workers there; add it")
        if self.engine == "ray" and self.judge.chosen:
            raise UsageError(
                "--engine ray: judges are asked by one process; leave them out here, then run the same command with "
                "--engine local and the judge: in the same --out only the judged metrics are left to do"
            )
