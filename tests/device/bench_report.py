"""Run where torch and DALI are: the figures of a GPU, with DALI's CPU build and host memory in its place.

    python -m tests.device.bench_report FOLDER

Writes the board as JSON. What the figures are worth here is nothing; that they are taken of the right things is tested.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from evaluator.bench import gpu, gpu_decode
from evaluator.bench.board import Board
from evaluator.media.decode_dali import DaliSource
from evaluator.media.probe import probe
from evaluator.runner import equipment
from evaluator.runner.equipment import Equipment, on_gpu
from evaluator.runtime.engine_cache import EngineCache
from tests.device.residence import clip
from tests.device.torch_host import TorchHost

METRICS = ("video_similarity", "motion_smoothness")


def without_dali() -> Equipment:
    """The device where DALI is not installed."""
    installed = equipment._optional
    with patch.object(equipment, "_optional", lambda name: None if name == "nvidia.dali" else installed(name)):
        return on_gpu(TorchHost(), None, EngineCache(Path(sys.argv[1]) / "engines"))


def decoders(paths: list[Path]) -> dict[str, list[int]]:
    """Frames that each way of decoding finds, clip by clip."""
    seen: Any = [(path, probe(path).video) for path in paths]
    ways = {"source": gpu_decode.source("cpu"), "bare": gpu_decode.bare("cpu")}
    return {name: [decode(one) for one in seen] for name, decode in ways.items()}


def main() -> None:
    """Both boards, as JSON."""
    folder = Path(sys.argv[1])
    clips = [clip(folder / f"{noise}.mp4", "libvpx-vp9", noise) for noise in (0, 12)]
    boards = [Board(), Board()]
    with patch.object(equipment, "DaliSource", lambda _, **named: DaliSource("cpu", **{**named, "stream": None})):
        tools = on_gpu(TorchHost(), None, EngineCache(folder / "engines"))
        gpu.measure(boards[0], folder / "with", clips, gpu.Subject(tools, dali="cpu", metrics=METRICS))
    gpu.measure(boards[1], folder / "without", clips, gpu.Subject(without_dali(), metrics=METRICS))
    json.dump({"decoders": decoders(clips), "boards": [board.tree() for board in boards]}, sys.stdout)


if __name__ == "__main__":
    main()
