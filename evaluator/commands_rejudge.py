"""What `evaluator rejudge` and `evaluator stability` do: a second look at a finished run, and how much runs differ.

Knows suites only by `Suite.rejudge`, and runs by their files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from evaluator import errors
from evaluator.commands import exit_code, load, say
from evaluator.manifest import Manifest
from evaluator.report.aggregate import aggregate, origins, write_summary
from evaluator.report.boards import printed, sections
from evaluator.runner.header import HEADER, read_header
from evaluator.runner.judging import JudgeChoice, judging
from evaluator.runner.writer import SCORES, locked, read_records
from evaluator.runtime.files import write_atomic
from evaluator.schema import Score, encode, rounded, to_tree
from evaluator.suites import suites
from evaluator.suites.multiref_compass.stability import stability as stability_board

LOG = "rejudge.jsonl"


def rejudge(given: Mapping[str, Any]) -> int:
    """Write scores.jsonl and summary.json with the second grades, and rejudge.jsonl, into --out. The run stays."""
    run, out = given["run"], given["out"] or given["run"] / "rejudged"
    manifest = load(given["manifest"], given["media_root"])
    found = _scores(run, manifest)
    choice = JudgeChoice(given["judge_url"], given["judge_model"], given["judge_replay"], given["judge_tolerance"])
    if not choice.chosen:
        raise errors.UsageError("a second look needs a judge: --judge-url, --judge-model or --judge-replay")
    with locked(out), judging(choice, out) as bench:
        if bench.session is None:
            raise errors.UsageError("a second look needs a judge")
        kept: list[Score] = []
        log: list[Mapping[str, Any]] = []
        for name in dict.fromkeys(score.suite for score in found):
            own = [score for score in found if score.suite == name]
            look = suites()[name].rejudge
            made = look([case for case in manifest.cases if case.suite == name], own, bench.session) if look else None
            kept += made.scores if made else own
            log += made.log if made else ()
        rows = aggregate(kept, origins(manifest.cases))
        boards = sections(manifest.cases, kept)
        write_atomic(out / SCORES, b"".join(encode(score) for score in kept))
        write_atomic(out / LOG, b"".join(_line(entry) for entry in log))
        write_summary(out, rows, boards)
    changed = sum(one["after"] != one["before"] for entry in log for one in entry["grades"])
    asked = sum(entry["asked"] for entry in log)
    say("\n\n".join(printed(board) for own in boards.values() for board in own))
    say(f"\n{len(log)} items of several systems, {asked} looked at again, {changed} grades changed")
    say(f"{out}: {SCORES} {LOG}")
    return exit_code(kept)


def stability(runs: Sequence[Path]) -> int:
    """Print how much the metrics of repeated runs differ. Needs two runs of the same manifest."""
    if len(runs) < 2:
        raise errors.UsageError("stability needs at least two output folders of the same manifest")
    digests = {header["manifest"]["sha256"] if (header := read_header(run)) else None for run in runs}
    if len(digests) != 1 or None in digests:
        raise errors.UsageError(
            f"the folders do not hold finished runs of one manifest ({HEADER} differs or is missing)"
        )
    say(printed(stability_board([[record.score for record in read_records(run / SCORES).values()] for run in runs])))
    return errors.EXIT_OK


def _scores(run: Path, manifest: Manifest) -> list[Score]:
    """The records of a run, in manifest order. Raises UsageError if the run is not of this manifest."""
    header = read_header(run)
    if header is None or header["manifest"]["sha256"] != manifest.digest:
        raise errors.UsageError(f"{run}: not a run of this manifest")
    return [record.score for record in read_records(run / SCORES).values()]


def _line(entry: Mapping[str, Any]) -> bytes:
    return orjson.dumps(rounded(to_tree(entry)), option=orjson.OPT_APPEND_NEWLINE)
