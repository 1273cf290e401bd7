"""What the `judge` subcommands do: serve, check, verify, show, diff. Load, call, print; returns the exit code.

Knows options and the judge package; errors are raised for `cli` to turn into codes.
"""

from __future__ import annotations

import shlex
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn, cast

import click

from evaluator import errors
from evaluator.commands import say, write_json
from evaluator.judge import audit, launch
from evaluator.judge.client import HttpJudge, HttpOptions
from evaluator.judge.handshake import Verdict, examine
from evaluator.judge.launch import LaunchOptions
from evaluator.judge.serve import prepare, serving
from evaluator.judge.types import Answer, Modality
from evaluator.schema import to_tree

SHOWN = 20
"""Differences that a person is shown; --json has all."""


def serve(given: Mapping[str, Any]) -> int:
    """Serve until interrupted, terminated, or until the server ends by itself."""
    if given["print_command"]:
        return _print_command(given)
    options = prepare(_model(given), given["vllm"], given["port"], given["extra"], given["served_name"])
    signal.signal(signal.SIGTERM, _terminate)
    say(f"starting vLLM on {options.model}; what it says goes to {given['log']}")
    with serving(options, given["log"], tell=_still_starting) as up:
        say(f"ready: --judge-url {up.url}  ({up.judge.identity.engine})")
        if given["as_json"]:
            write_json({"url": up.url, "pid": up.server.pid, "log": given["log"]})
        status = up.server.wait()
    raise errors.JudgeUnusableError(f"the judge server ended with status {status}; see {given['log']}")


def check(given: Mapping[str, Any]) -> int:
    """Meet a judge, or start one, and examine it."""
    with _judge(given) as judge:
        verdict = examine(judge, given["questions"], given["concurrency"], given["tolerance"])
    if given["as_json"]:
        write_json(verdict.tree())
    else:
        say("\n".join(_verdict_lines(verdict)))
    return errors.EXIT_OK if verdict.ok else errors.EXIT_PREREQUISITE


def verify(ledger: Path, media: bool, as_json: bool) -> int:
    """Audit a ledger."""
    found = audit.verify(ledger, media)
    if as_json:
        judges = [{**to_tree(judge), "modalities": sorted(judge.modalities)} for judge in found.judges]
        write_json({**to_tree(_without_judges(found)), "judges": judges})
    else:
        say("\n".join(_audit_lines(found)))
    return errors.EXIT_USAGE if found.problem_count else errors.EXIT_OK


def show(ledger: Path, key: str) -> int:
    """Write whole records."""
    write_json(audit.show(ledger, key))
    return errors.EXIT_OK


def diff(first: Path, second: Path, by: str, as_json: bool) -> int:
    """Compare two ledgers."""
    found = audit.diff(first, second, cast(audit.By, by))
    if as_json:
        write_json(found)
    else:
        say("\n".join(_diff_lines(found)))
    return errors.EXIT_FAILED_CASES if found.changed else errors.EXIT_OK


# ------------------------------------------------------------------------------------------------------ pieces


def _model(given: Mapping[str, Any]) -> Path:
    return cast(Path, given["judge_model"]) or launch.MOUNTED


def _print_command(given: Mapping[str, Any]) -> int:
    """The command that `serve` would run, for a shell. Needs neither vLLM nor the model."""
    options = LaunchOptions(
        _model(given),
        given["port"] or 8000,
        given["vllm"] or "vllm",
        extra=given["extra"],
        served_name=given["served_name"],
    )
    words = launch.command(options)
    if given["as_json"]:
        write_json({"command": words, "environment": launch.OFFLINE, "flags_sha256": launch.flags_sha256(options)})
    else:
        click.echo(shlex.join(["env", *(f"{name}={value}" for name, value in launch.OFFLINE.items()), *words]))
    return errors.EXIT_OK


def _terminate(*_: object) -> NoReturn:
    """SIGTERM ends `serve` like ^C: the server is taken down first."""
    raise KeyboardInterrupt


def _still_starting(seconds: float) -> None:
    say(f"still starting after {seconds:.0f} s")


@contextmanager
def _judge(given: Mapping[str, Any]) -> Iterator[HttpJudge]:
    """The judge at --judge-url, else one that is started for the occasion."""
    if not given["judge_url"]:
        options = prepare(_model(given), given["vllm"])
        with tempfile.TemporaryDirectory() as folder, serving(options, Path(folder, "log"), tell=_still_starting) as up:
            yield up.judge
        return
    about = HttpOptions(
        model=given["served_name"],
        model_sha256=launch.model_sha256(given["judge_model"]) if given["judge_model"] else "",
        modalities=_modalities(given["modalities"]),
        concurrency=given["concurrency"],
    )
    with closing(HttpJudge.connect(given["judge_url"], about)) as judge:
        yield judge


def _modalities(words: tuple[str, ...]) -> frozenset[Modality]:
    try:
        return frozenset(Modality(word) for word in words)
    except ValueError as error:
        raise errors.UsageError(f"--modalities: {error}; there are {', '.join(Modality)}") from error


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    judge = verdict.identity
    yield f"{judge.model}: {judge.engine}, {', '.join(sorted(judge.modalities))}"
    yield f"model digest: {judge.model_sha256 or 'unknown: name the directory with --judge-model'}"
    if not judge.trained:
        yield "this judge says that it is a wiring fixture: its answers mean nothing"
    for finding in verdict.findings:
        yield f"  {'ok    ' if finding.ok else 'FAILED'}  {finding.name}: {finding.detail}"
    if verdict.repeats:
        yield f"  {'ok    ' if verdict.repeats.ok else 'FAILED'}  repeats itself: {verdict.repeats.summary}"
    yield "usable" if verdict.ok else "not usable"


def _without_judges(found: audit.Audit) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__dataclass_fields__ if name != "judges"}


def _audit_lines(found: audit.Audit) -> Iterator[str]:
    counts = ", ".join(f"{count} {status}" for status, count in sorted(found.statuses.items()))
    yield f"{found.path}: {found.records} records ({counts or 'no calls'}), head {found.head}"
    for judge in found.judges:
        yield f"  {judge.model} {judge.model_sha256 or '(digest unknown)'}, {judge.engine}"
        if not judge.trained:
            yield "    a wiring fixture: its answers mean nothing"
    yield from (f"  {problem}" for problem in found.problems)
    yield from (f"  answered twice, and not alike: {key}" for key in found.changing)
    yield f"{found.problem_count} problems" if found.problem_count else "whole"


def _diff_lines(found: audit.Diff) -> Iterator[str]:
    for item in found.changed[:SHOWN]:
        moved = "" if item.largest is None else f"  (P changes by up to {item.largest:.3g})"
        yield f"  {item.item}: {_shown(item.first)} -> {_shown(item.second)}{moved}"
    if len(found.changed) > SHOWN:
        yield f"  ... and {len(found.changed) - SHOWN} more"
    yield (
        f"{found.equal} equal, {len(found.changed)} changed, {len(found.only_first)} only in the first, "
        f"{len(found.only_second)} only in the second"
    )


def _shown(answer: Answer) -> str:
    return answer.label if answer.label is not None else repr(answer.value)[:60]
