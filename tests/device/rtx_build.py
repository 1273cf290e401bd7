"""Run in the environment that has TensorRT for RTX: build every golden network of a store, and a few that must fail.

    python -m tests.device.rtx_build STORE SCRATCH

Writes one JSON object: file -> {plan, seconds, notes, rewrites} or {error}. A stored network is built as a run on a GPU
builds it: for the shapes of the lock. Builds without a GPU; runs nothing but rewritten files, on ONNX Runtime.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.errors import EngineError
from evaluator.runtime.backends import Network
from evaluator.runtime.engine_build import Built, Profile, ShapeRange, build_engine, fixed
from evaluator.runtime.engine_fit import fitted
from evaluator.runtime.lock import read_lock
from evaluator.runtime.shapes import network
from evaluator.runtime.store import LOCK_FILE
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
    seconds = time.process_time() - began
    return {"plan": len(built.plan), "seconds": seconds, "notes": built.notes, "rewrites": built.rewrites}


def stored(store: Path) -> dict[str, Network]:
    """Every network with golden inputs, and those on request that are there, as a run would build them."""
    lock = read_lock(LOCK_FILE)
    extra = [(entry.id, file.name) for entry in lock.models if entry.on_request for file in entry.files if file.inputs]
    names = [*FEEDS, *((model, file) for model, file in extra if (store / model / file).is_file())]
    return {f"{model}/{file}": network(lock[model].file(file), store / model / file) for model, file in names}


def engine(trt: Any, own: Network) -> dict[str, Any]:
    """What came of the engine of one network."""
    return attempt(lambda: build_engine(trt, own.path, own.profile, always=own.always))


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


def apart(own: Network, calls: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Call -> largest difference between a rewritten file and the file as it lies, both to the letter of ONNX."""
    with fitted(own.path, {name: fixed(shapes) for name, shapes in own.profile.items()}, own.always) as fit:
        found, wanted = literal(fit.path), literal(own.path)
        return {
            name: max(
                float(np.abs(one.astype(np.float64) - other).max())
                for one, other in zip(found(feeds, own.always.keys()), wanted(feeds, ()), strict=True)
            )
            for name, feeds in calls.items()
        }


def literal(path: Path) -> Callable[[Mapping[str, Any], Any], list[Any]]:
    """A file on the CPU, node by node: nothing is fused, so that bytes are rounded where the file rounds them."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda feeds, but: session.run(None, {name: array for name, array in feeds.items() if name not in but})


def main() -> None:
    """Build, and write what came of it."""
    trt = importlib.import_module(MODULE)
    networks = stored(Path(sys.argv[1]))
    built = {name: engine(trt, own) for name, own in networks.items()}
    changed = {name: own for name, own in networks.items() if built[name].get("rewrites")}
    golden = {f"{model}/{file}": feeds for (model, file), feeds in FEEDS.items()}
    differences = {
        name: apart(own, {"drawn": own.probe} | ({"golden": golden[name]()} if name in golden else {}))
        for name, own in changed.items()
    }
    json.dump({"small": small(trt, Path(sys.argv[2])), "stored": built, "apart": differences}, sys.stdout)


if __name__ == "__main__":
    main()
