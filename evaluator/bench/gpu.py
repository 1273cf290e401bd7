"""The figures of a machine with a GPU, all of one run of the whole suite there: G1, G4, G9.

Every worker has two clips, so that decoding and inference of different clips can go on at a time. The first run builds
engines and opens networks; what it decoded and called is then done again alone. The wall's time throughout. Knows no
metric.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evaluator.bench import gpu_decode
from evaluator.bench.board import Board
from evaluator.bench.passes import Pass, Passes
from evaluator.bench.sessions import CountedBackends, Ledger
from evaluator.bench.workload import edits, loaded
from evaluator.errors import MediaError
from evaluator.media.decode import CollectTap, all_or_nothing
from evaluator.media.types import U8, Frames
from evaluator.runner.equipment import CPU, Equipment
from evaluator.runner.header import cores
from evaluator.runner.options import RunOptions
from evaluator.runner.run import run
from evaluator.runtime.store import Store
from evaluator.schema import View

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
    """G1, G4 and G9 of a device. Without its decoder G1 and G9 have no figure."""
    workers, tools = cores(), subject.tools
    board.facts["gpu"] = {**tools.identity, "driver": tools.driver}
    passes = _overlap(board, folder, clips, subject, workers)
    if tools.decoder == "dali":
        gpu_decode.measure(board, clips, workers, subject.dali)
        _pictures(board, passes, tools)
    else:
        for name in ("G1", "G9"):
            board.put(name, None, "; ".join(down.reason for down in tools.steps_down))


def _overlap(board: Board, folder: Path, clips: Sequence[Path], subject: Subject, workers: int) -> list[Pass]:
    """G4: the longer of decoding alone and networks alone, against a run of both. Returns a pass of each clip."""
    many = list(copies(clips, max(len(clips), PER_WORKER * workers), folder / "clips"))
    manifest = loaded(edits(many), folder / "gpu.jsonl", folder / "clips")
    ledger, passes, store = Ledger(time.perf_counter), Passes(subject.tools), Store.open(subject.models)
    watched = passes.equipment
    if watched.backends is not None:
        watched = replace(watched, backends=CountedBackends(watched.backends, ledger))
    options = RunOptions(folder / "scores", workers=workers, metrics=subject.metrics, fresh=True, quiet=True)
    _timed(run, manifest, store, options, watched)
    seen, networks = list(passes.made), sum(call.ready() for call in ledger.calls.values())
    whole = _timed(run, manifest, store, options, watched)
    decoding = _timed(_decode, seen, subject.tools, workers)
    note = f"{len(many)} clips in {whole:.1f} s; decoding alone {decoding:.1f}, networks alone {networks:.1f}"
    board.put("G4", max(decoding, networks) / whole, note)
    return [one for one in seen if one.path in many[: len(clips)]]


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


def _timed(work: Callable[..., object], *given: object) -> float:
    """Seconds that something takes."""
    start = time.perf_counter()
    work(*given)
    return time.perf_counter() - start


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
    """PSNR in dB of a view of a clip, 0 where frames are missing; None where the CPU's decoder stepped in."""
    ours, theirs = CollectTap(one.info), CollectTap(one.info)
    try:
        with tools.ordered():
            _, report = all_or_nothing(tools.decode(one.path, one.info, [(view, theirs)], ()))
    except MediaError:
        return 0.0
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
