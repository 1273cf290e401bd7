"""The parity report: how far every exported file is from its origin, and why nothing can be said of the others.

A row of a model whose weights are there says `"weights": "published"`. A reference model without them is tried at a
tiny configuration with random weights, in fp32 and fp16: `"weights": "tiny"`. A model that cannot be tried has one row,
with the reason under `untried`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evaluator.errors import ModelMissing, PrerequisiteError
from evaluator.runtime.lock import ModelEntry
from evaluator.runtime.store import Store
from evaluator.schema import Tier
from export.build import export
from export.fetch import Wheelhouse
from export.recipe import Parity
from export.sources import LockedSources
from export.tiny import tiny

Row = dict[str, Any]


def report(
    store: Store, wheels: Wheelhouse, entry: ModelEntry, keep: Path | None, say: Callable[[str], None]
) -> list[Row]:
    """The rows of one model. `keep`: the folder in which files of tiny configurations stay, one folder per model.

    Raises PrerequisiteError for an embedded model that cannot be exported here.
    """
    with tempfile.TemporaryDirectory() as scratch:
        try:
            if entry.export is None:
                raise PrerequisiteError(f"no recipe; its file is mounted ({entry.origin.published})")
            sources = LockedSources(entry, store, wheels, Path(scratch))
            if entry.tier is Tier.EMBEDDED or _mounted(sources):
                return _published(sources, Path(scratch) / "out", say)
            return _tiny(entry, (keep or Path(scratch)) / entry.id, say)
        except PrerequisiteError as error:
            if entry.tier is Tier.EMBEDDED:
                raise
            say(f"{entry.id}: not tried: {error}")
            return [{"model": entry.id, "untried": str(error)}]


def _mounted(sources: LockedSources) -> bool:
    """Whether every weight file that the user must mount is there."""
    try:
        for source in sources.entry.sources:
            if source.package is None:
                sources.file(source.name)
    except ModelMissing:
        return False
    return True


def _published(sources: LockedSources, out: Path, say: Callable[[str], None]) -> list[Row]:
    out.mkdir()
    return [_row(sources.entry, row, weights="published") for row in export(sources, out, say)]


def _tiny(entry: ModelEntry, out: Path, say: Callable[[str], None]) -> list[Row]:
    say(f"{entry.id}: tiny, with random weights")
    out.mkdir(parents=True, exist_ok=True)
    found = tiny(entry, out)
    return [_row(entry, row, weights="tiny", precision=precision) for precision, rows in found.items() for row in rows]


def _row(entry: ModelEntry, row: Parity, **more: str) -> Row:
    return {"model": entry.id, **asdict(row), "passed": row.passed, **more}
