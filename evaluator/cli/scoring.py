"""Commands around a run: check and score a manifest, join shards, list metrics and models, make and filter lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaluator.cli.group import EXIT_CODES, cli
from evaluator.cli.options import (
    PathIn,
    PathOut,
    json_option,
    judge_for_option,
    manifest_options,
    model_options,
    option,
    ray_options,
    settings,
    shard,
    words,
)


@cli.command(epilog=EXIT_CODES)
@manifest_options
@model_options
@option("--out", type=PathOut, default=Path("out"), show_default=True, help="Folder for the results.")
@option("--suite", callback=words, help="Only these suites, separated by commas.")
@option("--metrics", callback=words, help="Only these metrics, separated by commas.")
@option("--limit", type=click.IntRange(min=1), help="Only the first N cases.")
@option("--shard", default="1/1", callback=shard, show_default=True, help="Part i of n, by source clip.")
@option("--profile", default="paper", show_default=True, help="Which reading of the papers to compute.")
@option("--workers", type=click.IntRange(min=1), help="Worker threads, or actors. [default: one per core, or per GPU]")
@ray_options
@option("--device", type=click.Choice(["cpu", "gpu"]), default="cpu", show_default=True, help="Where models run.")
@option("--judge-url", help="A judge server on loopback, for example http://127.0.0.1:8000.")
@option("--judge-model", type=PathIn, help="A judge's model directory, served while the run lasts.")
@option(
    "--judge-engine",
    type=click.Choice(["auto", "vllm", "local"]),
    default="auto",
    show_default=True,
    help="What runs --judge-model: vLLM, or transformers in this process (slow).",
)
@judge_for_option
@option("--judge-replay", type=PathIn, help="A ledger (judge.jsonl) that answers instead of all judges.")
@option("--judge-tolerance", default=0.0, show_default=True, help="Change of P between repeats that is accepted.")
@option("--require-reference", is_flag=True, help="Exit 4 instead of using a stand-in model.")
@option("--resume/--fresh", default=True, show_default=True, help="Go on in --out, or start over.")
@option("--report/--no-report", default=True, show_default=True, help="Write report.html and its tables at the end.")
@option("--dry-run", is_flag=True, help="Plan, say what would be done, do nothing.")
@option("-q", "--quiet", is_flag=True, help="No progress and no table.")
@json_option
def run(**options: Any) -> int:
    """Score a manifest."""
    from evaluator import commands

    return commands.run(options)


@cli.command()
@manifest_options
@option("--checklists", is_flag=True, help="Look at the checklists instead of the clips: every rule, every warning.")
@json_option
def check(manifest: Path, media_root: Path | None, checklists: bool, as_json: bool) -> int:
    """Read a manifest and every file that it names; report everything that is wrong."""
    if checklists:
        from evaluator import commands_generate

        return commands_generate.check_checklists(manifest, media_root, as_json)
    from evaluator import commands

    return commands.check(manifest, media_root, as_json)


@cli.command(name="list")
@click.argument("suite", required=False)
@json_option
def list_(suite: str | None, as_json: bool) -> int:
    """List suites and their metrics: direction, range, unit, source."""
    from evaluator import commands

    return commands.list_metrics(suite, as_json)


@cli.command()
@manifest_options
@click.argument("parts", nargs=-1, required=True, type=PathIn)
@option("--out", type=PathOut, required=True, help="Folder for the joined results.")
@option("-q", "--quiet", is_flag=True, help="No table.")
def merge(manifest: Path, media_root: Path | None, parts: tuple[Path, ...], out: Path, quiet: bool) -> int:
    """Join the --out folders of shards into one."""
    from evaluator import commands

    return commands.merge(manifest, media_root, parts, out, quiet)


@cli.command(epilog=EXIT_CODES)
@click.argument("suite")
@click.argument("root", type=PathIn)
@option("--system", required=True, help="The model or method whose clips these are.")
@option("--out", type=PathOut, help="File to write. [default: ROOT/SYSTEM.jsonl]")
@click.option("--set", "settings", multiple=True, callback=settings, help="NAME=VALUE that only this suite knows.")
def manifest(suite: str, root: Path, system: str, out: Path | None, settings: dict[str, str]) -> int:
    """Write a manifest from the layout in which a benchmark is published."""
    from evaluator import commands_suites

    return commands_suites.manifest(suite, root, system, settings, out)


@cli.command(name="filter", epilog=EXIT_CODES)
@click.argument("suite")
@manifest_options
@model_options
@option("--out", type=PathOut, required=True, help="Folder for kept.jsonl, dropped.jsonl and undecided.jsonl.")
@option("-q", "--quiet", is_flag=True, help="No progress.")
def filter_(suite: str, manifest: Path, media_root: Path | None, models: Path | None, out: Path, quiet: bool) -> int:
    """Keep the lines of a manifest whose source clips pass a suite's curation filters."""
    from evaluator import commands_filter

    return commands_filter.run(suite, manifest, media_root, models, out, quiet)


@cli.group()
def models() -> None:
    """What models there are, which are present, and where the missing ones come from."""


def _models_command(name: str, text: str) -> None:
    @models.command(name=name, help=text)
    @model_options
    @json_option
    def _(models: Path | None, as_json: bool) -> int:
        from evaluator import commands

        return commands.models(name, models, as_json)


_models_command("list", "Every capability, the model that serves it here, and its tier.")
_models_command(
    "verify",
    "Read every weight file and compare it with the lock. Exit 4 if one differs or an embedded one is missing.",
)
_models_command("where", "The path where each file is, or has to be copied to, and from where.")
