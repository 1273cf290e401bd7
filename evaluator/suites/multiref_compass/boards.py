"""MultiRef-Compass's tables: raw sub-metrics per board, over all samples and over those that all systems have.

Further: what stands behind EF and SLS, strict speech content by language, dimensions, win rates and people.
Systems drop samples (safety filters), so that a mean over what each has compares different samples: the table of common
samples stands beside it, and how many a system lacks is counted. Means of stand-ins are other cells, marked `*`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluator.schema import Case, Score, Status
from evaluator.suites.board import Board, Cell
from evaluator.suites.choices import named
from evaluator.suites.multiref_compass import choices
from evaluator.suites.multiref_compass.data import BOARDS, MultiRefData, of
from evaluator.suites.multiref_compass.dimensions import (
    DIMENSIONS,
    MEMBER,
    correlation,
    counts,
    dimension_values,
    outcomes,
    rates,
)
from evaluator.suites.multiref_compass.preferences import human_outcomes

COLUMNS = tuple(metric for metrics in DIMENSIONS.values() for metric in metrics)
"""The 14 sub-metrics."""
MAIN = BOARDS[:3]
PAPER_HUMAN = {
    "Basic Quality": 0.8979,
    "Reference Consistency": 0.9380,
    "Audio-Visual Consistency": 0.9217,
    "Instruction Following": 0.9644,
}


@dataclass(frozen=True, slots=True)
class Record:
    """One score with what the suite knows of its case."""

    score: Score
    data: MultiRefData

    @property
    def mark(self) -> str:
        """Records of one mark may be averaged."""
        stand_in = "*" if any(model.stands_in_for for model in self.score.models) else ""
        partial = "~" if str(self.score.details.get("evidence", "")).startswith("partial") else ""
        return stand_in + partial


def boards(cases: Sequence[Case], scores: Sequence[Score]) -> tuple[Board, ...]:
    """All tables that the records have something for."""
    data = {case.id: of(case) for case in cases}
    found = [Record(score, data[score.case]) for score in scores if score.case in data]
    if not found:
        return ()
    made = [
        _raw("main", "B1 to B3", found, MAIN),
        *(_raw(board.lower(), board, found, (board,)) for board in BOARDS),
        _common(found),
        _fidelity(found),
        _speech(found),
        _strict(found),
        _dimensions(cases, scores, found),
    ]
    return tuple(board for board in made if board is not None)


def systems_of(found: Iterable[Record]) -> list[str]:
    """Systems in order of first appearance."""
    return list(dict.fromkeys(record.score.system for record in found))


def samples_of(found: Iterable[Record], system: str | None = None) -> set[str]:
    """Samples that anybody, or one system, has an output for."""
    return {record.data.sample for record in found if system in (None, record.score.system)}


def shown(found: Iterable[Record], decimals: int = 3) -> Cell:
    """Mean with n, each mark apart; None where nothing has a value."""
    kinds: dict[str, list[float]] = {}
    for record in found:
        if record.score.value is not None:
            kinds.setdefault(record.mark, []).append(record.score.value)
    return _apart(kinds, decimals) or None


def _apart(kinds: Mapping[str, Sequence[float]], decimals: int = 3) -> str:
    """Mean and n of each kind of values, the unmarked first."""
    return " / ".join(f"{fmean(own):.{decimals}f}{mark} ({len(own)})" for mark, own in sorted(kinds.items()))


def _raw(name: str, title: str, found: Sequence[Record], wanted: Sequence[str]) -> Board | None:
    """The 14 raw columns over some boards."""
    own = [record for record in found if record.data.board in wanted]
    columns = [metric for metric in COLUMNS if any(record.score.metric == metric for record in own)]
    if not columns:
        return None
    every = samples_of(own)
    rows = tuple(
        (
            system,
            *(shown(r for r in own if r.score.system == system and r.score.metric == metric) for metric in columns),
            len(every - samples_of(own, system)),
        )
        for system in systems_of(own)
    )
    notes = (*named(choices.CHOICES, "vtq_scale", "atq_axis"), *marks(own), *absences(own, columns))
    heads = ("system", *(metric.upper() for metric in columns), "missing")
    return Board(f"raw_{name}", f"MultiRef-Compass, {title}: raw sub-metrics, mean (n)", heads, rows, notes)


def marks(found: Sequence[Record]) -> tuple[str, ...]:
    """What the marks of cells mean, where there are any."""
    told = {
        "*": "* a stand-in model or signal (summary.json names it)",
        "~": "~ over the answered items only",
    }
    return tuple(text for mark, text in told.items() if any(mark in record.mark for record in found))


def absences(found: Sequence[Record], columns: Sequence[str]) -> tuple[str, ...]:
    """Per column the records without a value: na (router), filtered, error, unavailable, no_judge."""
    lines = []
    for metric in columns:
        counts = Counter(absence(record.score) for record in found if record.score.metric == metric)
        del counts[""]
        if counts:
            told = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
            lines.append(f"no value, {metric.upper()}: {told}")
    return tuple(lines)


def absence(score: Score) -> str:
    """Why a record has no value, in the protocol's words; empty if it has one."""
    if score.status is Status.OK:
        return ""
    if score.status is Status.FAILED or score.reason is None:
        return "error"
    if score.reason.code == "not_applicable":
        return "na" if score.reason.message.startswith("router:") else "na (clip)"
    return score.reason.code


def _common(found: Sequence[Record]) -> Board | None:
    """Means over the samples for which every system has a value of the metric, so that n is the same in a column."""
    systems = systems_of(found)
    if len(systems) < 2:
        return None
    cells: dict[str, dict[str, Cell]] = {}
    for metric in COLUMNS:
        own = [r for r in found if r.score.metric == metric and r.score.value is not None]
        kinds = {record.mark for record in own}
        shared = set.intersection(*(samples_of(own, system) for system in systems))
        if shared and len(kinds) == 1:  # values of different kinds share no table of equal samples
            cells[metric] = {
                system: shown(r for r in own if r.score.system == system and r.data.sample in shared)
                for system in systems
            }
    if not cells:
        return None
    rows = tuple((system, *(column[system] for column in cells.values())) for system in systems)
    notes = ("only samples for which every system of this run has a value; another set of systems, another table",)
    heads = ("system", *(metric.upper() for metric in cells))
    return Board(
        "common", "MultiRef-Compass: samples that all systems have, mean (n)", heads, rows, (*notes, *marks(found))
    )


def _fidelity(found: Sequence[Record]) -> Board | None:
    """EF, EF without the paste coefficient, the coefficient, coverage and the humans' part, per board."""
    own = [record for record in found if record.score.metric in {"ef", "ef_raw", "ef_p_paste"}]
    raw = [record for record in own if record.score.metric == "ef_raw" and record.score.value is not None]
    if not raw:
        return None
    rows: list[tuple[Cell, ...]] = []
    for board in BOARDS:
        for system in systems_of(raw):
            here = [r for r in own if r.data.board == board and r.score.system == system]
            if any(record in raw for record in here):
                rows.append(
                    (board, system, *(shown(r for r in here if r.score.metric == m) for m in _EF), *_facts(here))
                )
    heads = ("board", "system", "EF", "EF raw", "P paste", "coverage", "human raw")
    notes = (
        "a high EF raw with a low P paste is copy-and-paste; low coverage lowers EF without an error of identity",
        "the paper, all models: B1 0.6930 (human 0.6930), B2 0.5893 (0.5522), B3 0.5748 (0.5409)",
        *marks(own),
    )
    return Board("fidelity", "MultiRef-Compass: what stands behind EF, mean (n)", heads, tuple(rows), notes)


_EF = ("ef", "ef_raw", "ef_p_paste")


def _facts(found: Sequence[Record]) -> tuple[Cell, ...]:
    """Mean coverage and mean fidelity of humans, from the details of EF raw."""
    raw = [
        record.score.details for record in found if record.score.metric == "ef_raw" and record.score.value is not None
    ]
    humans = [detail["human"] for detail in raw if detail.get("human") is not None]
    return fmean(detail["coverage"] for detail in raw) if raw else None, fmean(humans) if humans else None


def _speech(found: Sequence[Record]) -> Board | None:
    """SLS with the number of clips that were kept, per system and board: a few clips make a high mean."""
    own = [record for record in found if record.score.metric == "sls"]
    rows: list[tuple[Cell, ...]] = []
    for board in BOARDS:
        for system in systems_of(own):
            here = [r for r in own if r.data.board == board and r.score.system == system]
            if any(absence(record.score) != "na" for record in here):
                counts = Counter(absence(record.score) for record in here)
                told = (counts[""], counts["filtered"], counts["error"], counts["na"], counts["no_judge"])
                rows.append((board, system, shown(here), *told))
    if not rows:
        return None
    heads = ("board", "system", "SLS", "kept", "filtered", "error", "na", "no judge")
    return Board(
        "sls", "MultiRef-Compass: speech-lip sync and how many clips it rests on", heads, tuple(rows), marks(own)
    )


def _strict(found: Sequence[Record]) -> Board | None:
    """Share of cases whose recognised words are exactly the lines, by language."""
    own = [record for record in found if record.score.metric == "sca_strict" and record.score.value is not None]
    languages = sorted({"+".join(record.score.details["languages"]) for record in own})
    if not languages:
        return None
    rows = tuple(
        (
            system,
            *(
                shown(r for r in own if r.score.system == system and "+".join(r.score.details["languages"]) == language)
                for language in languages
            ),
        )
        for system in systems_of(own)
    )
    notes = ("by a recogniser, whose own slips lower it; the paper, all models: en 0.878, zh 0.880", *marks(own))
    return Board(
        "sca_strict",
        "MultiRef-Compass: strict speech content by language, mean (n)",
        ("system", *languages),
        rows,
        notes,
    )


def _kinds(found: Iterable[Record]) -> dict[tuple[str, str, str], str]:
    """(dimension, sample, system) -> the marks of all sub-metrics behind its unit value."""
    kinds: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for record in found:
        if counts(record.score):
            kinds[MEMBER[record.score.metric], record.data.sample, record.score.system] |= set(record.mark)
    return {key: "".join(sorted(marks)) for key, marks in kinds.items()}


def _dimensions(cases: Sequence[Case], scores: Sequence[Score], found: Sequence[Record]) -> Board | None:
    """Unit means per dimension, win rates by scores and by people, and how these agree over systems."""
    values, kinds = dimension_values(cases, scores), _kinds(found)
    rows: list[tuple[Cell, ...]] = []
    notes = [*named(choices.CHOICES, "dimension_score", "win_rate"), *marks(found)]
    for name, table in values.items():
        ours, theirs = rates(outcomes(table)), rates(human_outcomes(cases, name))
        for system in sorted({system for _, system in table}):
            own: dict[str, list[float]] = defaultdict(list)
            for (sample, other), value in table.items():
                if other == system:
                    own[kinds[name, sample, system]].append(value)
            mean: Cell = fmean(own[""]) if own.keys() == {""} else _apart(own)
            rows.append((name, system, mean, sum(map(len, own.values())), ours.get(system), theirs.get(system)))
        if theirs:
            r = correlation(ours, theirs)
            told = "not defined (fewer than three systems, or constant)" if r is None else f"{r:.4f}"
            notes.append(
                f"{name}: Pearson's r of win rates, scores against people: {told}; the paper {PAPER_HUMAN[name]}"
            )
    if not rows:
        return None
    heads = ("dimension", "system", "unit mean", "n", "win rate", "human win rate")
    return Board("dimensions", "MultiRef-Compass: dimensions (aggregation ours)", heads, tuple(rows), tuple(notes))
