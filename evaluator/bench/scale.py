"""Many cores, long clips, several machines: S5 (parallel use), S9 (memory), S10 (identity). Whole processes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluator.bench.board import Board
from evaluator.bench.process import evaluator_command, run
from evaluator.bench.workload import alone, edits, write_manifest
from evaluator.runner.header import cores
from evaluator.runner.writer import SCORES

SHARDS = 3


def parallel(board: Board, folder: Path, clips: Sequence[Path], options: Sequence[str], loaded: bool) -> None:
    """S5: one worker per core over all clips."""
    manifest = write_manifest(edits(clips), folder / "parallel.jsonl")
    cost = run(_command(manifest, clips[0].parent, folder / "parallel", options))
    note = f"{cost.cpu:.1f} CPU s in {cost.wall:.1f} s on {cores()} cores"
    note += "; the machine was not quiet, so this is a lower bound" if loaded else ""
    board.put("S5", cost.cpu / (cost.wall * cores()), note)


def memory(board: Board, folder: Path, clip: Path, options: Sequence[str]) -> None:
    """S9: peak resident set of a process that scores one long clip."""
    manifest = write_manifest(alone(clip), folder / "memory.jsonl")
    cost = run(_command(manifest, clip.parent, folder / "memory", options))
    board.put("S9", cost.rss / 1e9, f"{cost.cpu:.1f} CPU s, every metric of the suite")


def identity(board: Board, folder: Path, clips: Sequence[Path], options: Sequence[str]) -> None:
    """S10: the same bytes from a second run, and from three shards that are merged."""
    manifest = write_manifest(
        edits(clips) + [line for clip in clips[1:] for line in alone(clip)], folder / "twice.jsonl"
    )
    root = clips[0].parent
    for name in ("once", "again"):
        run(_command(manifest, root, folder / name, options))
    parts = [folder / f"part-{number}" for number in range(1, SHARDS + 1)]
    for number, part in enumerate(parts, 1):
        run([*_command(manifest, root, part, options), "--shard", f"{number}/{SHARDS}"])
    merged = folder / "merged"
    run(evaluator_command("merge", "--manifest", manifest, "--media-root", root, "--out", merged, "-q", *parts))
    first, *others = ((folder / name / SCORES).read_bytes() for name in ("once", "again", "merged"))
    equal = [other == first for other in others]
    board.put("S10", float(all(equal)), f"{len(first)} bytes; again: {equal[0]}, {SHARDS} shards: {equal[1]}")


def _command(manifest: Path, root: Path, out: Path, options: Sequence[str]) -> list[str]:
    return evaluator_command(
        "--manifest", manifest, "--media-root", root, "--out", out, "--fresh", "-q", "--no-report", *options
    )
