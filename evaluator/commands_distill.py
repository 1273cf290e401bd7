"""What the `distill` subcommands do: export, agree. Load, call, print; returns the exit code.

Knows options and the judge package; trains nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluator import errors
from evaluator.commands import say, write_json
from evaluator.judge import distill, distill_agree
from evaluator.judge.distill_agree import Agreement
from evaluator.report.grid import Grid, aligned, number, span

HEAD = ("task", "n", "clips", "accuracy", "95 % interval", "kappa", "95 % interval", "distance of P", "one side only")
LEGEND = "Intervals: bootstrap over clips. Kappa - : one answer only, or too many different ones to be categories."


def export(given: Mapping[str, Any]) -> int:
    """Ledgers to rows."""
    found = distill.export(given["ledgers"], given["out"], given["held_out"], given["min_mass"])
    if given["as_json"]:
        write_json(found)
    else:
        say("\n".join(_export_lines(found, given["out"])))
    return errors.EXIT_OK


def agree(teacher: Path, student: Path, rows: Path | None, seed: int, as_json: bool) -> int:
    """Student against teacher."""
    wanted = None if rows is None else {str(row["id"]) for row in distill.read_rows(rows)}
    found = distill_agree.agree(teacher, student, wanted, seed)
    if as_json:
        write_json(found)
    else:
        say("\n".join(_agree_lines(found)))
    return errors.EXIT_OK


def _export_lines(found: distill.Export, out: Path) -> Iterator[str]:
    yield from (f"{out / split}.jsonl: {count} rows, {found.clips[split]} clips" for split, count in found.rows.items())
    for task, verdicts in sorted(found.verdicts.items()):
        whole = verdicts.total()
        yield f"  {task}: " + ", ".join(f"{word} {100 * n / whole:.0f} %" for word, n in verdicts.most_common(5))
    yield from (f"left out, {why}: {count} calls" for why, count in sorted(found.left_out.items()))
    yield from (f"teacher: {teacher}" for teacher in found.teachers)
    if not found.trained:
        yield "this teacher says that it is a wiring fixture: its answers teach nothing"


def _agree_lines(found: Sequence[Agreement]) -> Iterator[str]:
    yield aligned(Grid(HEAD, [_cells(one) for one in found]))
    for one in found:
        yield from _matrix_lines(one)
    yield ""
    yield LEGEND


def _cells(one: Agreement) -> tuple[str, ...]:
    return (
        one.task,
        str(one.n),
        str(one.clips),
        number(one.accuracy),
        span(one.accuracy_interval),
        number(one.kappa),
        span(one.kappa_interval),
        number(one.distance),
        str(one.only_teacher + one.only_student),
    )


def _matrix_lines(one: Agreement) -> Iterator[str]:
    """The most frequent disagreements."""
    pairs = [
        (count, ours, theirs)
        for ours, line in zip(one.verdicts, one.confusion, strict=False)
        for theirs, count in zip(one.verdicts, line, strict=True)
        if count and ours != theirs
    ]
    if pairs:
        yield f"\n{one.task}, where they differ:"
    yield from (
        f"  teacher {ours}, student {theirs}: {count}" for count, ours, theirs in sorted(pairs, reverse=True)[:5]
    )
