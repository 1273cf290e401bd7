"""Commands about this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaluator.cli.group import EXIT_CODES, cli
from evaluator.cli.options import PathIn, PathOut, json_option, judge_for_option, model_options, option


@cli.command()
@model_options
@option("--clips", type=PathOut, help="Folder of the synthetic clips, made there once. [default: the cache]")
@option("--out", type=PathOut, help="Folder for bench.json and bench.md.")
@option("--against", type=PathIn, help="An earlier bench.json: exit 3 if a ratio got clearly worse.")
@option("--race", is_flag=True, help="Also run the usual flow, one process per metric and case.")
@option("--quick", is_flag=True, help="Two short clips, and only what fits into two minutes.")
@option(
    "--device",
    type=click.Choice(["cpu", "gpu"]),
    default="cpu",
    show_default=True,
    help="cpu: S1 to S10. gpu: G1, G4 and G9, on this machine's GPU.",
)
@option("--judge-url", help="Also G6, of a judge server on loopback.")
@json_option
def bench(**options: Any) -> int:
    """Measure how fast this machine scores, against limits and against the usual flow."""
    from evaluator import commands_bench

    return commands_bench.run(options)


@cli.command(epilog=EXIT_CODES)
@option("--manifest", type=PathIn, help="Look at what this manifest needs. [default: at everything]")
@option("--media-root", type=PathIn, help="Folder that paths start from. [default: the manifest's folder]")
@option("--profile", default="paper", show_default=True, help="The profile in which the manifest will be scored.")
@model_options
@option("--out", type=PathOut, default=Path("out"), show_default=True, help="Folder that a run would write to.")
@option("--judge-url", help="A judge server on loopback that should answer.")
@judge_for_option
@option("--require-reference", is_flag=True, help="Treat a stand-in model as missing.")
@json_option
def doctor(**options: Any) -> int:
    """Is this machine ready: software, codecs, device, models, judge."""
    from evaluator import commands_doctor

    return commands_doctor.doctor(options)
