"""What a reader sees of an agreement: a table per metric, and what was left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evaluator.report.agree import Agreement
from evaluator.report.agree_pairs import PairAgreement
from evaluator.report.effect import FEW_UNITS
from evaluator.report.figures import Figure
from evaluator.report.grid import Grid, aligned, escaped, markdown, number, span

HEAD = ("figure", "value", "95 % interval", "n")
LEGEND = "Intervals: bootstrap over items. People: annotators against each other, the most that can be expected."


def text(found: Sequence[Agreement]) -> str:
    """Aligned tables for a terminal."""
    return "\n\n".join([*(_part(one, aligned, str) for one in found), LEGEND])


def markdown_text(found: Sequence[Agreement]) -> str:
    """The same as a Markdown document."""
    parts = [_part(one, lambda grid: "\n" + markdown(grid) + "\n", escaped) for one in found]
    return "\n\n".join([*parts, LEGEND]) + "\n"


def rows(found: Sequence[Agreement]) -> list[dict[str, Any]]:
    """One row per metric and figure, figures in full."""
    return [_row(one, figure) for one in found for figure in _figures(one)]


def _figures(one: Agreement) -> tuple[Figure, ...]:
    return (*one.cases, *(one.pairs.figures if one.pairs else ()))


def _part(one: Agreement, table: Callable[[Grid], str], plain: Callable[[str], str]) -> str:
    cells = [(f.name, number(f.value), span(f.interval), str(f.n)) for f in _figures(one)]
    facts = [f"{one.judgements} judgements, {one.without_value} of them about outputs without a value"]
    facts += _pair_facts(one.pairs) if one.pairs else []
    return "\n".join([plain(one.metric), table(Grid(HEAD, cells)), *map(plain, facts)])


def _pair_facts(pairs: PairAgreement) -> list[str]:
    out = pairs.excluded
    few = [f"fewer than {FEW_UNITS} items: the intervals are too narrow"] if pairs.items < FEW_UNITS else []
    ties = "none" if pairs.threshold is None else f"one up to a difference of {pairs.threshold:.4g}"
    return [
        f"{pairs.pairs} pairs of {pairs.items} items, {pairs.annotators} annotators; people see a tie in "
        f"{100 * pairs.tie_share:.1f} %, so the metric calls {ties}",
        f"left out of pairwise figures: {out.human_tie} ties of people, {out.metric_tie} ties of the metric, "
        f"{out.no_value} without a value, {out.order_inconsistent} answered differently in swapped order",
        *few,
    ]


def _row(one: Agreement, figure: Figure) -> dict[str, Any]:
    low, high = figure.interval or (None, None)
    return {
        "metric": one.metric,
        "figure": figure.name,
        "value": figure.value,
        "low": low,
        "high": high,
        "n": figure.n,
    }
