"""What `evaluator filter` does: measure the source clips of a manifest and keep the lines that stay within the bounds.

A measurement whose model is not mounted decides nothing, and neither does a stand-in's: bounds are about values of the
published model. A line is kept if all its measurements pass, dropped if any
fails, and undecided otherwise; each goes into a file of its own, byte for byte as it was written, with the reasons
beside it. How varied the instructions of all lines and of the kept ones are is told too. Knows suites only by
`Suite.bounds` and `Suite.corpora`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import orjson

from evaluator import errors
from evaluator.commands import load, say
from evaluator.experts import minilm
from evaluator.report.boards import printed
from evaluator.runner import header
from evaluator.runner import run as running
from evaluator.runner.options import RunOptions
from evaluator.runtime.files import write_atomic
from evaluator.runtime.store import Store
from evaluator.schema import Case, Score, rounded
from evaluator.suites import suites
from evaluator.suites.base import Suite
from evaluator.suites.board import Board
from evaluator.suites.bounds import Bound

PROFILE = "curation"
KEPT, DROPPED, UNDECIDED = "kept", "dropped", "undecided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one case: where it goes, and each measurement with whether it passed (None: undecided)."""

    case: str
    place: str
    checks: Mapping[str, tuple[float | None, bool | None, str]]  # metric -> (value, passed, why it decides nothing)


def run(name: str, manifest: Path, media_root: Path | None, models: Path | None, out: Path, quiet: bool) -> int:
    """Write kept.jsonl, dropped.jsonl, undecided.jsonl and filter.json into `out`. Exit 4 if anything is undecided."""
    known = {suite.id: suite for suite in suites().values() if suite.bounds}
    if name not in known:
        raise errors.UsageError(f"{name}: no filter is known; there are {', '.join(known) or 'none'}")
    loaded = load(manifest, media_root)
    options = RunOptions(out=out, workers=header.cores(), suites=(name,), profile=PROFILE, quiet=quiet)
    store = Store.open(models)
    result = running.run(loaded, store, options)
    verdicts = judge(known[name].bounds, result.scores)
    lines = dict(zip((case.id for case in loaded.cases), _lines(manifest, loaded.lines), strict=True))
    for place in (KEPT, DROPPED, UNDECIDED):
        chosen = [lines[verdict.case] for verdict in verdicts if verdict.place == place]
        write_atomic(out / f"{place}.jsonl", b"".join(chosen))
    told_of = _corpora(known[name], loaded.cases, verdicts, store)
    report = _report(known[name].bounds, verdicts, told_of)
    write_atomic(out / "filter.json", orjson.dumps(report, option=orjson.OPT_INDENT_2))
    say("\n".join(told(known[name].bounds, verdicts)))
    if told_of is not None:
        say(f"\n{printed(told_of)}")
    return errors.EXIT_PREREQUISITE if any(one.place == UNDECIDED for one in verdicts) else errors.EXIT_OK


def _corpora(suite: Suite, cases: Sequence[Case], verdicts: Sequence[Verdict], store: Store) -> Board | None:
    """The table of the instructions, of all lines of the suite and of those that were kept."""
    if suite.corpora is None:
        return None
    kept = {verdict.case for verdict in verdicts if verdict.place == KEPT}
    own = [case for case in cases if case.suite == suite.id]
    return suite.corpora({"all": own, KEPT: [case for case in own if case.id in kept]}, partial(minilm.embed, store))


def judge(bounds: Sequence[Bound], scores: Sequence[Score]) -> list[Verdict]:
    """A verdict per case, in the order of the records."""
    by_case: dict[str, dict[str, Score]] = {}
    for score in scores:
        by_case.setdefault(score.case, {})[score.metric] = score
    return [_verdict(case, bounds, found) for case, found in by_case.items()]


def _verdict(case: str, bounds: Sequence[Bound], found: Mapping[str, Score]) -> Verdict:
    checks: dict[str, tuple[float | None, bool | None, str]] = {}
    for bound in bounds:
        score = found[bound.metric]
        others = ", ".join(sorted({model.stands_in_for for model in score.models} - {""}))
        if others and score.value is not None:
            checks[bound.metric] = (score.value, None, f"a stand-in for {others} has measured it")
            continue
        passed = None if score.value is None else bound.passes(score.value)
        checks[bound.metric] = (score.value, passed, score.reason.message if score.reason else "")
    results = [passed for _, passed, _ in checks.values()]
    place = DROPPED if False in results else UNDECIDED if None in results else KEPT
    return Verdict(case, place, checks)


def told(bounds: Sequence[Bound], verdicts: Sequence[Verdict]) -> list[str]:
    """Lines for people: how many passed each bound, and what became of all."""
    lines = []
    for bound in bounds:
        results = [verdict.checks[bound.metric][1] for verdict in verdicts]
        limit = f"{'>' if bound.strict else '>='} {bound.low:g}" if bound.low is not None else f"<= {bound.high:g}"
        passed, unknown = results.count(True), results.count(None)
        lines.append(f"  {bound.metric} {limit}: {passed} pass, {results.count(False)} fail, {unknown} undecided")
    counts = {place: sum(one.place == place for one in verdicts) for place in (KEPT, DROPPED, UNDECIDED)}
    return [*lines, ", ".join(f"{count} {place}" for place, count in counts.items())]


def _report(bounds: Sequence[Bound], verdicts: Sequence[Verdict], corpora: Board | None) -> object:
    entries = [
        {
            "case": one.case,
            "verdict": one.place,
            "checks": {
                name: {"value": value, "passed": passed, "reason": why}
                for name, (value, passed, why) in one.checks.items()
            },
        }
        for one in verdicts
    ]
    limits = [{"metric": one.metric, "low": one.low, "high": one.high, "strict": one.strict} for one in bounds]
    told_of = [dict(zip(corpora.columns, row, strict=True)) for row in corpora.rows] if corpora is not None else []
    return rounded({"bounds": limits, "cases": entries, "instructions": told_of})


def _lines(manifest: Path, numbers: Sequence[int]) -> list[bytes]:
    """The lines of the manifest with these numbers (from 1), each with its line end."""
    raw = manifest.read_bytes().split(b"\n")
    return [raw[number - 1].rstrip(b"\r") + b"\n" for number in numbers]
