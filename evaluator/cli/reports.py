"""Commands that look at finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaluator.cli.group import REPORT_EXIT_CODES, cli
from evaluator.cli.options import PathIn, json_option, option, resampling_options, words, write_option


@cli.command(epilog=REPORT_EXIT_CODES)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@option("--thumbnails/--no-thumbnails", default=False, show_default=True, help="Decode the clips for frames and sound.")
@option("--manifest", type=PathIn, help="What each case was. [default: the manifest that the run names]")
@option("--media-root", type=PathIn, help="Folder that its paths start from. [default: the manifest's folder]")
def report(**options: Any) -> int:
    """Write report.html, report.csv and report.md into the --out folder of a run."""
    from evaluator import commands_report

    return commands_report.report(options)


@cli.command(epilog=REPORT_EXIT_CODES)
@click.argument("folders", nargs=-1, required=True, type=PathIn)
@option("--by", type=click.Choice(["run", "system"]), default="run", show_default=True, help="What is compared.")
@option("--baseline", help="With --by system: which one to compare with. [default: the first]")
@option("--all-pairs", is_flag=True, help="Every pair, not only the first with each other one.")
@option("--manifest", type=PathIn, help="Which source each case has. [default: the manifest that the run names]")
@option("--allow", callback=words, help="Differences to accept: profile,tier,model,metric,judge.")
@option("--fail-if", multiple=True, help="Exit 3 if met: 'ssim<-0.01', 'core/lpips>0.02@p0.05', 'lost>0'. Repeatable.")
@option(
    "--test",
    type=click.Choice(["permutation", "wilcoxon", "bootstrap"]),
    default="permutation",
    show_default=True,
    help="Paired test behind p.",
)
@option("--top", type=click.IntRange(min=0), default=5, show_default=True, help="Cases to list per metric.")
@resampling_options
@write_option
@json_option
def compare(**options: Any) -> int:
    """Compare runs case by case: the first folder with each other one.

    With --by system: the systems of one run, matched by what they were given (source, prompt, references, shots).
    """
    from evaluator import commands_report

    return commands_report.compare(options)


@cli.command(epilog=REPORT_EXIT_CODES)
@click.argument("scores", type=PathIn)
@click.argument("human", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@option("--metrics", callback=words, help="Only these metrics, separated by commas.")
@option("--raw", is_flag=True, help="Compare the raw figure of each record, not its value.")
@option("--manifest", type=PathIn, help="Which task each case has. [default: the manifest that the run names]")
@resampling_options
@write_option
@json_option
def agree(**options: Any) -> int:
    """Compare the metrics of a run with what people said in a CSV file.

    \b
    Columns, with a line that names them:
      case, score                 how good an output is, higher is better
      case, rank                  place among the outputs of an item, 1 is best
      case, label                 a category that the metric gives too
      case_a, case_b, preference  a, b or tie
    and, where they matter: annotator, metric, item, note.
    """
    from evaluator import commands_report

    return commands_report.agree(options)


@cli.command(epilog=REPORT_EXIT_CODES)
@click.argument("folders", nargs=-1, required=True, type=PathIn)
@option("--metrics", callback=words, help="Only these metrics, separated by commas.")
@option("--last", type=click.IntRange(min=1), default=8, show_default=True, help="Runs to show; files hold all.")
@write_option
@json_option
def history(**options: Any) -> int:
    """List runs over time, what moved, and which digest changed with it.

    A folder is a run, or holds runs.
    """
    from evaluator import commands_report

    return commands_report.history(options)


@cli.command()
@click.argument("runs", nargs=-1, required=True, type=PathIn)
def stability(runs: tuple[Path, ...]) -> int:
    """How much the metrics of repeated runs of one manifest differ (MultiRef-Compass, section 5)."""
    from evaluator import commands_rejudge

    return commands_rejudge.stability(runs)
