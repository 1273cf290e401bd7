"""What a reader sees of a comparison: aligned text for a terminal, Markdown for a merge request, rows for CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evaluator.metrics.base import Direction
from evaluator.report.compare import Comparison
from evaluator.report.effect import Effect
from evaluator.report.gate import Broken
from evaluator.report.grid import Grid, aligned, escaped, markdown, number, p_value, span
from evaluator.report.table import ARROWS, shorten

HEAD = ("metric", "n", "A", "B", "B - A", "95 % interval", "p", "p Holm", "dz", "better/same/worse", "")


def text(comparisons: Sequence[Comparison], legend: Sequence[str], gate: Sequence[Broken], width: int) -> str:
    """All comparisons under each other, then how the figures were made, then the rules that were met."""
    parts = [_part(one, aligned, lambda line: shorten(line, width)) for one in comparisons]
    return "\n\n".join([*parts, "\n".join(legend), *map(told, gate)])


def markdown_text(comparisons: Sequence[Comparison], legend: Sequence[str], gate: Sequence[Broken]) -> str:
    """The same as a Markdown document."""
    parts = [_part(one, lambda grid: markdown(grid) + "\n", lambda line: f"- {escaped(line)}") for one in comparisons]
    return "\n\n".join([*parts, *map(escaped, legend), *(f"**{escaped(told(rule))}**" for rule in gate)]) + "\n"


def told(rule: Broken) -> str:
    """A broken rule as a sentence."""
    return f"--fail-if {rule.rule}: {rule.found} ({rule.first} to {rule.second})"


def rows(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """One row per comparison and metric, figures in full."""
    return [_row(one, effect) for one in comparisons for effect in one.effects]


def _part(one: Comparison, table: Callable[[Grid], str], line: Callable[[str], str]) -> str:
    suites = dict.fromkeys(effect.suite for effect in one.effects)
    tables = [table(Grid((suite, *HEAD[1:]), _cells(one, suite))) for suite in suites]
    lost = f"{one.lost} records lost their value, {one.gained} gained one"
    alone = f"{one.only_first} records are only in A, {one.only_second} only in B"
    facts = [line(fact) for fact in [*_worse(one), *_changes(one), lost, alone, *one.notes]]
    shown = tables or [line("no record has a value on both sides")]
    return "\n".join([line(f"A  {one.first}"), line(f"B  {one.second}"), "", *shown, "", *facts])


def _cells(one: Comparison, suite: str) -> list[tuple[str, ...]]:
    return [
        (
            f"{ARROWS[effect.direction]} {effect.metric}{f' [{effect.unit}]' if effect.unit else ''}",
            str(effect.pairs),
            number(effect.first),
            number(effect.second),
            number(effect.difference, signed=True),
            span(effect.interval, signed=True),
            p_value(effect.p),
            p_value(effect.p_holm),
            number(effect.dz, 2, signed=True),
            _tally(effect),
            effect.verdict,
        )
        for effect in one.effects
        if effect.suite == suite
    ]


def _tally(effect: Effect) -> str:
    if effect.direction is Direction.NONE:
        return f"{effect.ties} same"
    return f"{effect.better}/{effect.ties}/{effect.worse}"


def _worse(one: Comparison) -> list[str]:
    """A line per metric that got worse anywhere, the worst units first."""
    return [
        f"{effect.metric} got worse in {effect.worse} of {effect.pairs}: "
        + ", ".join(f"{pair.case} {pair.second:.4g} ({pair.delta:+.2g})" for pair in effect.moves)
        for effect in one.effects
        if effect.worse
    ]


def _changes(one: Comparison) -> list[str]:
    return [
        f"{change.case}: {change.metric} {change.before} to {change.after} ({change.reason})" for change in one.changes
    ]


def _row(one: Comparison, effect: Effect) -> dict[str, Any]:
    low, high = effect.interval or (None, None)
    return {
        "first": one.first,
        "second": one.second,
        "suite": effect.suite,
        "metric": effect.metric,
        "direction": str(effect.direction),
        "pairs": effect.pairs,
        "clusters": effect.clusters,
        "mean_first": effect.first,
        "mean_second": effect.second,
        "difference": effect.difference,
        "low": low,
        "high": high,
        "p": effect.p,
        "p_holm": effect.p_holm,
        "dz": effect.dz,
        "cliffs_delta": effect.cliffs_delta,
        "better": effect.better,
        "ties": effect.ties,
        "worse": effect.worse,
        "verdict": effect.verdict,
    }
