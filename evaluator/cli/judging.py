"""Commands around a judge: serve and check one, look back, distil, generate documents, grade again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from evaluator.cli.group import EXIT_CODES, JUDGE_EXIT_CODES, cli
from evaluator.cli.options import (
    LedgerIn,
    PathIn,
    PathOut,
    json_option,
    judge_model_option,
    manifest_options,
    model_options,
    option,
    words,
)


@cli.group(epilog=JUDGE_EXIT_CODES)
def judge() -> None:
    """A local judge: start one, check one, look back at what one said."""


@judge.command(name="serve", epilog=JUDGE_EXIT_CODES)
@judge_model_option
@option("--port", type=click.IntRange(0, 65535), default=0, help="Port on loopback. [default: a free one]")
@option("--served-name", default="judge", show_default=True, help="Model name that it answers to, for --judge-for.")
@option("--vllm", help="The vLLM program. [default: vllm on the PATH]")
@option("--log", type=PathOut, default=Path("judge-server.log"), show_default=True, help="File for what vLLM says.")
@option("--print-command", is_flag=True, help="Print the command line with its environment, start nothing.")
@json_option
@click.argument("extra", nargs=-1)
def judge_serve(**options: Any) -> int:
    """Serve a model directory with vLLM until interrupted. What follows -- goes to vLLM."""
    from evaluator import commands_judge

    return commands_judge.serve(options)


@judge.command(name="check", epilog=JUDGE_EXIT_CODES)
@option("--judge-url", help="http://127.0.0.1:PORT, http://[::1]:PORT or unix:/path. [default: start --judge-model]")
@option("--served-name", default="", help="Model to ask, where a server has several.")
@judge_model_option
@option("--vllm", help="The vLLM program. [default: vllm on the PATH]")
@option("--modalities", default="text,image,video", callback=words, show_default=True, help="What the judge takes in.")
@option("--questions", type=click.IntRange(min=1), default=16, show_default=True, help="Asked three times each.")
@option("--concurrency", type=click.IntRange(min=1), default=8, show_default=True, help="Questions at a time.")
@option(
    "--tolerance", type=click.FloatRange(min=0), default=0.0, show_default=True, help="Change of P that is accepted."
)
@json_option
def judge_check(**options: Any) -> int:
    """Try whether a judge obeys constraints, looks at evidence and repeats itself."""
    from evaluator import commands_judge

    return commands_judge.check(options)


@judge.command(name="verify", epilog=JUDGE_EXIT_CODES)
@click.argument("ledger", type=LedgerIn)
@option("--media/--no-media", default=True, show_default=True, help="Also compare kept pictures and sounds.")
@json_option
def judge_verify(ledger: Path, media: bool, as_json: bool) -> int:
    """Check that a ledger is whole: its chain, its keys, what its replies mean, its media."""
    from evaluator import commands_judge

    return commands_judge.verify(ledger, media, as_json)


@judge.command(name="show")
@click.argument("ledger", type=LedgerIn)
@click.argument("key")
def judge_show(ledger: Path, key: str) -> int:
    """Write all calls whose key begins with KEY, or whose item is KEY, to stdout as JSON."""
    from evaluator import commands_judge

    return commands_judge.show(ledger, key)


@judge.command(name="diff", epilog=JUDGE_EXIT_CODES)
@click.argument("first", type=LedgerIn)
@click.argument("second", type=LedgerIn)
@option(
    "--by", type=click.Choice(["key", "portable", "question"]), default="key", show_default=True, help="What is equal."
)
@json_option
def judge_diff(first: Path, second: Path, by: str, as_json: bool) -> int:
    """Compare the answers of two ledgers.

    \b
    --by key       the same request to the same weights in the same engine
    --by portable  the same request to the same weights in any engine
    --by question  the same request to any judge
    """
    from evaluator import commands_judge

    return commands_judge.diff(first, second, by, as_json)


@cli.group()
def distill() -> None:
    """From a judge's ledger to a smaller judge: training rows, agreement with the teacher."""


@distill.command(name="export")
@click.argument("ledgers", nargs=-1, required=True, type=LedgerIn)
@option("--out", type=PathOut, required=True, help="Folder for the rows and their media.")
@option("--held-out", type=click.FloatRange(0, 1), default=0.2, show_default=True, help="Share of clips to hold out.")
@option("--min-mass", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Leave out doubtful answers.")
@json_option
def distill_export(**options: Any) -> int:
    """Write training rows from ledgers, split by clip. How to train: the docstring of evaluator.judge.distill."""
    from evaluator import commands_distill

    return commands_distill.export(options)


@distill.command(name="agree")
@click.argument("teacher", type=LedgerIn)
@click.argument("student", type=LedgerIn)
@option("--rows", type=LedgerIn, help="Only the questions of this file, for example held_out.jsonl.")
@option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the resampling.")
@json_option
def distill_agree(teacher: Path, student: Path, rows: Path | None, seed: int, as_json: bool) -> int:
    """Compare the answers of a student with its teacher's: accuracy, kappa, distance of probabilities, per task."""
    from evaluator import commands_distill

    return commands_distill.agree(teacher, student, rows, seed, as_json)


@cli.group(epilog=EXIT_CODES)
def generate() -> None:
    """Documents that a protocol needs before it can score, written by a judge and checked before they are accepted."""


def _generate_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for add in (
        json_option,
        option("--workers", type=click.IntRange(min=1), help="Worker threads. [default: one per core]"),
        option("--limit", type=click.IntRange(min=1), help="Only the first N cases."),
        option(
            "--tries",
            type=click.IntRange(1, 9),
            default=3,
            show_default=True,
            help="Answers that the judge may give before a document that breaks rules is given up.",
        ),
        option(
            "--judge-tolerance", default=0.0, show_default=True, help="Change of P between repeats that is accepted."
        ),
        option("--judge-replay", type=PathIn, help="A ledger (judge.jsonl) that answers instead of a judge."),
        option("--judge-model", type=PathIn, help="A judge's model directory, served with vLLM while this lasts."),
        option("--judge-url", help="A judge server on loopback, for example http://127.0.0.1:8000."),
        option("--out", type=PathOut, required=True, help="Folder for the documents."),
        model_options,
        manifest_options,
    ):
        function = add(function)
    return function


@generate.command(name="caption", epilog=EXIT_CODES)
@_generate_options
def generate_caption(**options: Any) -> int:
    """Describe the source clip of every case: DIR/<case>_caption.json; DIR/rejected/ has what was refused, and why."""
    from evaluator import commands_generate

    return commands_generate.generate("caption", options)


@generate.command(name="checklist", epilog=EXIT_CODES)
@_generate_options
@option("--captions", type=PathIn, help="Folder of `generate caption`. [default: --out, then the case's checklist]")
def generate_checklist(**options: Any) -> int:
    """Write the checklist of every case: DIR/<case>_checklist.json; DIR/rejected/ has what was refused, and why."""
    from evaluator import commands_generate

    return commands_generate.generate("checklist", options)


@generate.command(name="multiref", epilog=EXIT_CODES)
@_generate_options
def generate_multiref(**options: Any) -> int:
    """Write the checklist of every MultiRef-Compass sample, once for all systems: DIR/<sample>_checklist.json."""
    from evaluator import commands_multiref

    return commands_multiref.checklists(options)


@cli.command(epilog=JUDGE_EXIT_CODES)
@click.argument("run", type=PathIn)
@manifest_options
@option("--out", type=PathOut, help="Folder for the second grades. [default: RUN/rejudged]")
@option("--judge-url", help="A judge server on loopback, for example http://127.0.0.1:8000.")
@option("--judge-model", type=PathIn, help="A judge's model directory, served while this lasts.")
@option("--judge-replay", type=PathIn, help="A ledger (judge.jsonl) that answers instead of a judge.")
@option("--judge-tolerance", default=0.0, show_default=True, help="Change of P between repeats that is accepted.")
def rejudge(**given: Any) -> int:
    """Let the judge look again at grades that differ between the systems of a run (MultiRef-Compass)."""
    from evaluator import commands_rejudge

    return commands_rejudge.rejudge(given)
