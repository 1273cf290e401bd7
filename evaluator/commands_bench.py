"""What `evaluator bench` does: measure, print, write, compare."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import orjson

from evaluator import errors
from evaluator.bench import render
from evaluator.bench.against import losses, read_board
from evaluator.bench.bench import BenchOptions, bench
from evaluator.runtime.files import write_atomic

BOARD = "bench.json"
TABLE = "bench.md"


def run(given: Mapping[str, Any]) -> int:
    """Exit 3 if something got clearly worse than in --against, else 0: a missed target is a figure, not an error."""
    old = read_board(given["against"]) if given["against"] else None
    chosen = {name: given[name] for name in ("clips", "models", "race", "quick", "device")}
    options = BenchOptions(**chosen, judge_url=given["judge_url"] or "")
    if options.race and options.device == "gpu":
        raise errors.UsageError("--race is run on the CPU: leave out --device gpu")
    board = bench(options, lambda line: click.echo(line, err=True))
    click.echo("\n" + render.text(board), err=True)
    data = orjson.dumps(board, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if given["out"]:
        _write(given["out"], data, render.markdown(board))
    if given["as_json"]:
        sys.stdout.buffer.write(data)
    lost = losses(old, board) if old else []
    for line in lost:
        click.echo(f"worse than {given['against']}: {line}", err=True)
    return errors.EXIT_FAILED_CASES if lost else errors.EXIT_OK


def _write(folder: Path, data: bytes, table: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / BOARD, data)
    write_atomic(folder / TABLE, f"{table}\n".encode())
