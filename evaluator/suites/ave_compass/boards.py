"""The tables of the judged half: scores in the paper's layout, responses, gates, errors, strata, correlations.

Pure functions of records. A line rests on one judge and one kind of evidence; a judge whose answers mean nothing is
marked. Numbers are percentages. Coverage stands beside every mean: an output that failed must not make a system look
better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from evaluator.schema import Case, Score
from evaluator.suites.ave_compass import correlations, errors_table, gating, strata
from evaluator.suites.ave_compass.branches import BRANCHES
from evaluator.suites.ave_compass.cells import MARK, Basis, Mean, Records, basis, means
from evaluator.suites.ave_compass.judged import FAMILIES, FIDELITY, FOLLOWING, INTENT, REALISM, RESPONSE, metric_id
from evaluator.suites.ave_compass.judged_coverage import Covered, covered
from evaluator.suites.ave_compass.routing import branch_for
from evaluator.suites.ave_compass.scoring import PERCENT, SCOPES
from evaluator.suites.ave_compass.taxonomy import STRATA
from evaluator.suites.board import Board, Cell

SHORT = {INTENT: "EI", FOLLOWING: "IF", FIDELITY: "FP", RESPONSE: "ER", REALISM: "REAL"}
_SCOPE = {"overall": "", "video": " v", "audio": " a"}
MAIN = tuple(metric_id(family, scope) for family in FAMILIES if family != RESPONSE for scope in SCOPES)
"""The columns of the paper's table: intent, instruction, fidelity, realism, each overall, video, audio."""
MAIN_HEADS = tuple(SHORT[family] + _SCOPE[scope] for family in FAMILIES if family != RESPONSE for scope in SCOPES)
ALL = tuple(metric_id(family, scope) for family in FAMILIES for scope in SCOPES)
ALL_HEADS = tuple(SHORT[family] + _SCOPE[scope] for family in FAMILIES for scope in SCOPES)
RESPONSES = tuple(metric_id(RESPONSE, scope) for scope in ("video", "audio", "overall"))
BASIS = ("judge", "evidence")

NOTE_KEY = (
    "EI intent, IF instruction following, FP fidelity preserving, REAL realism; v video items, a audio items only"
)
NOTE_MACRO = "macro averages over cases with a value, never products of averages; an empty cell has no value"
NOTE_EVIDENCE = "native and substitute evidence are never averaged together: overall cells of both are `mixed`"
NOTE_FIXTURE = f"{MARK} a wiring fixture answered: these numbers mean nothing"


def boards(cases: Sequence[Case], scores: Sequence[Score]) -> list[Board]:
    """Every table that has a line. None without a judge."""
    records = Records(cases, scores)
    found = [make(records) for make in TABLES]
    return [_marked(board, records) for board in found if board.rows]


# ------------------------------------------------------------------------------------------------------ main tables


def ranked(records: Records) -> list[str]:
    """Systems by their best overall intent, the best first; those without one last, in the order of the manifest."""

    def best(system: str) -> float:
        lines = means(records, records.of(system), [INTENT])
        return max((line[0].value for line in lines.values() if line[0].value is not None), default=-1.0)

    return sorted(records.systems, key=best, reverse=True)


def subjective(records: Records) -> Board:
    """The judged columns of the paper's table."""
    rows = [
        (system, *_ground(ground), len(records.of(system)), *(cell.value for cell in line))
        for system in ranked(records)
        for ground, line in means(records, records.of(system), MAIN).items()
    ]
    heads = ("system", *BASIS, "cases", *MAIN_HEADS)
    notes = (NOTE_KEY, NOTE_MACRO, NOTE_EVIDENCE)
    return Board(
        "subjective", "AVE-Compass, judged scores [%], as the paper's main table", heads, tuple(rows), notes, 1
    )


def _ground(found: Basis) -> tuple[str, str]:
    return found.judge, found.evidence


def coverage(records: Records) -> Board:
    """How much stands behind the overall scores, and what became of the rest."""
    rows = [row for system in ranked(records) for family in FAMILIES if (row := _covered(records, system, family))]
    heads = ("system", "score", "active", "scored", "coverage", "items", "answered", "mean", "failures as 0", "missing")
    notes = (
        "active: cases to which the score applies, missing outputs included; coverage below 1 is marked with !",
        "items: of active cases that have an output, whether or not the case has a score",
        "failures as 0: the mean if failed cases and missing outputs counted as zero; on one kind of evidence only",
    )
    return Board("coverage", "AVE-Compass, coverage of the judged scores", heads, tuple(rows), notes, 1)


def _covered(records: Records, system: str, family: str) -> tuple[Cell, ...] | None:
    """The row of one score; None without a judge, and where there is nothing to say of the system."""
    found = covered(records, records.of(system), family)
    if not records.has(family) or not found.active:
        return None
    share = len(found.scored) / found.active
    return (
        system,
        SHORT[family],
        found.active,
        len(found.scored),
        f"{share:.3f}{'' if share == 1 else ' !'}",
        found.asked or None,
        found.answered if found.asked else None,
        *_with_failures(found),
        ", ".join(f"{count} {reason}" for reason, count in found.missing.items()),
    )


def _with_failures(found: Covered) -> tuple[Cell, Cell]:
    """(mean, mean with failures as zero); neither if values rest on different evidence, or nothing was judged."""
    n = len(found.scored)
    if len({basis(score) for score in found.scored}) > 1 or not n + found.failed:
        return None, None
    total = PERCENT * sum(found.values)
    return total / n if n else None, total / (n + found.failed)


def responses(records: Records) -> Board:
    """How often each stream changed at all."""
    rows = [
        (system, *_ground(ground), *(value for cell in line for value in (cell.value, cell.n)))
        for system in ranked(records)
        for ground, line in means(records, records.of(system), RESPONSES).items()
    ]
    heads = ("system", *BASIS, "video", "n", "audio", "n ", "overall", "n  ")
    notes = ("mean over cases that have a response item of the modality; overall: mean share of response items",)
    return Board("responses", "AVE-Compass, response rates [%]", heads, tuple(rows), notes, 1)


def gates(records: Records) -> Board:
    """Fidelity and realism with and without the streams that did not respond."""
    rows = [
        (system, one.quantity, *_ground(one.basis), one.ungated, one.gated, one.difference, one.n, one.dropped)
        for system in ranked(records)
        for one in gating.gated(records, records.of(system))
    ]
    heads = ("system", "score", *BASIS, "ungated", "gated", "difference", "n", "dropped")
    notes = (
        "gated: without streams that the judge saw no change in; a stream without a response item is kept",
        "instruction following and intent are not gated; objective scores here are diagnostics",
    )
    kept = tuple(row for row in rows if records.has(RESPONSE))
    return Board("gated", "AVE-Compass, gated fidelity and realism [%], as the paper's Table 4", heads, kept, notes, 1)


def by_branch(records: Records) -> Board:
    """Every score on each branch, the one that the profile scores a case as."""
    rows = [
        (system, branch, *_ground(ground), len(cases), *(cell.value for cell in line))
        for system in ranked(records)
        for branch in BRANCHES
        if (cases := [case for case in records.of(system) if branch_for(case, records.profile) == branch])
        for ground, line in means(records, cases, ALL).items()
    ]
    heads = ("system", "branch", *BASIS, "cases", *ALL_HEADS)
    return Board("branches", "AVE-Compass, judged scores by branch [%]", heads, tuple(rows), (NOTE_MACRO,), 1)


def deltas(records: Records) -> Board:
    """The best system minus each other one, on equal ground."""
    first, *others = ranked(records) or [""]
    best = means(records, records.of(first), MAIN)
    rows = [
        (f"{first} - {other}", *_ground(ground), *differences(best[ground], line))
        for other in others
        for ground, line in means(records, records.of(other), MAIN).items()
        if ground in best
    ]
    heads = ("difference", *BASIS, *MAIN_HEADS)
    notes = ("points; unpaired means, see `evaluator compare` for intervals",)
    return Board("deltas", "AVE-Compass, differences to the best system [%]", heads, tuple(rows), notes, 1)


def differences(first: Sequence[Mean], second: Sequence[Mean]) -> list[float | None]:
    """First minus second, column by column."""
    return [
        None if ours.value is None or theirs.value is None else ours.value - theirs.value
        for ours, theirs in zip(first, second, strict=True)
    ]


# --------------------------------------------------------------------------------------------------------- analyses


def errors(records: Records) -> Board:
    """How often each category of error occurs."""
    rows = [
        (system, one.category, one.basis.judge, one.basis.evidence, one.errors, one.defined, one.share, one.dominant)
        for system in ranked(records)
        for one in errors_table.breakdown(records, records.of(system))
    ]
    heads = ("system", "category", *BASIS, "errors", "of", "share", "dominant")
    notes = (
        f"an error: a cell below {errors_table.THRESHOLD:g}, or a grade of realism up to {errors_table.GRADE}",
        "dominant: cases whose lowest cell this is. The categories are our guess: the paper's table is not public",
    )
    return Board("errors", "AVE-Compass, kinds of errors [%]", heads, tuple(rows), notes, 1)


def stratified(records: Records) -> Board:
    """Every score in every stratum."""
    rows = [row for axis in STRATA for system in ranked(records) for row in _strata(records, system, axis)]
    heads = ("axis", "stratum", "system", *BASIS, "cases", *MAIN_HEADS)
    headline = "; ".join(f"{axis}: {metric}" for axis, metric in strata.HEADLINE.items())
    notes = (f"the paper ties {headline}", f"few: fewer than {strata.FEW} cases", *_unplaced(records))
    return Board("strata", "AVE-Compass, judged scores by difficulty [%]", heads, tuple(rows), notes, 1)


def _strata(records: Records, system: str, axis: str) -> Iterator[tuple[Cell, ...]]:
    for name, cases in strata.by_stratum(records, records.of(system), axis).items():
        few = " few" if len(cases) < strata.FEW else ""
        for ground, line in means(records, cases, MAIN).items():
            yield axis, name, system, *_ground(ground), f"{len(cases)}{few}", *(cell.value for cell in line)


def _unplaced(records: Records) -> Iterator[str]:
    for axis in STRATA:
        count = sum(strata.stratum(records, case, axis) is None for case in records.cases)
        if 0 < count < len(records.cases):
            yield f"{axis}: {count} cases have no stratum"


def spearman(records: Records) -> Board:
    """Rank correlation of every score with every other one."""
    return _correlations(records, "spearman", "Spearman correlation over (system, case) rows", lambda one: one.rho)


def spearman_n(records: Records) -> Board:
    """How many rows each correlation rests on."""
    return _correlations(records, "spearman_n", "rows behind each correlation", lambda one: one.n)


def _correlations(records: Records, name: str, title: str, cell: Callable[[correlations.Correlation], Cell]) -> Board:
    found = correlations.table(records)
    known = list(dict.fromkeys(first for first, _ in found))
    defined = any(one.rho is not None for one in found.values())
    rows = [(first, *(cell(found[first, second]) for second in known)) for first in known] if defined else []
    notes = (f"a pair of fewer than {correlations.LEAST} rows, or without variation, has no correlation",)
    return Board(name, f"AVE-Compass, {title}", ("", *map(_head, known)), tuple(rows), notes, 2)


def _head(metric: str) -> str:
    """A short column head."""
    family, _, scope = metric.rpartition("_")
    if scope in SCOPES and family in SHORT:
        return SHORT[family] + _SCOPE[scope]
    return SHORT.get(metric, metric)


TABLES = (
    subjective,
    coverage,
    responses,
    gates,
    by_branch,
    deltas,
    errors,
    stratified,
    spearman,
    spearman_n,
)


def _marked(board: Board, records: Records) -> Board:
    """The same table; if a fixture answered, a note says so."""
    fixture = any(isinstance(cell, str) and cell.endswith(MARK) for row in board.rows for cell in row)
    if not fixture:
        return board
    return Board(board.id, board.title, board.columns, board.rows, (*board.notes, NOTE_FIXTURE), board.decimals)
