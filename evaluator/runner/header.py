"""run.json: what ran, on what, with which inputs, and how it ended. Everything that may change from run to run is here.

Written when a run starts and again when it ends; a killed run stays `started`.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import orjson
from annotated_types import Len
from pydantic import AfterValidator, BaseModel, ConfigDict
from typing_extensions import TypedDict  # pydantic makes schemas of these, and of typing's only from CPython 3.12 on

import evaluator
from evaluator.errors import UsageError
from evaluator.metrics.base import Direction, Metric
from evaluator.runner.telemetry import Spent
from evaluator.runner.written import Tree, kinds, many, read_tree
from evaluator.runtime.backends import Fallback
from evaluator.runtime.files import write_atomic
from evaluator.schema import SCHEMA_VERSION, ModelRef, Score, Status, to_tree

HEADER = "run.json"
PACKAGES = ("av", "numpy", "onnxruntime", "opencv-python-headless", "pillow", "scipy")
BUILDS = {"onnxruntime": ("onnxruntime", "onnxruntime-gpu")}
"""Package -> its distributions: one module under two names, of which an environment has one."""


class RunStatus(StrEnum):
    STARTED = "started"
    SUCCESS = "success"  # every case has its results; skips allowed
    PARTIAL = "partial"  # finished, some metrics failed
    FAILED = "failed"  # the run itself could not go on
    CANCELLED = "cancelled"


class ManifestFacts(TypedDict):
    """Which manifest was scored."""

    path: Path  # as given
    sha256: str
    cases: int


class Card(TypedDict):
    """What a reader of scores.jsonl needs to know about a metric."""

    id: str
    version: int
    title: str
    summary: str
    direction: str
    range: list[float | None]  # lowest and highest value, null where there is none
    unit: str
    paper: str


@dataclass(frozen=True, slots=True)
class RunHeader:
    """The facts of one run."""

    status: RunStatus
    arguments: tuple[str, ...]  # as given
    options: Mapping[str, Any]  # as resolved
    manifest: ManifestFacts
    lock_sha256: str
    shard: str
    suites: tuple[str, ...]
    profile: str
    metrics: tuple[Card, ...]  # of the metrics that were asked for
    models: tuple[ModelRef, ...]
    unavailable: Mapping[str, str]  # capability -> what to mount
    decoder: str
    backends: Mapping[str, str]  # expert -> provider that was obtained
    device: str
    driver: str | None
    judge: Mapping[str, Any] | None  # identity, handshake and self-check; `reserved`: the same by model; None: no judge
    seeds: Mapping[str, int]
    started: str
    ended: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    fallbacks: tuple[Fallback, ...] = ()  # networks or clips that were not run by what comes first, and why
    judge_calls: Mapping[str, Any] | None = None  # statuses, asked, replayed, retries; records and head of the ledger
    telemetry: Spent = field(default_factory=lambda: Spent())
    evaluator: str = evaluator.__version__
    revision: str | None = None
    python: str = platform.python_version()
    machine: str = platform.platform()
    cores: int = 0
    packages: Mapping[str, str] = field(default_factory=dict)
    schema: int = SCHEMA_VERSION

    def ended_as(self, status: RunStatus, scores: Iterable[Score], telemetry: Spent) -> RunHeader:
        """The same header at the end of the run."""
        counts = Counter(str(score.status) for score in scores)
        whole = {str(status): counts[str(status)] for status in Status}
        return replace(self, status=status, ended=now(), counts=whole, telemetry=telemetry)

    def write(self, folder: Path) -> None:
        """Write run.json into the output folder."""
        data = orjson.dumps(to_tree(self), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        write_atomic(folder / HEADER, data)


NEEDED = ("status", "manifest", "metrics")
"""Keys by which a header is known for one, whichever version of the evaluator wrote it."""


def now() -> str:
    """UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def packages() -> dict[str, str]:
    """Versions of what can change a number, by the name of the distribution that is installed."""
    return dict(_installed(BUILDS.get(name, (name,))) for name in PACKAGES)


def _installed(distributions: Sequence[str]) -> tuple[str, str]:
    """Name and version of the first that is there. Raises PackageNotFoundError if none is."""
    *others, last = distributions
    for name in others:
        try:
            return name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return last, metadata.version(last)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def revision() -> str | None:
    """The commit of a checkout, or what the image's build wrote into EVALUATOR_REVISION."""
    baked = os.environ.get("EVALUATOR_REVISION")
    root = Path(evaluator.__file__).resolve().parent.parent
    if baked or not (root / ".git").exists():
        return baked
    try:
        command = ["git", "-C", str(root), "rev-parse", "HEAD"]
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    except OSError:  # no git here: the commit is unknown, which is what None says
        return None
    return found.stdout.strip() or None


def card(metric: Metric) -> Card:
    """The identity card of a metric, once per run."""
    return {
        "id": metric.id,
        "version": metric.version,
        "title": metric.title,
        "summary": metric.summary,
        "direction": str(metric.direction),
        "range": list(metric.range),
        "unit": metric.unit,
        "paper": metric.paper,
    }


def given_arguments() -> tuple[str, ...]:
    """The command line as typed."""
    return tuple(os.fsencode(word).decode("utf-8", "backslashreplace") for word in sys.argv[1:])


class _Verdict(BaseModel):
    """What was found out about judges, as far as somebody looks into it."""

    reserved: dict[str, Any] = {}


class _Calls(BaseModel):
    """How often judges were called, by what came of it."""

    __pydantic_extra__: dict[str, int]
    model_config = ConfigDict(extra="allow")
    ledger: dict[str, Any] | None = None


@cache
def _kinds() -> type[BaseModel]:
    """What each field of a header must be, if it is there."""
    hints = get_type_hints(RunHeader)
    del hints["schema"]  # it is looked at first
    time = Annotated[str, AfterValidator(datetime.fromisoformat)]
    card = {**get_type_hints(Card), "direction": Direction, "range": Annotated[list[float | None], Len(2, 2)]}
    chosen = {"metrics": list[str], "suites": list[str], "limit": int | None, "profile": str}
    judges = kinds("Judges", {"replay": str | None})
    looked_into = {
        "manifest": kinds("Manifest", get_type_hints(ManifestFacts)),
        "metrics": many(kinds("Card", card)),
        "options": kinds("Options", {**chosen, "judge": judges}),
        "judge": _Verdict | None,
        "judge_calls": _Calls | None,
        "started": time,
        "ended": time | None,
        "telemetry": Spent | None,
    }
    return kinds("Header", {**hints, **looked_into})


def read_header(folder: Path) -> Tree | None:
    """run.json of an earlier run, or None if there is none. Raises UsageError for anything else."""
    path = folder / HEADER
    if not path.exists():
        return None
    tree = read_tree(path, _kinds())
    if missing := [name for name in NEEDED if name not in tree]:
        raise UsageError(f"{path}: not the header of a run, {', '.join(missing)} is not in it; name the --out of a run")
    return tree


REQUIRED = tuple(item.name for item in fields(RunHeader) if MISSING is item.default is item.default_factory)
"""Fields that every header has from the start of its run."""


def header_of(tree: Mapping[str, Any]) -> RunHeader:
    """The header that was written as this tree. What is null in it, as in a merged one, is empty."""
    known = {item.name: tree[item.name] for item in fields(RunHeader) if item.name in tree}
    return RunHeader(**{**known, "status": RunStatus(tree["status"]), "telemetry": tree["telemetry"] or {}})
