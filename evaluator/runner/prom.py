"""metrics.prom: the outcome of a run for a Prometheus textfile collector, replaced as a whole when the run ends.

A run that failed or was cancelled is written too; one that was killed is not, so alert on the age of
`evaluator_run_end_timestamp_seconds` as well as on `evaluator_run_status`. Means are the plain ones of summary.json:
one per suite, system, metric and models. Knows records and the header; nothing about who collects them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from statistics import fmean

from evaluator.runner.header import RunHeader, RunStatus
from evaluator.runtime.files import write_atomic
from evaluator.schema import Score

PROM = "metrics.prom"

Labels = Mapping[str, str]
Sample = tuple[Labels, float]


def write(folder: Path, header: RunHeader, scores: Sequence[Score]) -> None:
    """Write metrics.prom into the output folder of a run that has ended."""
    write_atomic(folder / PROM, render(header, scores).encode())


def render(header: RunHeader, scores: Sequence[Score]) -> str:
    """The text of the file: families with their help, samples in the order in which their subjects first appear."""
    families: tuple[tuple[str, str, Iterable[Sample]], ...] = (
        ("run_info", "What ran; always 1.", [(_identity(header), 1.0)]),
        ("run_status", "1 for the status with which the last run ended.", _states(header.status)),
        ("run_start_timestamp_seconds", "When the last run started, Unix time.", _moment(header.started)),
        ("run_end_timestamp_seconds", "When the last run ended, Unix time.", _moment(header.ended)),
        ("cases", "Cases with at least one record.", [({}, len({score.case for score in scores}))]),
        ("scores", "Records by status.", _counts(scores)),
        ("score_mean", "Mean over the cases that were scored with these models.", _means(scores)),
        ("cpu_seconds", "CPU time of a stage.", _named("stage", header.telemetry.get("cpu_seconds", {}))),
        ("events", "What the run counted.", _named("event", header.telemetry.get("counters", {}))),
    )
    return "".join(line for name, text, samples in families for line in _family(f"evaluator_{name}", text, samples))


def escaped(value: str) -> str:
    """A label's value as the exposition format wants it."""
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _family(name: str, text: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {text}\n# TYPE {name} gauge\n"
    for labels, value in samples:
        inside = ",".join(f'{key}="{escaped(word)}"' for key, word in labels.items())
        yield f"{name}{{{inside}}} {float(value)!r}\n" if inside else f"{name} {float(value)!r}\n"


def _identity(header: RunHeader) -> Labels:
    return {
        "version": header.evaluator,
        "revision": header.revision or "",
        "profile": header.profile,
        "device": header.device,
        "shard": header.shard,
        "manifest_sha256": str(header.manifest["sha256"]),
        "lock_sha256": header.lock_sha256,
    }


def _states(status: RunStatus) -> Iterator[Sample]:
    for state in RunStatus:
        yield {"status": str(state)}, state is status


def _moment(time: str | None) -> Iterator[Sample]:
    if time is not None:
        yield {}, datetime.fromisoformat(time).timestamp()


def _counts(scores: Iterable[Score]) -> Iterator[Sample]:
    found = Counter((score.suite, score.system, score.metric, str(score.status)) for score in scores)
    for (suite, system, metric, status), count in found.items():
        yield {"suite": suite, "system": system, "metric": metric, "status": status}, count


def _means(scores: Iterable[Score]) -> Iterator[Sample]:
    found: dict[tuple[str, ...], list[float]] = {}
    for score in scores:
        if score.value is not None:
            models = "+".join(f"{model.id}@{model.sha256[:12]}" for model in score.models)
            stand_in = "true" if any(model.stands_in_for for model in score.models) else "false"
            found.setdefault((score.suite, score.system, score.metric, models, stand_in), []).append(score.value)
    for key, values in found.items():
        yield dict(zip(("suite", "system", "metric", "models", "stand_in"), key, strict=True)), fmean(values)


def _named(label: str, values: Mapping[str, float]) -> Iterator[Sample]:
    for name, value in values.items():
        yield {label: name}, value
