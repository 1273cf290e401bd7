"""What `evaluator ave-compass` does: things that only this protocol has, made from finished runs.

Knows folders and options; tables and figures come from the suite.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from evaluator import errors
from evaluator.commands import load, say, write_json
from evaluator.report.boards import printed
from evaluator.report.runs import Run, load_run
from evaluator.runtime.files import write_atomic
from evaluator.schema import Score
from evaluator.suites.ave_compass import agreement, export_csv, human_labels
from evaluator.suites.ave_compass.layout_options import SUITE_ID
from evaluator.suites.ave_compass.stability import BOUND, Stability, stability
from evaluator.suites.board import Board


def csv(folder: Path, manifest: Path, media_root: Path | None, out: Path | None) -> int:
    """The reference's table of one run."""
    scores = _scores(load_run(folder))
    scored = {score.case for score in scores}
    cases = [case for case in load(manifest, media_root).cases if case.id in scored]
    text = export_csv.text(cases, scores)
    if out is None:
        click.echo(text, nl=False)
        return errors.EXIT_OK
    write_atomic(out, text.encode())
    say(f"{out}: {len(cases)} cases")
    return errors.EXIT_OK


def repeats(folders: Iterable[Path], as_json: bool) -> int:
    """How far the means of repeated runs lie apart. Exit 3 if a metric moves by the published bound or more."""
    runs = [_scores(load_run(folder)) for folder in folders]
    if len(runs) < 2:
        raise errors.UsageError("stability compares runs of the same cases: name at least two")
    found = stability(runs)
    if as_json:
        rows = [{**_row(one), "means": one.means} for one in found]
        write_json(rows)
    else:
        say(printed(_board(found, len(runs))))
    return errors.EXIT_OK if all(one.passes for one in found) else errors.EXIT_FAILED_CASES


def agree(folder: Path, labels: Path, as_json: bool) -> int:
    """The judge of a run beside what people said."""
    said = human_labels.read(labels)
    found = agreement.report(_scores(load_run(folder)), said.items, said.grades, said.intents)
    if not found:
        raise errors.UsageError(f"{labels}: nothing in it is about an item, a grade or an intent of {folder}")
    if as_json:
        write_json(found)
        return errors.EXIT_OK
    rows = tuple(
        (one.name, one.value, *(one.interval or (None, None)), one.n) for one in found
    )  # fmt: skip
    say(
        printed(Board("agreement", "AVE-Compass, agreement with people", ("figure", "value", "low", "high", "n"), rows))
    )
    return errors.EXIT_OK


def _scores(run: Run) -> list[Score]:
    """The records of this suite. Raises UsageError for a run without any."""
    found = [score for score in run.scores.values() if score.suite == SUITE_ID]
    if not found:
        raise errors.UsageError(f"{run.name}: no record of the suite {SUITE_ID}")
    return found


def _row(one: Stability) -> dict[str, object]:
    return {
        "system": one.system,
        "metric": one.metric,
        "evidence": one.evidence,
        "cases": one.cases,
        "range": one.range,
        "deviation": one.deviation,
        "passes": one.passes,
    }


def _board(found: list[Stability], runs: int) -> Board:
    heads = ("system", "metric", "evidence", "cases", "range", "deviation", "stable")
    rows = tuple(
        (one.system, one.metric, one.evidence, one.cases, one.range, one.deviation, "yes" if one.passes else "NO")
        for one in found
    )
    notes = (f"of the means of {runs} runs over the cases that all of them scored; stable: range below {BOUND:g}",)
    return Board("stability", "AVE-Compass, repeated runs", heads, rows, notes, 4)
