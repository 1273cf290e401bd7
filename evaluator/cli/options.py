"""Options that several commands share. Every option is also an environment variable: --models is EVALUATOR_MODELS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def option(*names: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A click option that is also an environment variable: `--media-root` is EVALUATOR_MEDIA_ROOT."""
    long = next(name for name in names if name.startswith("--")).partition("/")[0]
    variable = "EVALUATOR_" + long.strip("-").replace("-", "_").upper()
    return click.option(*names, envvar=variable, **settings)


PathIn = click.Path(path_type=Path, exists=True)
PathOut = click.Path(path_type=Path)
LedgerIn = click.Path(path_type=Path, exists=True, dir_okay=False)
RunIn = click.Path(path_type=Path, exists=True)


def manifest_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for add in (
        option("--media-root", type=PathIn, help="Folder that paths start from. [default: the manifest's folder]"),
        option("--manifest", type=PathIn, required=True, help="JSON lines, one case a line."),
    ):
        function = add(function)
    return function


def model_options(function: Callable[..., Any]) -> Callable[..., Any]:
    return option("--models", type=PathIn, help="Folder with mounted reference weights.")(function)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return option("--json", "as_json", is_flag=True, help="Write the result to stdout as JSON.")(function)


def judge_model_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return option("--judge-model", type=PathIn, help="Directory of a Qwen3-VL checkpoint in safetensors.")(function)


def judge_for_option(function: Callable[..., Any]) -> Callable[..., Any]:
    text = (
        "A judge of its own for what only MODEL may answer (VisualQuality-R1 for vqr of covebench): MODEL=URL on "
        "loopback, or MODEL=DIR of its checkpoint. Once per model."
    )
    return option("--judge-for", multiple=True, callback=pairs, metavar="MODEL=WHERE", help=text)(function)


def ray_options(function: Callable[..., Any]) -> Callable[..., Any]:
    what = "Workers are threads here, or actors of Ray, each with a core or a GPU of its own."
    where = (
        "A Ray cluster to join, HOST:PORT: this run then talks to its machines, where media and models must have the "
        "same paths. [default: a Ray of its own, for this run, on loopback]"
    )
    for add in (
        option("--ray-address", help=where),
        option("--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True, help=what),
    ):
        function = add(function)
    return function


def write_option(function: Callable[..., Any]) -> Callable[..., Any]:
    text = "Also write a file: .md, .csv or .json by its name."
    return option("--write", type=PathOut, help=text)(function)


def resampling_options(function: Callable[..., Any]) -> Callable[..., Any]:
    kinds = click.Choice(["percentile", "bca"])
    for add in (
        option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the resampling."),
        option("--interval", type=kinds, default="percentile", show_default=True, help="Kind of bootstrap interval."),
    ):
        function = add(function)
    return function


def shard(_: click.Context, __: click.Parameter, value: str) -> tuple[int, int]:
    first, slash, second = value.partition("/")
    if not (slash and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second)):
        raise click.BadParameter(f"expected i/n with 1 <= i <= n, found {value!r}")
    return int(first), int(second)


def words(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(word for word in (value or "").split(",") if word)


def pairs(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """NAME=VALUE, as often as given and in that order."""
    found = [value.partition("=") for value in values]
    if wrong := [value for value, (name, _, rest) in zip(values, found, strict=True) if not (name and rest)]:
        raise click.BadParameter(f"expected NAME=VALUE, found {wrong[0]!r}")
    return tuple((name, rest) for name, _, rest in found)


def settings(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = [value.partition("=") for value in values]
    if wrong := [name for name, sign, _ in pairs if not (name and sign)]:
        raise click.BadParameter(f"expected NAME=VALUE, found {wrong[0]!r}")
    return {name: value for name, _, value in pairs}
