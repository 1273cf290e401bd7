"""Run in the environment that has TensorRT for RTX: build an engine of every file that a parity report kept.

    python -m tests.export.engines FOLDER      FOLDER/<model>/<precision>/<file>, and FOLDER/<model>/shapes.json

Writes one JSON object: "model/precision/file" -> size of its engine, or the reason why there is none.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluator.errors import EngineError
from evaluator.runtime.engine_build import ShapeRange, build_engine, open_inputs
from export.tiny import PRECISIONS, SHAPES
from tests.device.rtx_build import MODULE


def built(trt: Any, path: Path, shapes: Mapping[str, Sequence[int]]) -> int | str:
    """Bytes of the engine of a file for these shapes of its inputs, or what the builder says."""
    try:
        profile = {name: ShapeRange(*(3 * [tuple(shapes[name])])) for name in open_inputs(trt, path)}
        return len(build_engine(trt, path, profile).plan)
    except EngineError as error:
        return str(error)


def main() -> None:
    """Build, and write what came of it."""
    trt = importlib.import_module(MODULE)
    found = {}
    for listed in sorted(Path(sys.argv[1]).glob(f"*/{SHAPES}")):
        for file, shapes in json.loads(listed.read_text(encoding="utf-8")).items():
            for precision in PRECISIONS:
                path = listed.parent / precision / file
                found[f"{listed.parent.name}/{precision}/{file}"] = built(trt, path, shapes)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
