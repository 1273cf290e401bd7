"""The figures of a machine with a GPU, all of one run of the whole suite there: G1, G4, G9.

Every worker has two clips, so that decoding and inference of different clips can go on at a time. The first run builds
engines and opens networks; what it decoded and called is then done again alone. The wall's time throughout. Knows no
metric.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from evaluator.bench import gpu_decode
from evaluator.bench.board import Board
from evaluator.bench.passes import Pass, Passes
from evaluator.bench.sessions import CountedBackends, Ledger
from evaluator.bench.workload import edits, loaded
from evaluator.errors import EvaluatorError, NotApplicable
from evaluator.media.decode import CollectTap, all_or_nothing
from evaluator.media.types import U8, Frames
from evaluator.runner.equipment import CPU, Equipment
from evaluator.runner.header import cores
from evaluator.runner.options import RunOptions
from evaluator.runner.run import RunResult, run
from evaluator.runtime.store import Store
from evaluator.schema import Status, View

T = TypeVar("T")
PER_WORKER = 2
BEST = 99.0
"""dB that equal pictures are given."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is measured: a device, and by default every metric there. `dali` names the device that decodes."""

    tools: Equipment
    models: Path | None = None
    dali: str = "gpu"
    metrics: tuple[str, ...] = ()


def measure(board: Board, folder: Path, clips: Sequence[Path], subject: Subject) -> None:
    """G1, G4 and G9 of a device. Without its decoder G1 and G9 have no figure, and what fails has its reason."""
    workers, tools = cores(), subject.tools
    board.facts["gpu"] = {**tools.identity, "driver": tools.driver}
    passes = _overlap(board, folder, clips, subject, workers)
    board.facts["fallbacks"] = [asdict(down) for down in tools.fallbacks]
    if tools.decoder == "dali":
        _figure(board, "G1", lambda: gpu_decode.measure(board, clips, workers, subject.dali))
        _figure(board, "G9", lambda: _pictures(board, passes, tools))
    else:
        for name in ("G1", "G9"):
            board.put(name, None, "; ".join(down.reason for down in tools.steps_down))


def _figure(board: Board, name: str, measured: Callable[[], None]) -> None:
    """Measure one; what goes wrong there is its note, and the others stay."""
    try:
        measured()
    except (EvaluatorError, NotApplicable, RuntimeError) as error:  # the last is what DALI and torch raise
        board.put(name, None, f"could not be measured: {' '.join(str(error).split())}")


def _overlap(board: Board, folder: Path, clips: Sequence[Path], subject: Subject, workers: int) -> list[Pass]:
    """G4: the longer of decoding alone and networks alone, against a run of both. Returns a pass of each clip."""
    folder = folder.resolve()  # as the manifest names its clips
    many = list(copies(clips, max(len(clips), PER_WORKER * workers), folder / "clips"))
    manifest = loaded(edits(many), folder / "gpu.jsonl", folder / "clips")
    ledger, passes, store = Ledger(time.perf_counter), Passes(subject.tools), Store.open(subject.models)
    watched = passes.equipment
    if watched.backends is not None:
        watched = replace(watched, backends=CountedBackends(watched.backends, ledger))
    options = RunOptions(folder / "scores", workers=workers, metrics=subject.metrics, fresh=True, quiet=True)
    run(manifest, store, options, watched)
    seen, networks = list(passes.made), _networks(ledger, subject.tools)
    found, whole = _timed(lambda: run(manifest, store, options, watched))
    _, decoding = _timed(lambda: _decode(seen, subject.tools, workers))
    note = f"{len(many)} clips in {whole:.1f} s; decoding alone {decoding:.1f}, networks alone {networks:.1f}"
    note += f"; {len(subject.tools.fallbacks)} steps down"
    wrong = _failures(found)
    board.put("G4", *((None, wrong) if wrong else (max(decoding, networks) / whole, note)))
    return [one for one in seen if one.path in many[: len(clips)]]


def _networks(ledger: Ledger, tools: Equipment) -> float:
    """Seconds of all calls alone, ordered by the device's stream as in a run: else nobody waits for their numbers."""
    with tools.ordered():
        return sum(call.ready() for call in ledger.calls.values())


def _failures(found: RunResult) -> str:
    """Why a run is not worth timing, for what failed took no time; empty if nothing did."""
    failed = [score for score in found.scores if score.status is Status.FAILED]
    if not failed:
        return ""
    first = failed[0]
    why = first.reason.message if first.reason else ""
    return f"{len(failed)} scores failed, the first {first.metric} of {first.case}: {why}"


def copies(clips: Sequence[Path], count: int, folder: Path) -> Iterator[Path]:
    """MP4 files with the frames of `clips` and bytes of their own, so that each is decoded by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        clip = clips[number % len(clips)]
        copy = folder / f"{number}-{clip.name}"
        copy.write_bytes(clip.read_bytes() + (12).to_bytes(4) + b"free" + number.to_bytes(4))  # an empty box behind all
        yield copy


def _decode(passes: Sequence[Pass], tools: Equipment, workers: int) -> None:
    """Make these passes by so many threads, and nothing else."""

    def again(one: Pass) -> None:
        with tools.ordered():
            one.again(tools)

    with ThreadPoolExecutor(workers) as threads:
        list(threads.map(again, passes))


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """What something gives, and the seconds that it takes."""
    start = time.perf_counter()
    return work(), time.perf_counter() - start


# -------------------------------------------------------------------------------------------------- G9: pictures


def _pictures(board: Board, passes: Sequence[Pass], tools: Equipment) -> None:
    """G9: the worst of all views of all clips that the device's decoder took."""
    found = [
        (_apart(one, view, tools), f"{one.path.stem}, {view.fit} {view.height}")
        for one in passes
        for view in _views(one)
    ]
    near = [(decibels, where) for decibels, where in found if decibels is not None]
    if not near:
        board.put("G9", None, "the device's decoder took no clip")
        return
    worst, where = min(near)
    left = f"; {len(found) - len(near)} came from the CPU" if len(near) < len(found) else ""
    board.put("G9", worst, f"worst of {len(near)} views: {where}{left}")


def _views(one: Pass) -> list[View]:
    return list(dict.fromkeys(view for view, _ in one.taps))


def _apart(one: Pass, view: View, tools: Equipment) -> float | None:
    """PSNR in dB of a view of a clip, 0 for other frames; None where the CPU's decoder stepped in."""
    ours, theirs = CollectTap(one.info), CollectTap(one.info)
    with tools.ordered():
        _, report = all_or_nothing(tools.decode(one.path, one.info, [(view, theirs)], ()))
    if "decoder dali" not in report.notes:
        return None
    all_or_nothing(CPU.decode(one.path, one.info, [(view, ours)], ()))
    return psnr(theirs.close(), ours.close())


def psnr(found: Frames, wanted: Frames) -> float:
    """dB over all pictures of a clip, at most BEST; 0 if they are not of the same frames and times."""
    if not (np.array_equal(found.index, wanted.index) and np.array_equal(found.time, wanted.time)):
        return 0.0
    error = np.mean([_squared(one, other) for one, other in zip(found.data, wanted.data, strict=True)])
    return float(min(BEST, 10 * np.log10(255**2 / error))) if error else BEST


def _squared(one: U8, other: U8) -> float:
    """Mean squared difference of two pictures in levels. Two at a time, for a clip would be large as floats."""
    return float(np.square(one.astype(np.float64) - other).mean())
