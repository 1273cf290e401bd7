"""What people said about checklist items, grades and intents: a CSV file, read strictly, with every problem at once.

    case, item, value   and, where several people looked, annotator

`item` is a question id (value: yes or no), an aspect of realism (1 to 5) or `editing_intent` (0 to 1).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from evaluator.errors import UsageError
from evaluator.manifest.problems import Problem, quoted, shown
from evaluator.suites.ave_compass.judged import INTENT
from evaluator.suites.ave_compass.realism import HIGHEST, LOWEST, SOUND, VISUAL

NEEDED, OPTIONAL = ("case", "item", "value"), ("annotator",)
ANSWERS = {"yes": 1, "no": 0}


@dataclass(frozen=True, slots=True)
class Labels:
    """(case, question id) -> answers 0 or 1; (case, aspect) -> grades 1 to 5; case -> intents 0 to 1."""

    items: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    grades: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    opinions: dict[str, list[float]] = field(default_factory=dict)

    @property
    def intents(self) -> dict[str, float]:
        """Case -> mean intent."""
        return {case: fmean(said) for case, said in self.opinions.items()}


def read(path: Path) -> Labels:
    """The labels of a file. Raises UsageError that names every line that cannot be used."""
    try:
        reader = csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline=""), strict=True)
        columns, lines = reader.fieldnames or (), list(reader)
    except (csv.Error, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: expected comma-separated values in UTF-8 ({error})") from error
    if not set(NEEDED) <= set(columns) <= {*NEEDED, *OPTIONAL}:
        raise UsageError(f"{path}:1: expected the columns {', '.join(NEEDED)} and perhaps annotator")
    found = Labels()
    problems = [problem for number, line in enumerate(lines, 2) for problem in _take(found, number, line)]
    if problems:
        raise UsageError("\n".join(problem.shown(shown(str(path))) for problem in problems))
    return found


def _take(found: Labels, number: int, line: dict[str, str]) -> Iterator[Problem]:
    """Put one line where it belongs, or say why not."""
    case, item, value = ((line.get(name) or "").strip() for name in NEEDED)
    if item == INTENT:
        intent = _number(value)
        if intent is None or not 0 <= intent <= 1:
            yield Problem(number, "value", "a number from 0 to 1", quoted(value))
        else:
            found.opinions.setdefault(case, []).append(intent)
    elif item in (*VISUAL, *SOUND):
        grade = _number(value)
        if grade is None or grade != int(grade) or not LOWEST <= grade <= HIGHEST:
            yield Problem(number, "value", f"a whole number from {LOWEST} to {HIGHEST}", quoted(value))
        else:
            found.grades.setdefault((case, item), []).append(int(grade))
    elif value.lower() in ANSWERS and case and item:
        found.items.setdefault((case, item), []).append(ANSWERS[value.lower()])
    else:
        yield Problem(number, "value", "yes or no for a question of a case", quoted(value))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e6 else None
