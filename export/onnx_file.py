"""ONNX files whose bytes depend on the network and its weights only, and the one call that makes them from torch.

The TorchScript-based exporter is used on purpose: with a fixed torch it names every node the same way in every run.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
import torch

OPSET = 17
IR_VERSION = 9
"""The IR version that belongs to opsets up to 20, so that older runtimes read the files too."""

Axes = Mapping[str, Mapping[int, str]]


def export_torch(
    network: torch.nn.Module,
    arguments: tuple[Any, ...],
    path: Path,
    inputs: Sequence[str],
    outputs: Sequence[str],
    axes: Axes | None = None,
    opset: int = OPSET,
) -> None:
    """Trace `network(*arguments)` in inference mode and write it to `path`; `axes` names the free dimensions."""
    network.eval()
    torch.backends.mha.set_fastpath_enabled(False)  # the fused transformer layer has no ONNX counterpart
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the exporter announces its successor on every call
        torch.onnx.export(
            network,
            arguments,
            str(path),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={name: dict(dims) for name, dims in (axes or {}).items()},
            opset_version=opset,
            dynamo=False,
        )
    write(onnx.load(path), path, axes or {})


def write(model: onnx.ModelProto, path: Path, axes: Axes | None = None) -> None:
    """Check a model, drop what says who made it when, and serialise it in one fixed order.

    Free dimensions of outputs are named as `axes` says; the others keep what the exporter inferred.
    """
    for output in model.graph.output:
        for position, name in (axes or {}).get(output.name, {}).items():
            output.type.tensor_type.shape.dim[position].dim_param = name
    model.ir_version = IR_VERSION
    model.producer_name, model.producer_version, model.doc_string = "evaluator", "", ""
    del model.metadata_props[:]
    for node in model.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


def seeded(*shape: int, low: float = -1.0, high: float = 1.0, seed: int = 0) -> torch.Tensor:
    """A float32 test input, the same in every run, uniform in [low, high)."""
    return torch.empty(shape).uniform_(low, high, generator=torch.Generator().manual_seed(seed))


def load_weights(path: Path) -> Any:
    """The tensors of a torch file. Anything but tensors and plain containers is refused by torch."""
    return torch.load(path, map_location="cpu", weights_only=True)
