"""The parity report: how far every exported file is from its origin, and why nothing can be said of the others.

A row of a model whose weights are there says `"weights": "published"`, one of a reference model that is tried at a
tiny configuration with random weights `"weights": "tiny"`. Every file is written in fp32 and fp16; only of a mounted
model whose recipe names `networks`, and whose files may be large, `build --precision fp16` compares the second. A
model that cannot be tried has one row, with the reason under `untried`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluator.errors import ModelMissing, PrerequisiteError
from evaluator.runtime.lock import ModelEntry
from evaluator.runtime.store import Store
from evaluator.schema import Tier
from export.build import export, halves, recipe_module
from export.fetch import Wheelhouse
from export.recipe import Parity, Precision
from export.sources import LockedSources
from export.tiny import PRECISIONS, SHAPES, shapes_of, tiny

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
                return _published(sources, (keep or Path(scratch)) / entry.id, say)
            return _tiny(sources, (keep or Path(scratch)) / entry.id, say)
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
    """Rows of the published weights; of a recipe that writes its own files, of their float16 copies too."""
    folders = {precision: out / precision for precision in PRECISIONS}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    found: dict[Precision, list[Parity]] = {"fp32": export(sources, folders["fp32"], say)}
    if hasattr(recipe_module(sources.entry), "build"):
        found["fp16"] = halves(sources.entry, found["fp32"], folders["fp32"], folders["fp16"])
    shapes = {row.file: shapes_of(row.call.feeds) for row in found["fp32"] if row.call is not None}
    out.joinpath(SHAPES).write_text(json.dumps(shapes), encoding="utf-8")
    return _rows(sources.entry, found, "published")


def _tiny(sources: LockedSources, out: Path, say: Callable[[str], None]) -> list[Row]:
    entry = sources.entry
    say(f"{entry.id}: tiny, with random weights")
    out.mkdir(parents=True, exist_ok=True)
    return _rows(entry, tiny(sources, out), "tiny")


def _rows(entry: ModelEntry, found: Mapping[Precision, Sequence[Parity]], weights: str) -> list[Row]:
    return [
        {"model": entry.id, **row.numbers, "passed": row.passed, "weights": weights, "precision": precision}
        for precision, rows in found.items()
        for row in rows
    ]
