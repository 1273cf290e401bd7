"""Run in the environment that has TensorRT for RTX: build an engine of every file that a parity report kept.

    python -m tests.export.engines FOLDER [PRECISION]  FOLDER/<model>/<precision>/<file>, FOLDER/<model>/shapes.json

Writes one JSON object: "model/precision/file" -> size of its engine, or the reason why there is none.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluator.errors import EngineError
from evaluator.runtime.engine_build import build_engine
from evaluator.runtime.lock import ModelFile, read_lock
from evaluator.runtime.shapes import network
from evaluator.runtime.store import LOCK_FILE
from export.tiny import PRECISIONS, SHAPES
from tests.device.rtx_build import MODULE


def built(trt: Any, path: Path, contract: ModelFile) -> int | str:
    """Bytes of the engine of a file, as a run would build it, or what the builder says."""
    own = network(contract, path)
    try:
        return len(build_engine(trt, path, own.profile, always=own.always).plan)
    except EngineError as error:
        return str(error)


def at_size(contract: ModelFile, shapes: Mapping[str, Sequence[int]]) -> ModelFile:
    """The contract with its fixed sizes as in a tiny network; open ones stay as open as in a run."""
    inputs = [
        replace(
            tensor,
            shape=tuple(
                size if isinstance(size, str) else has
                for size, has in zip(tensor.shape, shapes[tensor.name], strict=True)
            ),
        )
        for tensor in contract.inputs
    ]
    return replace(contract, inputs=tuple(inputs))


def main() -> None:
    """Build, and write what came of it."""
    trt = importlib.import_module(MODULE)
    lock, found = read_lock(LOCK_FILE), {}
    for listed in sorted(Path(sys.argv[1]).glob(f"*/{SHAPES}")):
        model = listed.parent.name
        for file, shapes in json.loads(listed.read_text(encoding="utf-8")).items():
            contract = at_size(lock[model].file(file), shapes)
            for precision in sys.argv[2:] or PRECISIONS:
                found[f"{model}/{precision}/{file}"] = built(trt, listed.parent / precision / file, contract)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
