"""Commands that only one protocol has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaluator.cli.group import EXIT_CODES, REPORT_EXIT_CODES, cli
from evaluator.cli.options import PathIn, PathOut, RunIn, json_option, manifest_options, option


@cli.group(name="ave-compass", epilog=REPORT_EXIT_CODES)
def ave_compass() -> None:
    """What only AVE-Compass has: the reference's table, repeated runs, agreement with people."""


@ave_compass.command(name="csv", epilog=REPORT_EXIT_CODES)
@click.argument("folder", type=RunIn)
@manifest_options
@option("--out", type=PathOut, help="File to write. [default: stdout]")
def ave_compass_csv(folder: Path, manifest: Path, media_root: Path | None, out: Path | None) -> int:
    """Write a run with the columns of the reference's results."""
    from evaluator import commands_ave

    return commands_ave.csv(folder, manifest, media_root, out)


@ave_compass.command(name="stability", epilog=REPORT_EXIT_CODES)
@click.argument("folders", nargs=-1, required=True, type=RunIn)
@json_option
def ave_compass_stability(folders: tuple[Path, ...], as_json: bool) -> int:
    """Compare the means of repeated runs with the published bounds; exit 3 if one moves too far."""
    from evaluator import commands_ave

    return commands_ave.repeats(folders, as_json)


@ave_compass.command(name="agree", epilog=REPORT_EXIT_CODES)
@click.argument("folder", type=RunIn)
@click.argument("labels", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@json_option
def ave_compass_agree(folder: Path, labels: Path, as_json: bool) -> int:
    """Compare the judge's answers with those of people: a CSV of case, item, value and perhaps annotator."""
    from evaluator import commands_ave

    return commands_ave.agree(folder, labels, as_json)


@cli.command(
    name="lab", context_settings={"ignore_unknown_options": True, "help_option_names": []}, add_help_option=False
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def lab(arguments: tuple[str, ...]) -> int:
    """Make clips with known transitions and sound bridges, and measure what CutCraft's rules find in them."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.lab(arguments)


@cli.group()
def cutcraft() -> None:
    """CutCraft's example, displacement test, sensitivity analysis and counters."""


@cutcraft.command(name="example", epilog=EXIT_CODES)
def cutcraft_example() -> int:
    """Make the clip of the worked example out of the demo clips, and its manifest."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.make_example()


@cutcraft.command(name="displace", epilog=EXIT_CODES)
@click.argument("manifest", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@option("--by", "shift", type=click.IntRange(min=1), default=30, show_default=True, help="Clips further on.")
@option("--out", type=PathOut, required=True, help="Manifest to write.")
def cutcraft_displace(manifest: Path, shift: int, out: Path) -> int:
    """Write a manifest in which every clip is scored with another clip's script and questions."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.displace(manifest, shift, out)


@cutcraft.command(name="displacement", epilog=EXIT_CODES)
@click.argument("run", type=PathIn)
@click.argument("displaced_run", type=PathIn)
@option("--manifest", type=PathIn, required=True, help="Manifest of the first run.")
@option("--displaced", "displaced_manifest", type=PathIn, required=True, help="Manifest of the second run.")
@option("--media-root", type=PathIn, help="Folder that paths start from. [default: the first manifest's folder]")
def cutcraft_displacement(**given: Any) -> int:
    """Print which dimensions drop when clips are scored with other clips' scripts."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.compare_displaced(**given)


@cutcraft.command(name="sensitivity", epilog=EXIT_CODES)
@click.argument("run", type=PathIn)
@manifest_options
def cutcraft_sensitivity(run: Path, manifest: Path, media_root: Path | None) -> int:
    """Print the systems' ranking under other choices of A2's grades and A3's lambda and weight."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.vary(run, manifest, media_root)


@cutcraft.command(name="counters", epilog=EXIT_CODES)
@click.argument("run", type=PathIn)
def cutcraft_counters(run: Path) -> int:
    """Print what a sample of a run cost, beside the reference."""
    from evaluator import commands_cutcraft

    return commands_cutcraft.count(run)
