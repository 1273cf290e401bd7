"""The tables of CoVEBench, all of them pure functions of the records of one run.

The judge's columns pool questions and edits over tasks, so they are not the means of records that summary.json has.
What has no value stays empty; a metric whose model stands in for another has a column of its own, with a star, and a
judge that is none has rows of its own. Source: CoVEBench 3.5, 7, 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from evaluator.schema import Case, Score, Status
from evaluator.suites.board import Board, Cell
from evaluator.suites.covebench import agreement, errors_table, joint_sequential, radar, scalability
from evaluator.suites.covebench.questions import Dimension, items_of
from evaluator.suites.covebench.rules import Missing
from evaluator.suites.covebench.sheets import RULES, Name, Sheet, Sheets, label, marks, rule, sheets, tasks
from evaluator.suites.covebench.tally import Share, pooled, pooled_union, share, task_mean, task_union

Figure = Callable[[Sequence[Sheet], Missing], Share]

JUDGED: Mapping[str, Figure] = {
    "UAS": lambda own, missing: pooled_union(tasks(own), missing),
    "IFS": lambda own, missing: pooled(tasks(own), Dimension.IFS, missing),
    "VRS": lambda own, missing: pooled(tasks(own), Dimension.VRS, missing),
    "SEM": lambda own, missing: pooled(tasks(own), Dimension.SEM, missing),
}
"""The judge's columns: UAS, IFS and VRS of 0..100, SEM of 10..100."""

LAYOUT = ("UAS", "IFS", "VRS", "vqr", "aes", "msm", "tq", "SEM", "ssim", "mf", "src")
"""Compliance, quality, fidelity. Capitals come from the judge's sheets, the others are metrics."""


def boards(cases: Sequence[Case], scores: Sequence[Score]) -> list[Board]:
    """Every table that these records can fill, the paper's first."""
    missing = rule(scores[0].profile if scores else "", cases)
    found = sheets(cases, scores)
    made: list[Board | None] = [main(found, scores, missing)]
    if found:
        made += [judge(found), superseded(found, missing), difficulty(found, missing), *radar.boards(found, missing)]
        made += [errors_table.board(found, scores, missing), scalability.board(found, missing)]
        made += [joint_sequential.board(found, missing), agreement.board(cases, scores)]
    return [board for board in (*made, coverage(scores)) if board is not None]


# ------------------------------------------------------------------------------------------------------ main table


def main(found: Sheets, scores: Sequence[Score], missing: Missing) -> Board:
    """One row per system: instruction compliance, video quality, video fidelity."""
    means = _means(scores)
    present = {key for own in means.values() for key in own}
    wanted = {name for name in LAYOUT if name in JUDGED} if found else set()
    columns = [
        (name, mark)
        for name in LAYOUT
        for mark in (False, True)
        if (name in wanted and not mark) or (name, mark) in present
    ]
    names: dict[Name, None] = dict.fromkeys(found)
    judged = {system for system, _ in found}
    names.update(((system, ""), None) for system in means if system not in judged)
    rows = tuple(
        (label(name), len(_cases(scores, name[0])), *(_cell(found, means, name, column, missing) for column in columns))
        for name in names
    )
    heads = ("system", "tasks", *(f"{name.upper()}{'*' if mark else ''}" for name, mark in columns))
    return Board(
        "main", "CoVEBench: compliance, quality, fidelity", heads, rows, _main_notes(found, scores, missing), 2
    )


def _main_notes(found: Sheets, scores: Sequence[Score], missing: Missing) -> tuple[str, ...]:
    valued = [score for score in scores if score.value is not None]
    stand_ins = {score.metric.upper(): model for score in valued for model in score.models if model.stands_in_for}
    return (
        "headline of each part: UAS, VQR, SEM. All are better when higher.",
        f"UAS, IFS, VRS (0..100) and SEM (10..100) pool questions over tasks; without an answer: {RULES[missing]}.",
        "VQR 1..5, AES about 1..10, TQ 0..100, the rest at most 1: means over tasks that are on no exclusion list.",
        *(
            f"{metric}* {model.id} stands in for {model.stands_in_for}"
            for metric, model in stand_ins.items()
            if metric.lower() in LAYOUT
        ),
        *marks(found),
    )


def _means(scores: Sequence[Score]) -> dict[str, dict[tuple[str, bool], float]]:
    """System -> (metric, whether a model stands in) -> mean over its tasks."""
    values: dict[str, dict[tuple[str, bool], list[float]]] = {}
    for score in scores:
        own = values.setdefault(score.system, {})
        if score.value is not None and score.metric in LAYOUT:
            mark = any(model.stands_in_for for model in score.models)
            own.setdefault((score.metric, mark), []).append(score.value)
    return {system: {key: fmean(members) for key, members in own.items()} for system, own in values.items()}


def _cell(
    found: Sheets,
    means: Mapping[str, Mapping[tuple[str, bool], float]],
    name: Name,
    column: tuple[str, bool],
    missing: Missing,
) -> Cell:
    if column[0] in JUDGED:
        return JUDGED[column[0]](found[name], missing).value if name in found else None
    return means.get(name[0], {}).get(column)


def _cases(scores: Sequence[Score], system: str) -> set[str]:
    return {score.case for score in scores if score.system == system}


# ----------------------------------------------------------------------------------------------------- judge tables


def judge(found: Sheets) -> Board:
    """The judge's scores with what is behind them, once per rule for questions without an answer."""
    columns = ("system", "no answer", "tasks", "UAS", "edits", "IFS", "n", "VRS", "n ", "SEM", "n  ", "unanswered")
    rows = tuple(_judge_row(name, own, missing) for name, own in found.items() for missing in RULES)
    notes = (
        'The reference leaves questions without an answer out ("left out"), so that a judge that fails can raise UAS.',
        *marks(found),
    )
    return Board("judge", "Judge scores, pooled over tasks (CoVEBench 3.5)", columns, rows, notes, 2)


def _judge_row(name: Name, own: Sequence[Sheet], missing: Missing) -> tuple[Cell, ...]:
    shares = {title: figure(own, missing) for title, figure in JUDGED.items()}
    cells = [cell for found in shares.values() for cell in (found.value, found.n)]
    lost = sum(found.missing for title, found in shares.items() if title != "UAS")
    return (label(name), RULES[missing], len(own), *cells, lost)


def superseded(found: Sheets, missing: Missing) -> Board:
    """The older definition: every task has its scores, and the figures are means over tasks."""
    columns = ("system", "UAS", "tasks", "IFS", "tasks ", "VRS", "tasks  ", "SEM (1..10)", "tasks   ")
    rows = tuple((label(name), *_superseded(own, missing)) for name, own in found.items())
    notes = (
        "UAS of a task: all its IFS and VRS questions right; not defined for a task that lacks one of the kinds.",
        f"Not the released definition; for comparison with older figures. Without an answer: {RULES[missing]}.",
        *marks(found),
    )
    return Board("per_task", "Superseded: means over tasks (CoVEBench 3.5)", columns, rows, notes, 2)


def _superseded(own: Sequence[Sheet], missing: Missing) -> Iterator[Cell]:
    uas = share([task_union(sheet.task, missing) for sheet in own], 100.0)
    rest = [share([task_mean(sheet.task, one, missing) for sheet in own], 1.0) for one in Dimension]
    for found in (uas, *rest):
        yield found.value
        yield found.n


def difficulty(found: Sheets, missing: Missing) -> Board:
    """IFS, VRS and SEM per difficulty of the questions. UAS has none: an edit mixes difficulties."""
    columns = ("system", "difficulty", "IFS", "n", "VRS", "n ", "SEM", "n  ")
    rows = tuple(row for name, own in found.items() for row in _difficulty_rows(name, own, missing))
    notes = (f"Without an answer: {RULES[missing]}. Many questions have no difficulty.", *marks(found))
    return Board("difficulty", "Judge scores per difficulty (CoVEBench 1.2)", columns, rows, notes, 2)


GRADES_OF_DIFFICULTY = ("Simple", "Moderate", "Hard")


def _difficulty_rows(name: Name, own: Sequence[Sheet], missing: Missing) -> Iterator[tuple[Cell, ...]]:
    there = {item.difficulty for sheet in own for item in items_of(sheet.groups)}
    others = sorted(there - set(GRADES_OF_DIFFICULTY))
    for grade in (*(one for one in GRADES_OF_DIFFICULTY if one in there), *others):
        members = [(sheet.groups, _of(sheet, grade)) for sheet in own]
        shares = [pooled(members, one, missing) for one in Dimension]
        yield label(name), grade or "(none)", *(cell for found in shares for cell in (found.value, found.n))


def _of(sheet: Sheet, grade: str) -> dict[str, float | None]:
    """The scores of the questions of one difficulty."""
    return {
        item.id: sheet.scores[item.id]
        for item in items_of(sheet.groups)
        if item.difficulty == grade and item.id in sheet.scores
    }


# --------------------------------------------------------------------------------------------------------- coverage


def coverage(scores: Sequence[Score]) -> Board | None:
    """How many tasks each metric scored, how many an exclusion list took out, and what became of the rest."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for score in scores:
        counts.setdefault((score.metric, score.system), Counter())[_fate(score)] += 1
    fates = ("scored", "excluded", "skipped", "failed")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (metric, system or "(no name)", *(own[fate] for fate in fates)) for (metric, system), own in counts.items()
    )
    notes = (
        "excluded: on the metric's exclusion list (166 published tasks for SSIM and MF, 305 for MSM); for SRC, a task "
        "about camera or style.",
    )
    return Board("coverage", "Tasks behind each metric", ("metric", "system", *fates), rows, notes) if rows else None


def _fate(score: Score) -> str:
    if score.status is Status.OK:
        return "scored"
    if score.status is Status.SKIPPED and score.reason is not None and score.reason.code == "filtered":
        return "excluded"
    return str(score.status)
