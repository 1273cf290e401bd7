"""One run of the whole suite in this process, taken apart: S1, S2, S3, S7, and where the time goes.

One worker, so that CPU seconds per stage add up and no two stages share a cache.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluator.bench import decoders, pictures
from evaluator.bench.board import Board
from evaluator.bench.passes import Pass, Passes
from evaluator.bench.sessions import Calls, Ledger
from evaluator.manifest import Manifest
from evaluator.metrics.base import Metric
from evaluator.runner.equipment import CPU
from evaluator.runner.header import read_header
from evaluator.runner.options import RunOptions
from evaluator.runner.run import run
from evaluator.runtime.store import Store
from evaluator.schema import FramesNeed, Need
from evaluator.suites import suites

MEDIA = ("probe", "decode", "collect")
"""Stages of the run header that belong to the media stage."""


@dataclass(frozen=True, slots=True)
class CoreRun:
    """One run: CPU seconds of the whole, per stage, the calls of networks, and the passes over files."""

    total: float
    stages: Mapping[str, float]
    counters: Mapping[str, int]
    calls: Sequence[Calls]
    passes: Sequence[Pass]

    @property
    def media(self) -> float:
        """CPU seconds of probing, decoding, converting and resizing."""
        return sum(self.stages.get(name, 0.0) for name in MEDIA)


def instrumented(manifest: Manifest, models: Path | None, out: Path, metrics: Sequence[str] = ()) -> CoreRun:
    """Score a manifest from scratch, by default with every metric, and count everything."""
    ledger, passes = Ledger(), Passes(CPU)
    store = Store.open(models, opener=ledger.open)
    start = time.process_time()
    options = RunOptions(out, workers=1, metrics=tuple(metrics), fresh=True, quiet=True)
    run(manifest, store, options, passes.equipment)
    total = time.process_time() - start
    header = read_header(out)
    assert header is not None  # noqa: S101  (the run has just written it)
    told = header["telemetry"]
    return CoreRun(total, told["cpu_seconds"], told["counters"], list(ledger.calls.values()), passes.made)


def measure(board: Board, manifest: Manifest, models: Path | None, out: Path, clips: Sequence[Path]) -> None:
    """S1, S2, S3, S7, the stages and the networks."""
    before = decoders.raw(clips)
    found = instrumented(manifest, models, out)
    raw = (before + decoders.raw(clips)) / 2  # around the run, for the machine may be faster at one end
    ready = {call.name: 0.0 for call in found.calls}
    for call in found.calls:
        ready[call.name] += call.ready()
    networks = sum(ready.values())
    wanted = pictures.seconds(found.passes)
    least = f"decoding with only the wanted pictures takes {wanted:.2f}, so {wanted / raw:.2f} is the limit"
    board.put("S1", found.media / raw, f"{found.media:.2f} / {raw:.2f} CPU s, {len(clips)} clips; {least}")
    passes, files = found.counters["decode_passes"], found.counters["files_opened"]
    board.put("S2", passes / files, f"{passes} passes over {files} files")
    limit = raw + networks
    board.put("S3", limit / found.total, f"({raw:.2f} + {networks:.2f}) / {found.total:.2f} CPU s")
    name, seconds = _dearest_second(found.stages)
    board.put("S7", seconds / found.total, f"dearest: {name}, {1000 * seconds:.1f} ms of {found.total:.2f} CPU s")
    board.facts["core"] = {"total": found.total, "raw_decode": raw, "media": found.media, "networks": networks}
    board.facts["core"]["decode_with_pictures"] = wanted
    board.facts["stages"] = _stages(found)
    board.facts["networks"] = [_network(found.calls, name, seconds) for name, seconds in ready.items()]


def seconds_on_existing() -> list[str]:
    """Ids of metrics of which every need is some other metric's need too: they cost no decoding and no expert."""
    known = suites()["core"].metrics
    return [metric.id for metric in known if set(_models(metric)) <= _wanted_by_others(metric, known)]


def _wanted_by_others(metric: Metric, known: Iterable[Metric]) -> set[Need]:
    return {need for other in known if other.id != metric.id for need in _models(other)}


def _models(metric: Metric) -> list[Need]:
    """Needs that cost something: experts and pictures. Sound is decoded for everybody anyhow."""
    return [need for need in metric.needs.values() if not hasattr(need, "view") or isinstance(need, FramesNeed)]


def _dearest_second(stages: Mapping[str, float]) -> tuple[str, float]:
    """The metric on existing features that took longest, and its CPU seconds over all cases."""
    found = [(stages.get(f"metric/{name}", 0.0), name) for name in seconds_on_existing()]
    seconds, name = max(found)
    return name, seconds


def _stages(found: CoreRun) -> dict[str, float]:
    """CPU seconds per stage; what no stage claims is `runner`."""
    metrics = sum(value for name, value in found.stages.items() if name.startswith("metric/"))
    others = {name: value for name, value in found.stages.items() if not name.startswith("metric/")}
    rest = found.total - metrics - sum(others.values())
    return {**others, "metrics": metrics, "runner": rest}


def _network(calls: Sequence[Calls], name: str, ready: float) -> dict[str, float | str | int]:
    """One line about a network: items, CPU seconds in the run and on ready tensors, work."""
    own = [call for call in calls if call.name == name]
    gflop = sum(call.gflop() for call in own)
    return {
        "name": name,
        "calls": sum(call.count for call in own),
        "items": sum(call.items for call in own),
        "seconds": sum(call.seconds for call in own),
        "ready": ready,
        "items_per_s": sum(call.items for call in own) / ready,
        "gflop": gflop,
        "gflop_per_s": gflop / ready,
    }
