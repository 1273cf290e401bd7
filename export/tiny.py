"""Every reference recipe at a tiny configuration with random weights: torch, ONNX in fp32 and fp16, and comparison.

What a published checkpoint would show about a recipe's numbers this cannot; that the way from torch to a file works,
and that the file computes what torch computes under the contract of the lock, it does.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from evaluator.errors import PrerequisiteError
from evaluator.runtime.lock import ModelEntry
from export.build import recipe_module
from export.recipe import Parity, Precision

if TYPE_CHECKING:
    from export.network import Network

SHAPES = "shapes.json"
PRECISIONS: tuple[Precision, ...] = ("fp32", "fp16")


def tiny(entry: ModelEntry, out: Path) -> dict[Precision, list[Parity]]:
    """Write `out/<precision>/<file>` for every file of a recipe, and `out/shapes.json`, what it was compared on.

    Raises PrerequisiteError if the recipe needs something that is not here.
    """
    from export.network import write_each

    found = networks(entry)
    rows: dict[Precision, list[Parity]] = {precision: [] for precision in PRECISIONS}
    for network in found:
        for precision, one in write_each(network, entry.file(network.file), out, PRECISIONS).items():
            rows[precision] += one
    out.joinpath(SHAPES).write_text(json.dumps({item.file: _shapes(item, entry) for item in found}), encoding="utf-8")
    return rows


def networks(entry: ModelEntry) -> list[Network]:
    """The networks of a recipe at its tiny configuration."""
    module = recipe_module(entry)
    if not hasattr(module, "tiny"):
        raise PrerequisiteError(
            f"its weights are not mounted ({entry.origin.published}), and it has no tiny configuration"
        )
    made: list[Network] = module.tiny()
    return made


def _shapes(network: Network, entry: ModelEntry) -> dict[str, list[int]]:
    names = [tensor.name for tensor in entry.file(network.file).inputs]
    return {name: list(value.shape) for name, value in zip(names, network.compared, strict=True)}
