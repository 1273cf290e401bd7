"""What the subcommands that look back do: report, compare, agree, history. Load, call, print; returns the exit code.

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
from evaluator.report import agree_text, compare_text, gate, history_text
from evaluator.report.agree import Options
from evaluator.report.agree import agree as agreeing
from evaluator.report.compare import Comparison
from evaluator.report.compare import compare as comparing
from evaluator.report.effect import FEW_UNITS, Settings
from evaluator.report.grid import csv_text
from evaluator.report.history import history as looking_back
from evaluator.report.history import load_past
from evaluator.report.human import read_human
from evaluator.report.runs import Run, load_run
from evaluator.report.sides import Side, sides_by_run, sides_by_system
from evaluator.report.tasks import Task, find_tasks
from evaluator.report.unlike import KINDS
from evaluator.runtime.files import write_atomic
from evaluator.schema import rounded, to_tree

SHOWN = ("started", "ended", "status", "evaluator", "revision", "manifest", "lock_sha256", "counts")
"""Header fields that a list of runs repeats."""


def report(given: Mapping[str, Any]) -> int:
    """Write the report of a run into its folder."""
    from evaluator.report.page.writer import Options as PageOptions  # templates are not for those who only compare
    from evaluator.report.page.writer import write_report

    options = PageOptions(given["thumbnails"], given["manifest"], given["media_root"])
    try:
        files = write_report(given["folder"], options)
    except OSError as error:
        raise errors.OutputError(f"{given['folder']}: cannot be written ({error.strerror})") from error
    say("\n".join(f"{path} ({path.stat().st_size / 1e6:.1f} MB)" for path in files))
    return errors.EXIT_OK


def compare(given: Mapping[str, Any]) -> int:
    """Compare runs, or the systems of one run."""
    rules = [gate.parse_rule(rule) for rule in given["fail_if"]]
    settings = Settings(given["interval"], given["test"], given["top"], _allowed(given["allow"]), given["seed"])
    runs = [load_run(folder) for folder in given["folders"]]
    tasks = find_tasks(runs, given["manifest"])
    sides = _sides(runs, tasks, given["by"], given["baseline"])
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


def _sides(runs: Sequence[Run], tasks: Mapping[str, Task], by: str, baseline: str | None) -> list[Side]:
    if by == "system":
        if len(runs) != 1:
            raise errors.UsageError(f"--by system compares the systems of one run; {len(runs)} folders were given")
        return sides_by_system(runs[0], tasks, baseline)
    if baseline is not None:
        raise errors.UsageError(
            "--baseline names a system: it needs --by system; of folders, the first is the baseline"
        )
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
    few = min((effect.clusters for one in found for effect in one.effects), default=0) < FEW_UNITS
    tests = sum(effect.p is not None for one in found for effect in one.effects)
    return [
        f"Intervals ({settings.interval} bootstrap) and p ({settings.test} test, two-sided) are clustered by {units}.",
        *([f"Fewer than {FEW_UNITS} clusters: the bootstrap intervals are too narrow, trust p."] if few else []),
        f"p Holm is corrected over the {tests} tests shown; better, worse, changed: p Holm <= 0.05.",
        "dz: mean difference in standard deviations of the differences. ↑ higher is better, ↓ lower is better.",
    ]


def agree(given: Mapping[str, Any]) -> int:
    """Compare the metrics of a run with what people said."""
    run = load_run(given["scores"])
    people = read_human(given["human"], {case for case, _ in run.scores}, run.cards)
    options = Options(given["metrics"], given["raw"], given["interval"], given["seed"])
    found = agreeing(run, people, find_tasks([run], given["manifest"]), options)
    tree = {"run": run.name, "human": given["human"], "kind": people.kind, "options": options, "metrics": found}
    _deliver(given, agree_text.text(found), agree_text.markdown_text(found), agree_text.rows(found), tree)
    return errors.EXIT_OK


def history(given: Mapping[str, Any]) -> int:
    """List runs over time."""
    runs = load_past(given["folders"])
    series = looking_back(runs, given["metrics"])
    last = given["last"]
    told = [{"run": past.name, **{name: past.header[name] for name in SHOWN}} for past in runs]
    _deliver(
        given,
        history_text.text(runs, series, last),
        history_text.markdown_text(runs, series, last),
        history_text.rows(runs, series),
        {"runs": told, "series": series},
    )
    return errors.EXIT_OK


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
