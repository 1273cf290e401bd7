"""What one check found: a level, a fact, and what to do about it. And the one screen that shows many of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from textwrap import wrap


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"  # works, but a person may want to know
    MISSING = "missing"  # something that what was given needs


MARKS = {Level.OK: "✓", Level.NOTE: "·", Level.MISSING: "✗"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the screen."""

    section: str
    name: str
    level: Level
    found: str
    remedy: str = ""


def ready(findings: Iterable[Finding]) -> bool:
    """True unless something that is needed is missing."""
    return all(finding.level is not Level.MISSING for finding in findings)


def screen(findings: Sequence[Finding], width: int = 120) -> str:
    """Sections with one line per finding; remedies are indented below."""
    label = max((len(finding.name) for finding in findings), default=0) + 2
    lines: list[str] = []
    for section in dict.fromkeys(finding.section for finding in findings):
        lines += ["", section]
        for finding in findings:
            if finding.section == section:
                lines += _lines(finding, label, width)
    missing = sum(finding.level is Level.MISSING for finding in findings)
    verdict = "ready" if not missing else f"not ready: {missing} missing"
    return "\n".join([*lines, "", verdict]).lstrip("\n")


def _lines(finding: Finding, label: int, width: int) -> list[str]:
    head = f"  {MARKS[finding.level]} {finding.name.ljust(label)}"
    room = max(20, width - len(head))
    remedy = wrap(finding.remedy, room, initial_indent="→ ", subsequent_indent="  ")
    text = [*wrap(finding.found, room), *remedy] or [""]
    return [head + text[0], *(" " * len(head) + line for line in text[1:])]
