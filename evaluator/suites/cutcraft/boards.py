"""The tables of CutCraft, all of them pure functions of the records of one run (spec 9).

Samples whose shots were aligned in another way, or whose sound was shown in another way, have rows of their own. What
has no value stays empty and is counted in the coverage. Intervals and tests draw prompts, not records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np

from evaluator.schema import Case, Score, Status
from evaluator.stats.bootstrap import mean_interval, ratio, tally_interval
from evaluator.stats.ranks import spearman
from evaluator.suites.board import Board, Cell
from evaluator.suites.cutcraft import agreement, counters, details_boards
from evaluator.suites.cutcraft.data import CutData, seed_labels
from evaluator.suites.cutcraft.groups import (
    DIMENSIONS,
    Sample,
    Samples,
    dimension_mean,
    group_scores,
    membership,
    overall,
    samples,
)
from evaluator.suites.cutcraft.kinds import label, split
from evaluator.suites.cutcraft.pairwise import pairs

Rows = Mapping[str, Mapping[int, Sample]]
"""Row of a table -> prompt -> sample."""


def boards(cases: Sequence[Case], scores: Sequence[Score]) -> list[Board]:
    """Every table that these records can fill, the paper's first."""
    parts = split(cases, scores)
    apart = [samples(*part) for part in parts.values()]
    rows = {label(system, kind): own for kind, found in zip(parts, apart, strict=True) for system, own in found.items()}
    made: list[Board | None] = [
        main(rows, scores),
        grouped(rows),
        families(rows, cases),
        compared(rows, apart, list(parts)),
        quality_against_editing(rows),
        *details_boards.boards(cases, scores),
        aligned(cases, scores),
        agreed(cases, scores),
        coverage(scores),
        counters.board(scores),
    ]
    return [board for board in made if board is not None]


def main(rows: Rows, scores: Sequence[Score]) -> Board:
    """Sixteen dimensions and the overall score, which is the mean over all cells."""
    there = [name for name in DIMENSIONS if any(name in sample for own in rows.values() for sample in own.values())]
    table = [
        (name, len(own), *(dimension_mean(own, one) for one in there), overall(own), *_ends(own))
        for name, own in rows.items()
    ]
    absent = [name for name in DIMENSIONS if name not in there]
    notes = (
        "all of 0..1, higher is better; overall: mean over all (sample, dimension) cells, 95 % by prompts drawn.",
        *((f"no value of {', '.join(absent)} in this run: see the coverage.",) if absent else ()),
        *_stand_ins(scores),
    )
    columns = ("system", "clips", *there, "overall", "low", "high")
    return Board("main", "CutCraft: sixteen dimensions", columns, tuple(table), notes)


def grouped(rows: Rows) -> Board:
    """Six groups and two, with intervals."""
    table: list[tuple[Cell, ...]] = []
    for name, own in rows.items():
        for division in ("six", "two"):
            for group, members in membership(division).items():
                values = list(group_scores(own, members).values())
                interval = mean_interval(values) or (None, None)
                lacking = [one for one in members if dimension_mean(own, one) is None]
                mean = fmean(values) if values else None
                table.append((name, group, mean, *interval, len(values), " ".join(lacking) or None))
    notes = ("membership: groups.json; that of the two groups is a guess. A sample has the mean of what it has.",)
    columns = ("system", "group", "score", "low", "high", "clips", "dimensions that lack")
    return Board("groups", "Groups of dimensions", columns, tuple(table), notes)


def families(rows: Rows, cases: Sequence[Case]) -> Board:
    """Overall score by family and kind of montage."""
    kinds = {}
    for case in cases:
        data = CutData.model_validate(case.data)
        kinds[data.prompt_id] = seed_labels(data.source_seed)[0]
    table: list[tuple[Cell, ...]] = []
    for name, own in rows.items():
        for family, members in membership("families").items():
            chosen = [kind for kind in members if kind in {kinds[prompt] for prompt in own}]
            for title, wanted in ((family, set(members)), *((f"  {kind}", {kind}) for kind in chosen)):
                part = {prompt: sample for prompt, sample in own.items() if kinds[prompt] in wanted}
                if part:
                    table.append((name, title, len(part), overall(part)))
    notes = ("which kind belongs to which family is a guess (groups.json).",)
    return Board("montages", "By kind of montage", ("system", "montage", "clips", "overall"), tuple(table), notes)


def compared(rows: Rows, apart: Sequence[Samples], kinds: Sequence[tuple[str, ...]]) -> Board | None:
    """Every pair of systems among samples of one kind, with Holm's correction."""
    table: list[tuple[Cell, ...]] = []
    for found, kind in zip(apart, kinds, strict=True):
        for pair in pairs(found):
            interval = pair.interval or (None, None)
            verdict = None if pair.adjusted is None else "yes" if pair.significant else "no"
            names = label(pair.first, kind), label(pair.second, kind)
            table.append((*names, pair.prompts, pair.difference, *interval, pair.p, pair.adjusted, verdict))
    if not table:
        return None
    count = sum(row[-1] == "yes" for row in table)
    notes = (
        f"{count} of {len(table)} pairs differ at 0.05 after Holm's correction (the paper: 71 of 78).",
        "first minus second, paired by prompt over the dimensions that both have.",
    )
    columns = ("first", "second", "prompts", "difference", "low", "high", "p", "p (Holm)", "differs")
    return Board("pairs", "Systems compared", columns, tuple(table), notes)


def quality_against_editing(rows: Rows) -> Board | None:
    """Is a system whose pictures look better also a better editor? Spearman over systems; None for fewer than three."""
    editing = membership("two")["editability"]
    points = [
        (dimension_mean(own, "E2"), fmean(found.values()))
        for own in rows.values()
        if (found := group_scores(own, editing))
    ]
    known = [(quality, score) for quality, score in points if quality is not None]
    if len(known) < 3:
        return None
    rank = spearman(*(list(side) for side in zip(*known, strict=True)))
    row = (len(known), *(rank or (None, None)))
    notes = ("the paper: weak, not significant.",)
    return Board("quality", "Image quality (E2) against editability", ("systems", "rho", "p"), (row,), notes)


def aligned(cases: Sequence[Case], scores: Sequence[Score]) -> Board | None:
    """Shot alignment against people's, where there are labels."""
    found = agreement.alignments(cases, scores)
    rows = tuple((name, one.wanted, one.precision, one.recall, one.f1) for name, one in found.items())
    columns = ("system", "pairs of people", "precision", "recall", "F1")
    return Board("alignment", "Shot alignment against people", columns, rows) if rows else None


def agreed(cases: Sequence[Case], scores: Sequence[Score]) -> Board | None:
    """Dimensions against people's majority, where there are labels."""
    found = agreement.agreements(cases, scores)
    rows = tuple((name, count, agree / count) for name, (agree, count) in sorted(found.items()))
    notes = (
        "share of items whose credit is the majority's; even votes are left out (the paper: above 0.70 everywhere).",
    )
    return Board("agreement", "Agreement with people", ("dimension", "items", "agree"), rows, notes) if rows else None


def coverage(scores: Sequence[Score]) -> Board:
    """What became of every dimension of every clip, and why."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in DIMENSIONS}
    reasons: dict[str, Counter[str]] = {name: Counter() for name in DIMENSIONS}
    for score in scores:
        name = score.metric.upper()
        counts[name][str(score.status)] += 1
        if score.reason is not None:
            reasons[name][score.reason.code] += 1
    rows = tuple(
        (
            name,
            *(own[str(status)] for status in Status),
            ", ".join(f"{n} {code}" for code, n in reasons[name].items()) or None,
        )
        for name, own in counts.items()
        if own
    )
    columns = ("dimension", "scored", "skipped", "failed", "why not")
    return Board("coverage", "Clips behind each dimension", columns, rows)


def _ends(own: Mapping[int, Sample]) -> tuple[float | None, float | None]:
    """Interval of the overall score."""
    sums = np.array([[sum(sample.values()), len(sample)] for sample in own.values() if sample], np.float64)
    return (tally_interval(sums, ratio) if len(sums) >= 2 else None) or (None, None)


def _stand_ins(scores: Sequence[Score]) -> Iterator[str]:
    """Which models stand in for others, and where."""
    found: dict[tuple[str, str], set[str]] = {}
    for score in scores:
        for model in score.models:
            if model.stands_in_for and score.value is not None:
                found.setdefault((model.id, model.stands_in_for), set()).add(score.metric.upper())
    for (name, published), metrics in sorted(found.items()):
        yield f"{name} stands in for {published} in {', '.join(sorted(metrics))}"
