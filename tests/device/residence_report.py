"""Run where torch and DALI are: the claim of `tests.device.residence` without a GPU, and addresses that engines get.

    python -m tests.device.residence_report FOLDER

Writes one JSON object: the three runs, what is wrong with them, and what a session did with tensors.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from evaluator.errors import EngineError
from evaluator.media.decode_dali import DaliSource
from evaluator.runner import equipment
from evaluator.runtime.arrays import blank, filled_up, joined, moved, to_host
from evaluator.runtime.onnx import OnnxSession
from evaluator.runtime.onnx_device import BoundOnnxSession
from evaluator.runtime.tensorrt import TensorRtSession
from evaluator.runtime.traffic import Traffic
from tests.device import residence
from tests.device.host import FakeEngine, Tensor, fake_trt
from tests.device.nets import net
from tests.device.torch_host import STREAM, TorchHost

X = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.array([[1], [10]], dtype=np.float32)


class Watched(TorchHost):
    """Remembers the addresses that were lent out."""

    def __init__(self) -> None:
        super().__init__()
        self.uploads = 0
        self.adopted: list[int] = []

    def upload(self, array: Any) -> Any:
        self.uploads += 1
        return super().upload(array)

    def adopt(self, tensor: object) -> Any:
        found = super().adopt(tensor)
        self.adopted.append(found.address)
        return found


def engine() -> FakeEngine:
    tensors = {"x": Tensor((-1, 3)), "b": Tensor((-1, 1)), "y": Tensor((-1, 3), is_input=False)}
    return FakeEngine(tensors, lambda given: {"y": 2 * given["x"] + given["b"]})


def session(kind: str, folder: Path) -> dict[str, Any]:
    """One input in device memory, the other on the host."""
    device, own, traffic = Watched(), engine(), Traffic()
    one: Any = {
        "engine": lambda: TensorRtSession(fake_trt({b"plan": own}), b"plan", device, "net.onnx"),
        "bound": lambda: BoundOnnxSession(net(folder / "net.onnx"), device),
        "cpu": lambda: OnnxSession(net(folder / "net.onnx")),
    }[kind]()
    x = torch.from_numpy(X)
    strange = torch.from_numpy(np.asfortranarray(X)).half()
    with traffic.charged("it"):
        right = np.array_equal(one.run({"x": x, "b": B})["y"], 2 * X + B)
        addresses, calls = list(device.adopted), list(own.calls)
        again = np.array_equal(one.run({"x": strange, "b": B})["y"], 2 * X + B) if kind != "cpu" else True
    return {
        "right": bool(right and again),
        "own address": addresses == [x.data_ptr()],
        "uploads": device.uploads,
        "calls": calls,
        "waits": device.waits,
        "bytes": traffic.facts()["it"],
    }


def arrays() -> dict[str, bool]:
    """What is done to a batch without knowing where it is, on both sides."""
    batch = np.random.default_rng(0).integers(0, 256, (3, 4, 5), np.uint8)
    there = torch.from_numpy(batch)
    pairs = {
        "joined": (joined([batch[:0], batch, batch[1:]]), joined([batch[:0], there, there[1:]])),
        "filled up": (filled_up(batch, 5), filled_up(there, 5)),
        "blank": (blank(batch, (2, 2)), blank(there, (2, 2))),
        "moved": (moved(batch, 2, 0, 1), moved(there, 2, 0, 1)),
    }
    same = {name: np.array_equal(one, to_host(other)) for name, (one, other) in pairs.items()}
    return {
        **same,
        "full": filled_up(there, 3) is there,
        "types": all(b.dtype == torch.uint8 for _, b in pairs.values()),
    }


def elsewhere() -> str:
    """A tensor of another device."""
    try:
        TorchHost().adopt(torch.from_numpy(X).t())
    except EngineError as error:
        return str(error)
    return ""


def kept() -> dict[str, bool]:
    """A decoder may use its memory again once its tensor was kept."""
    device, lent = TorchHost(), X.copy()
    own = device.keep(lent)
    lent[:] = 0
    return {"own memory": np.array_equal(own.numpy(), X), "waited": device.waits == 1}


def main() -> None:
    """Everything, as JSON."""
    folder = Path(sys.argv[1])
    path = residence.manifest(folder, "libvpx-vp9", "webm")
    with patch.object(equipment, "DaliSource", lambda _, **named: DaliSource("cpu", **{**named, "stream": None})):
        runs = residence.three_runs(path, TorchHost(), None)
    found = {
        "runs": runs,
        "wrong": residence.wrong(runs),
        "sessions": {kind: session(kind, folder) for kind in ("engine", "bound", "cpu")},
        "stream": STREAM,
        "arrays": arrays(),
        "elsewhere": elsewhere(),
        "kept": kept(),
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
