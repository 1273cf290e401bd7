"""One protocol on the page: its table of systems, every figure behind it, its strata, and the numbers of its charts.

Knows rows of a summary and identity cards; formats numbers, writes no HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.metrics.base import Direction
from evaluator.report.aggregate import Row, breakdown
from evaluator.report.grid import number, span
from evaluator.report.page.answers import Responses, responses
from evaluator.report.page.correlation import Correlation, correlate
from evaluator.report.page.facts import Facts
from evaluator.report.runs import Run
from evaluator.report.table import ARROWS, absences
from evaluator.schema import Score
from evaluator.suites import suites

Card = Mapping[str, Any]
"""The identity card of a metric in run.json."""

WORDS = {Direction.HIGHER: "higher is better", Direction.LOWER: "lower is better", Direction.NONE: "neither is better"}
WHOLE_LINE = 100_000


@dataclass(frozen=True, slots=True)
class Badge:
    """A mark that cannot be overlooked. `kind` is a class of the style sheet."""

    text: str
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric of one system in the table of systems, as text."""

    mean: str
    interval: str = ""
    n: str = ""
    absent: str = ""  # "2 skipped, 1 failed"


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One line of the table of systems."""

    card: Card
    arrow: str
    word: str
    badges: tuple[Badge, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """One row of the summary, in words."""

    row: Row
    arrow: str
    badges: tuple[Badge, ...]
    mean: str
    interval: str
    median: str
    low: str
    high: str
    skipped: str
    failed: str
    models: str


@dataclass(frozen=True, slots=True)
class Strata:
    """Means over the cases of each stratum: `rows` are (metric, system, one text per stratum)."""

    label: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Radar:
    """Means on a scale from 0 (worst) to 1 (best): metrics with a direction and two bounds, by system."""

    metrics: tuple[str, ...]
    systems: Mapping[str, tuple[float | None, ...]]


@dataclass(frozen=True, slots=True)
class SuiteView:
    """All that the page shows of one suite."""

    id: str
    title: str
    paper: str
    cases: int
    systems: tuple[str, ...]
    cards: tuple[Card, ...]  # of the metrics with records, in the order of the run
    table: tuple[MetricRow, ...]
    figures: tuple[Figures, ...]
    absences: tuple[str, ...]
    boards: tuple[Mapping[str, Any], ...]
    strata: tuple[Strata, ...]
    responses: tuple[Responses, ...]
    correlation: Correlation | None
    radar: Radar


def view(suite: str, run: Run, rows: Sequence[Row], boards: Sequence[Mapping[str, Any]], facts: Facts) -> SuiteView:
    """The suite of a run; `rows` are those of the summary."""
    scores = [score for score in run.scores.values() if score.suite == suite]
    own = [row for row in rows if row.suite == suite]
    named = {score.metric for score in scores}
    cards = tuple(card for card in run.cards.values() if card["id"] in named)
    systems = tuple(dict.fromkeys(row.system for row in own))
    known = suites().get(suite)  # a run of another version may name a suite that is not here
    return SuiteView(
        id=suite,
        title=known.title if known else suite,
        paper=known.paper if known else "",
        cases=len({score.case for score in scores}),
        systems=systems,
        cards=cards,
        table=tuple(_table(cards, systems, own)),
        figures=tuple(_figures(run, row) for card in cards for row in own if row.metric == card["id"]),
        absences=tuple(absences(scores, WHOLE_LINE)),
        boards=tuple(boards),
        strata=tuple(_strata(scores, cards, systems, facts)),
        responses=tuple(responses(scores)),
        correlation=correlate(_columns(scores, cards)),
        radar=_radar(cards, systems, own),
    )


def badges(rows: Iterable[Row]) -> tuple[Badge, ...]:
    """What a reader must know before comparing a number: stand-ins, a judge's evidence, another profile."""
    found: dict[Badge, None] = {}
    for row in rows:
        for model in row.models:
            if model.stands_in_for:
                text = f"{model.id} was used; the published model is {model.stands_in_for}"
                found[Badge(f"stand-in for {model.stands_in_for}", "stand-in", text)] = None
        if row.evidence in {"substitute", "mixed"}:
            text = "The judge was shown something else than the protocol shows, for example sound as a picture."
            found[Badge(f"{row.evidence} evidence", "substitute", text)] = None
        elif row.evidence == "native":
            found[Badge("judged", "judged", "A judge's answer to the evidence that the protocol shows.")] = None
        if row.profile != "paper":
            found[Badge(row.profile, "profile", "Not the reading of the paper that is the default.")] = None
    return tuple(found)


def _table(cards: Sequence[Card], systems: Sequence[str], rows: Sequence[Row]) -> Iterable[MetricRow]:
    """One line per metric that was scored or failed somewhere; the others are among the absences."""
    for card in cards:
        own = [row for row in rows if row.metric == card["id"]]
        if any(row.n or row.failed for row in own):
            direction = Direction(card["direction"])
            cells = tuple(_cell([row for row in own if row.system == system]) for system in systems)
            tried = [row for row in own if row.n]
            yield MetricRow(card, ARROWS[direction].strip(), WORDS[direction], badges(tried), cells)


def _cell(rows: Sequence[Row]) -> Cell:
    scored = [row for row in rows if row.mean is not None]
    absent = ", ".join(f"{sum(map(_total, found))} {word}" for word, found in _absent(rows) if sum(map(_total, found)))
    if len(scored) > 1:  # of several models or kinds of evidence, which are never averaged
        return Cell("several", "see all figures", "", absent)
    if not scored:
        return Cell("–", "", "", absent)
    row = scored[0]
    return Cell(number(row.mean), span(row.interval) if row.interval else "", _count(row), absent)


def _absent(rows: Sequence[Row]) -> list[tuple[str, list[Mapping[str, int]]]]:
    return [("skipped", [row.skipped for row in rows]), ("failed", [row.failed for row in rows])]


def _total(counts: Mapping[str, int]) -> int:
    return sum(counts.values())


def _count(row: Row) -> str:
    clusters = "" if row.clusters == row.n else f" of {row.clusters} source{'s' if row.clusters > 1 else ''}"
    return f"n = {row.n}{clusters}"


def _figures(run: Run, row: Row) -> Figures:
    return Figures(
        row=row,
        arrow=ARROWS[run.direction(row.metric)].strip(),
        badges=badges([row]),
        mean=number(row.mean),
        interval=span(row.interval),
        median=number(row.median),
        low=number(row.low),
        high=number(row.high),
        skipped=_reasons(row.skipped),
        failed=_reasons(row.failed),
        models=", ".join(f"{model.id} ({model.tier}, {model.sha256[:12]})" for model in row.models),
    )


def _reasons(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {code}" for code, count in counts.items())


def _strata(scores: Sequence[Score], cards: Sequence[Card], systems: Sequence[str], facts: Facts) -> Iterable[Strata]:
    cases = {score.case for score in scores}
    for label in ("category", "difficulty"):
        strata = {case: name for case, name in facts.strata(label).items() if case in cases}
        if len(set(strata.values())) > 1:
            yield _stratified(label, breakdown(scores, strata), cards, systems)


def _stratified(label: str, parts: Mapping[str, list[Row]], cards: Sequence[Card], systems: Sequence[str]) -> Strata:
    names = tuple(sorted(parts))
    cells: dict[tuple[str, str, str], list[Row]] = {}
    for name, rows in parts.items():
        for row in rows:
            cells.setdefault((row.metric, row.system, name), []).append(row)
    lines = (
        (card["id"], system, *(_stratum(cells.get((card["id"], system, name), [])) for name in names))
        for card in cards
        for system in systems
    )
    return Strata(label, names, tuple(line for line in lines if any(cell != "–" for cell in line[2:])))


def _stratum(rows: Sequence[Row]) -> str:
    scored = [row for row in rows if row.n]
    if len(scored) > 1:
        return "several"
    return f"{number(scored[0].mean)} ({scored[0].n})" if scored else "–"


def _columns(scores: Sequence[Score], cards: Sequence[Card]) -> dict[str, list[float | None]]:
    """Metric -> its value for every case, in the order of the run; None where there is none."""
    cases = {case: place for place, case in enumerate(dict.fromkeys(score.case for score in scores))}
    columns: dict[str, list[float | None]] = {card["id"]: [None] * len(cases) for card in cards}
    for score in scores:
        columns[score.metric][cases[score.case]] = score.value
    return columns


def _radar(cards: Sequence[Card], systems: Sequence[str], rows: Sequence[Row]) -> Radar:
    """Only metrics with one row per system: what different models measured cannot share an axis."""
    chosen = [card for card in cards if _bounded(card) and _single([row for row in rows if row.metric == card["id"]])]
    means = {(row.metric, row.system): row.mean for row in rows if row.mean is not None}
    return Radar(
        tuple(card["id"] for card in chosen),
        {system: tuple(_goodness(card, means.get((card["id"], system))) for card in chosen) for system in systems},
    )


def _bounded(card: Card) -> bool:
    return card["direction"] != Direction.NONE and None not in card.get("range", [None])


def _single(rows: Sequence[Row]) -> bool:
    scored = [row for row in rows if row.n]
    return bool(scored) and len({(row.models, row.evidence, row.profile) for row in scored}) == 1


def _goodness(card: Card, mean: float | None) -> float | None:
    """0 at the worst end of the declared range, 1 at the best."""
    if mean is None:
        return None
    low, high = map(float, card["range"])
    share = (mean - low) / (high - low)
    return round(1 - share if card["direction"] == Direction.LOWER else share, 4)
