"""Run in the environment that has TensorRT for RTX: build every golden network of a store, and a few that must fail.

    python -m tests.device.rtx_build STORE SCRATCH

Writes one JSON object: file -> {plan, seconds, notes} or {error}. Builds without a GPU; runs nothing.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evaluator.errors import EngineError
from evaluator.runtime.engine_build import Built, Profile, ShapeRange, build_engine, open_inputs
from tests.device.nets import net
from tests.runtime.goldens import FEEDS

MODULE = "tensorrt_rtx_bindings"


def attempt(make: Callable[[], Built]) -> dict[str, Any]:
    """What came of one build."""
    began = time.process_time()
    try:
        built = make()
    except EngineError as error:
        return {"error": str(error)}
    return {"plan": len(built.plan), "seconds": time.process_time() - began, "notes": built.notes}


def golden_profile(trt: Any, path: Path, shapes: dict[str, tuple[int, ...]]) -> Profile:
    """The shapes of the golden call, for the inputs that the file leaves open."""
    return {name: ShapeRange(*(3 * [shapes[name]])) for name in open_inputs(trt, path)}


def stored(trt: Any, store: Path) -> dict[str, Any]:
    """Every network of the store that has golden inputs."""
    found = {}
    for (model, file), feeds in FEEDS.items():
        path = store / model / file
        shapes = {name: array.shape for name, array in feeds().items()}
        found[f"{model}/{file}"] = attempt(
            lambda path=path, shapes=shapes: build_engine(trt, path, golden_profile(trt, path, shapes))  # type: ignore[misc]
        )
    return found


def small(trt: Any, folder: Path) -> dict[str, Any]:
    """A network that must build, and ways in which one must not."""
    path, stranger = net(folder / "net.onnx"), net(folder / "stranger.onnx", unknown=True)
    text = folder / "text.onnx"
    text.write_text("not a network")
    batch = {"x": ShapeRange((1, 3), (4, 3), (8, 3)), "b": ShapeRange((1, 1), (4, 1), (8, 1))}
    profiles: dict[str, Profile] = {
        "right": batch,
        "one input left out": {"x": batch["x"]},
        "an input that is not there": {**batch, "z": batch["x"]},
        "another width": {**batch, "x": ShapeRange((1, 4), (4, 4), (8, 4))},
        "falling": {**batch, "x": ShapeRange((8, 3), (4, 3), (1, 3))},
    }
    found = {name: attempt(lambda own=own: build_engine(trt, path, own)) for name, own in profiles.items()}  # type: ignore[misc]
    found["unknown operator"] = attempt(lambda: build_engine(trt, stranger, batch))
    found["no network"] = attempt(lambda: build_engine(trt, text, batch))
    return found


def main() -> None:
    """Build, and write what came of it."""
    trt = importlib.import_module(MODULE)
    json.dump({"small": small(trt, Path(sys.argv[2])), "stored": stored(trt, Path(sys.argv[1]))}, sys.stdout)


if __name__ == "__main__":
    main()
