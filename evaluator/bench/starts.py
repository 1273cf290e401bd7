"""What a start costs, and a run that has nothing to do: S6 and S8. Whole processes, as a person starts them."""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from evaluator.bench.board import Board
from evaluator.bench.machine import ONE_THREAD
from evaluator.bench.process import evaluator_command, run, until
from evaluator.bench.workload import alone, write_manifest
from evaluator.runner.writer import SCORES

REPEATS = 3
FIRST = "subject_consistency"
"""The first score of S6: it needs pictures and a network, so the whole chain has been started."""
CASES = 500


def measure(board: Board, folder: Path, brief: Path, clip: Path, options: Sequence[str], cases: int = CASES) -> None:
    """S6 on one brief clip; S8 on many cases of a small one."""
    _first_score(board, folder, brief, options)
    _resume(board, folder, clip, options, cases)


def _first_score(board: Board, folder: Path, clip: Path, options: Sequence[str]) -> None:
    manifest = write_manifest(alone(clip), folder / "first.jsonl")
    given: list[str | Path] = ["--manifest", manifest, "--media-root", clip.parent, "--metrics", FIRST]
    fresh = [*given, "--fresh", "-q", "--no-report", *options]
    used = []
    for number in range(REPEATS):
        out = folder / f"first-{number}"
        scores = out / SCORES
        used.append(until(evaluator_command(*fresh, "--out", out), partial(_written, scores)))
    board.put(
        "S6", statistics.median(used), f"{FIRST} of eight frames; {_imports():.2f} CPU s are imports of libraries"
    )
    command = evaluator_command(*fresh, "--out", folder / "first-0")
    traced = [command[0], "-X", "importtime", *command[1:]]
    modules = re.findall(r"\|\s*([\w.]+)$", run(traced).errors.decode(), re.MULTILINE)
    heavy = [name for name in modules if name.partition(".")[0] == "torch"]
    board.put("S6 torch", len(heavy), f"{len(modules)} modules in all")


def _imports() -> float:
    """CPU seconds of an interpreter that imports the libraries of any run and does nothing: no start can be cheaper."""
    command = [sys.executable, "-c", "import numpy, cv2, av, PIL.Image, onnxruntime, orjson, click, pydantic"]
    return statistics.median(run(command, {**ONE_THREAD, "ORT_DISABLE_TELEMETRY": "1"}).cpu for _ in range(REPEATS))


def _written(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _resume(board: Board, folder: Path, clip: Path, options: Sequence[str], cases: int) -> None:
    """The slope: what `cases` cases cost above one, so that the start is not counted as theirs."""
    few, many = (_finished(folder, clip, options, count) for count in (1, cases))
    cost = [statistics.median(run(command).cpu for _ in range(REPEATS)) for command in (few, many)]
    note = f"{cost[1]:.2f} CPU s for {cases} cases, {cost[0]:.2f} for one"
    board.put("S8", 1000 * (cost[1] - cost[0]) / (cases - 1), note)


def _finished(folder: Path, clip: Path, options: Sequence[str], count: int) -> list[str]:
    """The command of a run that is done already."""
    manifest = write_manifest(alone(clip, count), folder / f"resume-{count}.jsonl")
    command = evaluator_command(
        "--manifest",
        manifest,
        "--media-root",
        clip.parent,
        "--out",
        folder / f"resume-{count}",
        "-q",
        "--no-report",
        *options,
    )
    run(command)
    return command
