"""Faces: BlazeFace short and full range and the face mesh from TFLite, and MTCNN's three networks from torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from export import tflite
from export.onnx_file import Axes, export_torch, load_weights, seeded
from export.recipe import Parity, Sources, compare

TFLITE = {
    "short_range.onnx": (
        "face_detection_short_range.tflite",
        [tflite.Output("regressors", "boxes", (896, 16)), tflite.Output("classificators", "scores", (896, 1))],
    ),
    "full_range.onnx": (
        "face_detection_full_range.tflite",
        [
            tflite.Output("reshaped_regressor_face_4", "boxes", (2304, 16)),
            tflite.Output("reshaped_classifier_face_4", "scores", (2304, 1)),
        ],
    ),
    "face_mesh.onnx": (
        "face_landmark.tflite",
        [tflite.Output("conv2d_20", "landmarks", (468, 3)), tflite.Output("conv2d_30", "presence", (1,))],
    ),
}
"""ONNX file -> (TFLite source, outputs)."""

OUTPUTS = {
    "pnet": ["offsets", "probability"],
    "rnet": ["offsets", "probability"],
    "onet": ["offsets", "landmarks", "probability"],
}
SIDES = {"pnet": 60, "rnet": 24, "onet": 48}

# MTCNN's module imports image helpers for its cascade, which is not used: only its three networks are.
STUBS = [
    "torchvision",
    "torchvision.transforms",
    "torchvision.ops",
    "torchvision.ops.boxes",
    "PIL",
    "facenet_pytorch.models.inception_resnet_v1",
]


def build(sources: Sources, out: Path) -> list[Parity]:
    """Write the six ONNX files."""
    rows: list[Parity] = []
    for file, (source, outputs) in TFLITE.items():
        rows += _tflite(sources.file(source), out / file, outputs)
    for name in OUTPUTS:
        rows += _mtcnn(sources, name, out / f"{name}.onnx")
    return rows


def _tflite(source: Path, path: Path, outputs: Sequence[tflite.Output]) -> list[Parity]:
    tflite.convert(source.read_bytes(), path, "pixels", outputs)
    pixels = np.random.default_rng(0).random((2, *_input_shape(source)), dtype=np.float32)  # [2, H, W, 3]
    expected = lite_outputs(source, pixels, outputs)
    # Box and landmark outputs are in pixels, up to a few hundred: the tolerance is a thousandth of a pixel.
    return compare(path, {"pixels": pixels.transpose(0, 3, 1, 2)}, expected, 1e-3)


def _input_shape(source: Path) -> tuple[int, ...]:
    return tuple(int(size) for size in _interpreter(source).get_input_details()[0]["shape"][1:])


def _interpreter(source: Path) -> Any:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(source), num_threads=1)
    interpreter.allocate_tensors()
    return interpreter


def lite_outputs(source: Path, pixels: Any, outputs: Sequence[tflite.Output]) -> dict[str, Any]:
    """What LiteRT computes for a batch [N, H, W, 3], one picture at a time, under our names and shapes."""
    interpreter = _interpreter(source)
    positions = _output_positions(source)
    rows: dict[str, list[Any]] = {output.name: [] for output in outputs}
    for picture in pixels:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], picture[None])
        interpreter.invoke()
        for output in outputs:
            rows[output.name].append(interpreter.get_tensor(positions[output.tensor]).reshape(output.shape).copy())
    return {name: np.stack(parts) for name, parts in rows.items()}


def _output_positions(source: Path) -> Mapping[str, int]:
    """Tensor name -> index. LiteRT renames outputs by signature; the file's own table does not."""
    import tflite as schema

    graph = schema.Model.GetRootAsModel(source.read_bytes(), 0).Subgraphs(0)
    return {graph.Tensors(int(index)).Name().decode(): int(index) for index in graph.OutputsAsNumpy()}


def _mtcnn(sources: Sources, name: str, path: Path) -> list[Parity]:
    package = sources.module("facenet-pytorch", "facenet_pytorch.models.mtcnn", STUBS)
    net = {"pnet": package.PNet, "rnet": package.RNet, "onet": package.ONet}[name](pretrained=False)
    net.load_state_dict(load_weights(sources.file(f"{name}.pt")))
    export_torch(net, (seeded(2, 3, SIDES[name], SIDES[name]),), path, ["pixels"], OUTPUTS[name], _axes(name))
    pixels = seeded(3, 3, 90, 118, seed=1) if name == "pnet" else seeded(5, 3, SIDES[name], SIDES[name], seed=1)
    with torch.no_grad():
        expected = dict(zip(OUTPUTS[name], net(pixels), strict=True))
    return compare(path, {"pixels": pixels.numpy()}, expected, 1e-5)


def _axes(name: str) -> Axes:
    """PNet scans a picture of any size; the other two take boxes of one size."""
    names = ["pixels", *OUTPUTS[name]]
    if name != "pnet":
        return {item: {0: "batch"} for item in names}
    scanned = {item: {0: "batch", 2: "rows", 3: "columns"} for item in OUTPUTS[name]}
    return {"pixels": {0: "batch", 2: "height", 3: "width"}, **scanned}
