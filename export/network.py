"""One network of a reference recipe, on its way to an ONNX file: traced, written under its contract, compared.

Names and free dimensions are read from the model lock, so that a recipe cannot give a file another interface than the
one that the runtime opens. Knows nothing about single models.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from evaluator.runtime.contract import check_contract
from evaluator.runtime.lock import ModelFile, Tensor
from evaluator.runtime.onnx import OnnxSession
from export.half import halve
from export.onnx_file import OPSET, export_torch
from export.recipe import Parity, Precision, compare

Arrays = Mapping[str, Any]


@dataclass(frozen=True)
class Network:
    """What a recipe says of one file. Inputs are in the order of the contract and of `module.forward`.

    `tolerance` and `half` are the largest differences allowed between an output of the fp32 or fp16 file and torch in
    float32, as fractions of the largest magnitude in that output. The nodes whose names begin with one of `full` stay
    in float32 in the fp16 file: logarithms of power spectra, coordinates of large pictures. `settle` brings outputs
    into a form that does not depend on the order of near equals.
    """

    file: str
    module: torch.nn.Module
    traced: tuple[torch.Tensor, ...]
    compared: tuple[torch.Tensor, ...]  # other sizes, where the contract leaves them free
    tolerance: float = 1e-4
    half: float = 5e-3
    full: tuple[str, ...] = ()
    settle: Callable[[Arrays], Arrays] = dict
    opset: int = OPSET


def write(network: Network, contract: ModelFile, out: Path, precision: Precision) -> list[Parity]:
    """Trace a network, write its file into the folder `out` and compare it. Returns one row per output.

    Raises ModelCorrupt if the file does not honour its contract.
    """
    path = out / network.file
    trace(network, contract, path)
    feeds, expected = examples(network, contract)
    check_contract(OnnxSession(path), out.name, contract, path)
    return compared(network, path, feeds, expected, precision)


def write_each(
    network: Network, contract: ModelFile, out: Path, precisions: Sequence[Precision]
) -> dict[Precision, list[Parity]]:
    """`out/<precision>/<file>` of a tiny network, traced once. Its fixed sizes may be others than the contract's."""
    found: dict[Precision, list[Parity]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        traced = Path(scratch) / network.file
        trace(network, contract, traced)
        feeds, expected = examples(network, contract)
        check_contract(OnnxSession(traced), network.file, at_size(contract, {**feeds, **expected}), traced)
        for precision in precisions:
            path = out / precision / network.file
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(traced, path)
            found[precision] = compared(network, path, feeds, expected, precision)
    return found


def compared(network: Network, path: Path, feeds: Arrays, expected: Arrays, precision: Precision) -> list[Parity]:
    """Rows of a traced file in a precision; for fp16 the file is rewritten first."""
    if precision == "fp32":
        return compare(path, feeds, network.settle(expected), network.tolerance, network.settle)
    halve(path, network.full)
    return compare(path, feeds, network.settle(expected), network.half, network.settle)


def trace(network: Network, contract: ModelFile, path: Path) -> None:
    """Write the float32 file with the names and free dimensions of the contract."""
    axes = {tensor.name: free(tensor) for tensor in (*contract.inputs, *contract.outputs)}
    inputs, outputs = ([tensor.name for tensor in side] for side in (contract.inputs, contract.outputs))
    torch.manual_seed(0)
    export_torch(network.module, network.traced, path, inputs, outputs, axes, network.opset)


def free(tensor: Tensor) -> dict[int, str]:
    """Position -> name of the dimensions that are not fixed."""
    return {place: size for place, size in enumerate(tensor.shape) if isinstance(size, str)}


def examples(network: Network, contract: ModelFile) -> tuple[Arrays, Arrays]:
    """Inputs, and what torch makes of them in float32, by name."""
    with torch.no_grad():
        found = network.module(*network.compared)
    outputs = (found,) if isinstance(found, torch.Tensor) else tuple(found)
    expected = {tensor.name: one.numpy() for tensor, one in zip(contract.outputs, outputs, strict=True)}
    feeds = {tensor.name: one.numpy() for tensor, one in zip(contract.inputs, network.compared, strict=True)}
    return feeds, expected


def at_size(contract: ModelFile, arrays: Arrays) -> ModelFile:
    """The contract with its fixed sizes as in these arrays: a tiny network has smaller pictures and vectors."""
    sized = {
        tensor.name: replace(
            tensor,
            shape=tuple(
                size if isinstance(size, str) else has
                for size, has in zip(tensor.shape, arrays[tensor.name].shape, strict=True)
            ),
        )
        for tensor in (*contract.inputs, *contract.outputs)
    }
    inputs, outputs = (tuple(sized[tensor.name] for tensor in side) for side in (contract.inputs, contract.outputs))
    return replace(contract, inputs=inputs, outputs=outputs)
