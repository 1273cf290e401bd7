"""What the subcommands that look back do: compare, agree, history. Load, call, print; returns the exit code.

Knows folders and options; the figures come from the report package.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import orjson

from evaluator import errors
from evaluator.commands import WIDTH, say, write_json
from evaluator.report import compare_text, gate
from evaluator.report.compare import Comparison
from evaluator.report.compare import compare as comparing
from evaluator.report.effect import Settings
from evaluator.report.grid import csv_text
from evaluator.report.runs import Run, load_run
from evaluator.report.sides import Side, sides_by_run, sides_by_system
from evaluator.report.tasks import Task, find_tasks
from evaluator.report.unlike import KINDS
from evaluator.runner.writer import write_atomic
from evaluator.schema import rounded, to_tree


def compare(given: Mapping[str, Any]) -> int:
    """Compare runs, or the systems of one run."""
    rules = [gate.parse_rule(rule) for rule in given["fail_if"]]
    settings = Settings(given["interval"], given["test"], given["top"], _allowed(given["allow"]), given["seed"])
    runs = [load_run(folder) for folder in given["folders"]]
    tasks = find_tasks(runs, given["manifest"])
    sides = _sides(runs, tasks, given["by"])
    pairs = list(combinations(sides, 2)) if given["all_pairs"] else [(sides[0], side) for side in sides[1:]]
    found = comparing(pairs, {case: task.origin for case, task in tasks.items()}, settings)
    met = gate.broken(rules, found, sorted({metric for run in runs for metric in run.cards}))
    legend = _legend(found, runs, tasks, settings)
    tree = {"by": given["by"], "settings": settings, "comparisons": found, "fail_if": met}
    _deliver(
        given,
        compare_text.text(found, legend, met, _width()),
        compare_text.markdown_text(found, legend, met),
        compare_text.rows(found),
        tree,
    )
    return errors.EXIT_FAILED_CASES if met else errors.EXIT_OK


def _allowed(kinds: tuple[str, ...]) -> tuple[str, ...]:
    unknown = sorted(set(kinds) - set(KINDS))
    if unknown:
        raise errors.UsageError(f"--allow {', '.join(unknown)}: expected some of {', '.join(KINDS)}")
    return kinds


def _sides(runs: Sequence[Run], tasks: Mapping[str, Task], by: str) -> list[Side]:
    if by == "system":
        if len(runs) != 1:
            raise errors.UsageError(f"--by system compares the systems of one run; {len(runs)} folders were given")
        return sides_by_system(runs[0], tasks)
    if len(runs) < 2:
        raise errors.UsageError("name at least two folders to compare, or one with --by system")
    return sides_by_run(runs)


def _legend(
    found: Sequence[Comparison], runs: Sequence[Run], tasks: Mapping[str, Task], settings: Settings
) -> list[str]:
    """How the figures were made."""
    cases = {case for run in runs for case, _ in run.scores}
    origins = {tasks[case].origin if case in tasks else case for case in cases}
    known = len(cases & tasks.keys())
    if known:
        units = f"source clip (prompt, where there is none): {len(origins)} clusters of {len(cases)} cases"
        units += "" if known == len(cases) else f", {len(cases) - known} of them not in the manifest"
    else:
        units = f"case: no manifest was found, so that outputs of one source clip count as independent ({len(cases)})"
    tests = sum(effect.p is not None for one in found for effect in one.effects)
    return [
        f"Intervals ({settings.interval} bootstrap) and p ({settings.test} test, two-sided) are clustered by {units}.",
        f"p Holm is corrected over the {tests} tests shown; better, worse, changed: p Holm <= 0.05.",
        "dz: mean difference in standard deviations of the differences. ↑ higher is better, ↓ lower is better.",
    ]


# ------------------------------------------------------------------------------------------------------ pieces


def _width() -> int:
    """Columns of the terminal that people read, or of a page."""
    return get_terminal_size((WIDTH, 24)).columns if sys.stderr.isatty() else WIDTH


def _deliver(
    given: Mapping[str, Any], text: str, markdown: str, rows: Sequence[Mapping[str, Any]], tree: Mapping[str, Any]
) -> None:
    """Text for people, JSON for machines, and a file of the kind that its name asks for."""
    whole = rounded(to_tree(tree))
    say(text)
    if given["as_json"]:
        write_json(whole)
    if given["write"]:
        indented = orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        kinds = {".md": markdown.encode(), ".csv": csv_text(rows).encode(), ".json": indented}
        _write(given["write"], kinds)


def _write(path: Path, kinds: Mapping[str, bytes]) -> None:
    if path.suffix not in kinds:
        raise errors.UsageError(f"--write {path}: expected a name that ends in {', '.join(kinds)}")
    try:
        write_atomic(path, kinds[path.suffix])
    except OSError as error:
        raise errors.OutputError(f"{path}: cannot be written ({error.strerror})") from error
