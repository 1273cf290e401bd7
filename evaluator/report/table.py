"""The table that a person reads after a run: metrics down, systems across, arrows for the good direction.

Plain text of any width; knows rows of a summary and identity cards of metrics, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from evaluator.metrics.base import Direction, Metric
from evaluator.report.aggregate import Row
from evaluator.schema import Score, Status

ARROWS = {Direction.HIGHER: "↑", Direction.LOWER: "↓", Direction.NONE: " "}
COLUMN = 11
NOTE = "*"


def table(suite: str, rows: Sequence[Row], metrics: Mapping[str, Metric], width: int = 120) -> str:
    """One suite's means, in blocks of as many systems as fit the width. `*` marks a stand-in model.

    A metric that was skipped everywhere has no line: `absences` names it and says why.
    """
    systems = list(dict.fromkeys(row.system for row in rows))
    tried = dict.fromkeys(row.metric for row in rows if row.n or row.failed)
    if not tried:
        return f"{suite}: no metric has a value"
    names = [metrics[name] for name in tried]
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        cells.setdefault((row.metric, row.system), []).append(row)
    label = max(len(_label(metric)) for metric in names) + 2
    per_block = max(1, (width - label) // COLUMN)
    blocks = [systems[start : start + per_block] for start in range(0, len(systems), per_block)]
    return "\n\n".join(_block(suite, block, names, cells, label) for block in blocks)


def _block(
    suite: str,
    systems: Sequence[str],
    metrics: Sequence[Metric],
    cells: Mapping[tuple[str, str], list[Row]],
    label: int,
) -> str:
    heads = [_wrap(system or "(no name)") for system in systems]
    depth = max(len(head) for head in heads)
    lines = []
    for level in range(depth):
        left = suite if level == depth - 1 else ""
        lines.append(left.ljust(label) + "".join(_at(head, level - depth).rjust(COLUMN) for head in heads))
    lines.append("─" * (label + COLUMN * len(systems)))
    for metric in metrics:
        values = [_cell(cells.get((metric.id, system), [])) for system in systems]
        lines.append(_label(metric).ljust(label) + "".join(value.rjust(COLUMN) for value in values))
    return "\n".join(line.rstrip() for line in lines)


def _label(metric: Metric) -> str:
    unit = f" [{metric.unit}]" if metric.unit else ""
    return f"{ARROWS[metric.direction]} {metric.id}{unit}"


def _wrap(name: str) -> list[str]:
    """A column head in as many lines as it needs, broken at blanks, hyphens and underscores where possible."""
    lines: list[str] = [""]
    for word in name.replace("_", " ").replace("-", " ").split():
        for start in range(0, len(word), COLUMN - 1):
            piece = word[start : start + COLUMN - 1]
            joined = f"{lines[-1]} {piece}".strip()
            if len(joined) < COLUMN:
                lines[-1] = joined
            else:
                lines.append(piece)
    return lines


def _at(lines: Sequence[str], index: int) -> str:
    return lines[index] if -index <= len(lines) else ""


def _cell(rows: Sequence[Row]) -> str:
    """A mean, or a dash for a skip and an exclamation mark for a failure. Rows of several models are never averaged."""
    scored = [row for row in rows if row.mean is not None]
    failed = "!" if any(row.failed for row in rows) else ""
    if len(scored) > 1:
        return "several" + failed
    if scored:
        row = scored[0]
        return f"{row.mean:.3f}{failed}{NOTE if row.stand_in else ' '}"
    return f"{failed or '-'} "


def absences(scores: Iterable[Score], width: int = 120) -> list[str]:
    """What has no value and why, failures first: one line per reason, with the metrics and the number of cases.

    Messages that differ only in their figures count as one; the record of each case holds its own.
    """
    groups: dict[tuple[Status, str, str], list[Score]] = {}
    for score in scores:
        if score.reason is not None:
            key = (score.status, score.reason.code, _FIGURES.sub("#", score.reason.message))
            groups.setdefault(key, []).append(score)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0] is Status.SKIPPED, -len(item[1])))
    return [shorten(_absence(*key[:2], members, width), width) for key, members in ordered]


_FIGURES = re.compile(r"\d+(\.\d+)?")


def _absence(status: Status, code: str, scores: Sequence[Score], width: int) -> str:
    metrics = _listed(list(dict.fromkeys(score.metric for score in scores)), width * 2 // 5)
    cases = dict.fromkeys(score.case for score in scores)
    first = next(iter(cases))
    told = f"case {first}" if len(cases) == 1 else f"{len(cases)} cases, first {first}"
    reason = scores[0].reason
    return f"{status} {metrics} ({told}): {code}: {reason.message if reason else ''}"


def _listed(names: Sequence[str], width: int) -> str:
    """The names, or the first of them and how many more there are, so that what follows can be read."""
    kept = max([count for count in range(1, len(names) + 1) if len(", ".join(names[:count])) <= width], default=1)
    more = len(names) - kept
    return ", ".join(names[:kept]) + (f" and {more} more" if more else "")


def shorten(text: str, width: int) -> str:
    """The text on one line of at most `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def stand_ins(rows: Iterable[Row]) -> list[str]:
    """One line per stand-in model that the table marks with `*`."""
    found = {model.id: model.stands_in_for for row in rows for model in row.models if model.stands_in_for and row.n}
    return [f"{NOTE} {name} stands in for {published}" for name, published in sorted(found.items())]
