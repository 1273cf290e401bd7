"""HUMAN.csv: what people said about the outputs, read strictly, with every problem of the file reported at once.

    case, score                 how good an output is, higher is better, any scale
    case, rank                  place among the outputs of an item, 1 is best, equal ranks are ties
    case, label                 a category that the metric gives too (a number: 0/1, 1..5)
    case_a, case_b, preference  which of two outputs is better: a, b or tie

and, where they matter: `annotator` (who), `metric` (the metric that the judgement is about; none: all that are asked
for), `item` (which outputs belong together; not for preferences, which say so themselves), `note` (not read).
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evaluator.errors import UsageError
from evaluator.manifest.problems import Problem, quoted, shown

Kind = Literal["score", "rank", "label", "preference"]
KINDS: tuple[Kind, ...] = ("score", "rank", "label", "preference")
PREFERENCES = {"a": 1, "b": -1, "tie": 0}
OPTIONAL = ("annotator", "metric", "note")
HEAD = "(columns)"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One line. `cases` are one case, or the two of a preference; `value` is 1, 0 or -1 for a preference (1: the first
    is better)."""

    line: int
    cases: tuple[str, ...]
    value: float
    annotator: str
    metric: str
    item: str


@dataclass(frozen=True, slots=True)
class Human:
    """All lines of a file."""

    kind: Kind
    judgements: tuple[Judgement, ...]


def read_human(path: Path, cases: Collection[str], metrics: Collection[str]) -> Human:
    """Judgements about known cases and metrics. UsageError with all problems of the file, `file:line: column: ...`."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = Problem(1, HEAD, "UTF-8 text", f"byte 0x{error.object[error.start]:02x}", "save it as UTF-8")
        raise UsageError(problem.shown(shown(str(path)))) from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    parser = _Parser(cases, metrics)
    try:
        columns = [name.strip() for name in next(reader, [])]
        kind = parser.kind(columns)
        found = [item for row in reader if row for item in parser.rows(reader.line_num, kind, columns, row)]
    except csv.Error as error:
        parser.problems.append(Problem(reader.line_num, "(line)", "comma-separated values", str(error)))
    if parser.problems:
        raise UsageError("\n".join(problem.shown(shown(str(path))) for problem in parser.problems))
    if not found:
        raise UsageError(f"{path}: no judgement in it")
    return Human(kind, tuple(found))


class _Parser:
    """Turns rows into judgements and collects what is wrong with them."""

    def __init__(self, cases: Collection[str], metrics: Collection[str]) -> None:
        self.problems: list[Problem] = []
        self._cases = cases
        self._metrics = metrics
        self._seen: dict[tuple[str, ...], int] = {}

    def kind(self, columns: list[str]) -> Kind:
        """What sort of file the columns make it. A file that cannot be told ends here."""
        kinds = [kind for kind in KINDS if kind in columns]
        kind = kinds[0] if kinds else "score"
        needed = _needed(kind)
        allowed = {*needed, *OPTIONAL, *(() if kind == "preference" else ("item",))}
        if len(kinds) != 1 or not set(needed) <= set(columns):
            expected = "case,score or case,rank or case,label or case_a,case_b,preference"
            self.problems.append(Problem(1, HEAD, expected, quoted(",".join(columns))))
        elif set(columns) - allowed or len(set(columns)) < len(columns):
            expected = f"each at most once of {', '.join(sorted(allowed))}"
            self.problems.append(Problem(1, HEAD, expected, quoted(",".join(columns))))
        return kind

    def rows(self, line: int, kind: Kind, columns: list[str], row: list[str]) -> Iterator[Judgement]:
        """The judgement of one row, or nothing if something is wrong with it."""
        before = len(self.problems)
        if before and self.problems[0].field == HEAD:
            return
        if len(row) != len(columns):
            self.problems.append(Problem(line, "(line)", f"{len(columns)} values", str(len(row))))
            return
        cells = {name: cell.strip() for name, cell in zip(columns, row, strict=True)}
        cases = tuple(self._case(line, name, cells[name]) for name in _needed(kind)[:-1])
        value = self._value(line, kind, cells[kind])
        metric = self._metric(line, cells)
        self._once(line, (*cases, cells.get("annotator", ""), metric))
        if len(self.problems) == before:
            yield Judgement(line, cases, value, cells.get("annotator", ""), metric, cells.get("item", ""))

    def _case(self, line: int, column: str, case: str) -> str:
        if case not in self._cases:
            self.problems.append(Problem(line, column, "a case of the run", quoted(case)))
        return case

    def _metric(self, line: int, cells: Mapping[str, str]) -> str:
        metric = cells.get("metric", "")
        if metric and metric not in self._metrics:
            self.problems.append(Problem(line, "metric", f"one of {', '.join(sorted(self._metrics))}", quoted(metric)))
        return metric

    def _value(self, line: int, kind: Kind, text: str) -> float:
        if kind == "preference":
            value: float = PREFERENCES.get(text.lower(), math.nan)
        else:
            value = _number(text)
        if not math.isfinite(value):
            expected = "a, b or tie" if kind == "preference" else "a number"
            self.problems.append(Problem(line, kind, expected, quoted(text)))
        return value

    def _once(self, line: int, key: tuple[str, ...]) -> None:
        """The same judgement twice is a mistake; a pair shown in both orders is not."""
        first = self._seen.setdefault(key, line)
        if first != line:
            self.problems.append(Problem(line, "(line)", "one judgement each", f"a second one, after line {first}"))
        elif len(key) == 4 and key[0] == key[1]:
            self.problems.append(Problem(line, "case_b", "another case than case_a", quoted(key[1])))


def _needed(kind: Kind) -> tuple[str, ...]:
    return ("case_a", "case_b", kind) if kind == "preference" else ("case", kind)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
