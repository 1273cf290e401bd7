"""What each subcommand does: load, call, print. Returns the exit code; errors are raised for `cli` to turn into codes.

Knows files, the runner and the report; knows no metric and no model.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click
import orjson

from evaluator import errors
from evaluator.manifest import Manifest, read
from evaluator.manifest import check as checking
from evaluator.manifest.check import Facts
from evaluator.metrics.base import Direction, Metric
from evaluator.report.aggregate import SUMMARY, Row, aggregate, origins, write_summary
from evaluator.report.boards import Sections, printed, sections
from evaluator.report.page import PAGE
from evaluator.report.table import ARROWS, absences, stand_ins, table
from evaluator.runner import header
from evaluator.runner import merge as merging
from evaluator.runner import run as running
from evaluator.runner.judging import JudgeChoice, Reserved
from evaluator.runner.options import RunOptions
from evaluator.runner.prom import PROM
from evaluator.runner.run import LOG, RunResult
from evaluator.runner.writer import SCORES
from evaluator.runtime.store import ModelStatus, Store
from evaluator.schema import Score, Status, to_tree
from evaluator.suites import Each, suites
from evaluator.suites.choices import Choice

WIDTH = 150
"""Columns of a table when nobody's terminal says otherwise."""


def run(given: Mapping[str, Any]) -> int:
    """Score a manifest and say what came out."""
    manifest = load(given["manifest"], given["media_root"])
    options = RunOptions(
        out=given["out"],
        workers=given["workers"] or (0 if given["engine"] == "ray" else header.cores()),
        metrics=given["metrics"],
        suites=given["suite"],
        limit=given["limit"],
        shard=given["shard"],
        profile=given["profile"],
        require_reference=given["require_reference"],
        fresh=not given["resume"],
        quiet=given["quiet"],
        dry_run=given["dry_run"],
        device=given["device"],
        engine=given["engine"],
        ray_address=given["ray_address"],
        judge=JudgeChoice(
            given["judge_url"],
            given["judge_model"],
            given["judge_replay"],
            given["judge_tolerance"],
            given["judge_engine"],
            tuple(Reserved.of(model, where) for model, where in given["judge_for"]),
        ),
    )
    result = running.run(manifest, Store.open(given["models"]), options)
    if options.dry_run:
        return _announce(result, given["as_json"])
    rows, boards = aggregate(result.scores, origins(manifest.cases)), sections(manifest.cases, result.scores)
    write_summary(options.out, rows, boards)
    if given["report"]:
        _report(options.out)
    if not options.quiet:
        show(options.out, rows, boards, result.scores, result.reused)
    if given["as_json"]:
        write_json({"status": result.status, "out": options.out, "rows": rows})
    return exit_code(result.scores)


def check(manifest: Path, media_root: Path | None, as_json: bool) -> int:
    """Probe every file that a manifest names."""
    found = checking.check(load(manifest, media_root))
    if as_json:
        write_json(found)
    else:
        say("\n".join([*found.problems, _measured(found.facts), counted(len(found.problems), "problem")]))
    return errors.EXIT_USAGE if found.problems else errors.EXIT_OK


def list_metrics(name: str | None, as_json: bool) -> int:
    """Suites and the identity cards of their metrics."""
    known = suites()
    if name is not None and name not in known:
        raise errors.UsageError(f"no suite {name!r}; there are {', '.join(known)}")
    chosen = [known[name]] if name else list(known.values())
    if as_json:
        write_json({suite.id: [header.card(metric) for metric in suite.metrics] for suite in chosen})
        return errors.EXIT_OK
    for suite in chosen:
        click.echo(f"{suite.id}: {suite.title} ({suite.paper})\n")
        for metric in suite.metrics:
            click.echo(f"  {_identity(metric)}\n      {metric.summary}\n      {metric.paper}{_answered_by(metric)}")
        click.echo("".join(_choice(one) for one in suite.choices))
    return errors.EXIT_OK


def merge(manifest: Path, media_root: Path | None, parts: tuple[Path, ...], out: Path, quiet: bool) -> int:
    """Join shards."""
    whole = load(manifest, media_root)
    joined = merging.merge(whole, parts, out)
    try:
        rows, boards = aggregate(joined.scores, origins(whole.cases)), sections(whole.cases, joined.scores)
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # written by another version
        why = f"no table can be made of these records ({type(error).__name__}: {error})"
        raise errors.UsageError(f"{out / SCORES}: {why}; run the shards again with this version, --fresh") from error
    write_summary(out, rows, boards)
    _report(out)
    if joined.missing:
        case, metric = joined.missing[0]
        say(f"{len(joined.missing)} scores are in no part (first {metric} of {case}): was a shard left out?")
    if not quiet:
        show(out, rows, boards, joined.scores, len(joined.scores))
    return errors.EXIT_FAILED_CASES if joined.missing else exit_code(joined.scores)


def models(what: str, folder: Path | None, as_json: bool) -> int:
    """List, verify or locate models."""
    store = Store.open(folder)
    status = store.status(hashed=what == "verify", fresh=what == "verify")
    if as_json:
        write_json(status)
    else:
        lines = {"list": _list_model, "verify": _verify_model, "where": _locate_model}[what]
        click.echo("\n".join(line for model in status for line in lines(model)))
    wrong = any(file.state == "corrupt" for model in status for file in model.files)
    always = {entry.id for entry in store.lock.embedded}
    incomplete = any(model.entry.id in always and not model.ready for model in status)
    return errors.EXIT_PREREQUISITE if wrong or (what == "verify" and incomplete) else errors.EXIT_OK


# ------------------------------------------------------------------------------------------------------ pieces


def load(path: Path, media_root: Path | None) -> Manifest:
    """Read a manifest against the suites that exist. Raises ManifestError with all of its problems."""
    return read(path, media_root, suites=Each(lambda suite: suite.data), examine=Each(lambda suite: suite.examine))


def _report(out: Path) -> None:
    """report.html and its tables, from what is on the disk; clips are not decoded again."""
    from evaluator.report.page.writer import write_report  # templates: nothing that a run needs before its end

    write_report(out)


def say(text: str) -> None:
    """A line for people."""
    click.echo(text, err=True)


def write_json(tree: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.buffer.write(orjson.dumps(to_tree(tree), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def exit_code(scores: Iterable[Score]) -> int:
    """3 if any metric failed, else 0."""
    failed = any(score.status is Status.FAILED for score in scores)
    return errors.EXIT_FAILED_CASES if failed else errors.EXIT_OK


def show(out: Path, rows: list[Row], boards: Sections, scores: tuple[Score, ...], reused: int) -> None:
    """The tables, what is missing and why, and where everything is."""
    width = get_terminal_size((WIDTH, 24)).columns if sys.stderr.isatty() else WIDTH
    for name in dict.fromkeys(row.suite for row in rows):
        own = [row for row in rows if row.suite == name]
        metrics = {metric.id: metric for metric in suites()[name].metrics}
        say("\n" + table(name, own, metrics, width))
        for board in boards.get(name, ()):
            say("\n" + printed(board))
    say(f"\n{ARROWS[Direction.HIGHER]} higher is better, {ARROWS[Direction.LOWER]} lower is better; means over cases")
    for line in [*stand_ins(rows), *absences(scores, width - 2)]:
        say(f"  {line}")
    counts = {status: sum(score.status is status for score in scores) for status in Status}
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    kept = f" ({reused} from an earlier run)" if reused else ""
    files = [name for name in (SCORES, SUMMARY, header.HEADER, LOG, PROM, PAGE) if (out / name).exists()]
    say(f"\n{counted(len(scores), 'score')}: {told}{kept}\n{out}: {' '.join(files)}")


def _measured(facts: Facts) -> str:
    sound = f"{facts.with_sound} with sound, {facts.without_sound} without"
    others = f"{counted(facts.sounds, 'sound')}, {counted(facts.images, 'image')}"
    length = f"{counted(facts.frames, 'frame')}, {facts.seconds:.1f} s"
    return f"{counted(facts.clips, 'clip')} ({sound}), {others}; {length}"


def counted(number: int, noun: str) -> str:
    """`1 clip`, `2 clips`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _announce(result: RunResult, as_json: bool) -> int:
    """What a dry run found."""
    wanted = [{"case": job.case.id, "metric": job.metric.id, "fingerprint": job.fingerprint} for job in result.jobs]
    if as_json:
        write_json(wanted)
    cases = len({job.case.id for job in result.jobs})
    files = len({digest for job in result.jobs for digest in job.media.values()})
    say(f"would compute {counted(len(wanted), 'score')} of {counted(cases, 'case')} from {counted(files, 'file')}")
    return errors.EXIT_OK


def _identity(metric: Metric) -> str:
    low, high = ("∞" if bound is None else f"{bound:g}" for bound in metric.range)
    unit = f" {metric.unit}" if metric.unit else ""
    return f"{ARROWS[metric.direction]} {metric.id}  {'-' if low == '∞' else ''}{low} .. {high}{unit}"


def _answered_by(metric: Metric) -> str:
    """Who judges it, if anybody does."""
    if metric.judged is None:
        return ""
    alone = metric.judged.model
    only = "refined by a judge where there is one" if metric.unjudged else "needs a judge"
    return (
        f"\n      needs {alone}, which no other judge replaces: --judge-for {alone}=URL" if alone else f"\n      {only}"
    )


def _choice(one: Choice) -> str:
    others = f"\n      other readings: {one.others}" if one.others else ""
    return f"\n  choice {one.name}: {one.value}\n      the paper: {one.paper}{others}"


def _list_model(model: ModelStatus) -> list[str]:
    entry = model.entry
    state = "serves" if model.resolved else ("ready" if model.ready else "missing")
    role = f"stands in for {entry.stands_in_for}" if entry.stands_in_for else "the published model"
    return [f"{entry.capability:<22}{entry.id:<22}{entry.tier:<11}{state:<9}{role}"]


def _verify_model(model: ModelStatus) -> list[str]:
    return [f"{file.state:<14}{model.entry.id}/{file.name}  {file.found or ''}".rstrip() for file in model.files]


def _locate_model(model: ModelStatus) -> list[str]:
    entry = model.entry
    lines = [f"{entry.id} ({entry.tier}; licence: code {entry.licence.code}, weights {entry.licence.weights})"]
    for file in model.files:
        digest = f"SHA-256 {file.expected}" if file.expected else "any file that honours the contract"
        lines.append(f"  {'missing' if file.state == 'missing' else 'here':<8}{file.path}  ({digest})")
    return [*lines, f"  from    {entry.origin.published}", ""]
