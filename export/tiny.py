"""Every reference recipe at a tiny configuration with random weights: torch, ONNX in fp32 and fp16, and comparison.

What a published checkpoint would show about a recipe's numbers this cannot; that the way from torch to a file works,
and that the file computes what torch computes under the contract of the lock, it does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluator.errors import PrerequisiteError
from evaluator.runtime.lock import ModelEntry
from export.build import recipe_module
from export.recipe import Parity, Precision
from export.sources import LockedSources

if TYPE_CHECKING:
    from export.network import Network

SHAPES = "shapes.json"
PRECISIONS: tuple[Precision, ...] = ("fp32", "fp16")


def tiny(sources: LockedSources, out: Path) -> dict[Precision, list[Parity]]:
    """Write `out/<precision>/<file>` for every file of a recipe, and `out/shapes.json`, what it was compared on.

    Raises PrerequisiteError if the recipe needs something that is not here.
    """
    from export.network import write_each

    entry, found = sources.entry, networks(sources)
    rows: dict[Precision, list[Parity]] = {precision: [] for precision in PRECISIONS}
    for network in found:
        for precision, one in write_each(network, entry.file(network.file), out, PRECISIONS).items():
            rows[precision] += one
    out.joinpath(SHAPES).write_text(json.dumps({item.file: shapes(item, entry) for item in found}), encoding="utf-8")
    return rows


def networks(sources: LockedSources) -> list[Network]:
    """The networks of a recipe at its tiny configuration, from the code packages of its entry if it has some."""
    entry = sources.entry
    module = recipe_module(entry)
    if not hasattr(module, "tiny"):
        raise PrerequisiteError(
            f"its weights are not mounted ({entry.origin.published}), and it has no tiny configuration"
        )
    made: list[Network] = module.tiny(sources) if entry.export and entry.export.code else module.tiny()
    return made


def shapes(network: Network, entry: ModelEntry) -> dict[str, list[int]]:
    """Input -> the shape that it was compared on."""
    names = [tensor.name for tensor in entry.file(network.file).inputs]
    return shapes_of(dict(zip(names, network.compared, strict=True)))


def shapes_of(feeds: Mapping[str, Any]) -> dict[str, list[int]]:
    """Input -> shape of what it is fed."""
    return {name: list(value.shape) for name, value in feeds.items()}
