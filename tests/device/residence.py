"""The claim that pictures stay on the device, checked by runs: what crossed, for whom, and what came out.

The same functions serve a machine with a GPU (`tests.gpu.checks`) and, with host memory in the place of a GPU's and
DALI's CPU build, one without (`tests.device.residence_report`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import av
import numpy as np
import orjson

from evaluator.commands import load
from evaluator.runner import equipment, run
from evaluator.runner.equipment import Equipment, on_gpu
from evaluator.runner.options import RunOptions
from evaluator.runtime.device import Device
from evaluator.runtime.engine_cache import EngineCache
from evaluator.runtime.store import Store
from evaluator.runtime.traffic import NOTHING

FRAMES, WIDTH, HEIGHT = 24, 160, 96
METRICS = ("shot_count", "video_similarity", "lpips", "motion_smoothness", "ssim")
STAY = ("expert/transnetv2", "expert/efficientnet_lite0", "expert/stlpips", "expert/rife")
COME = "view/squash 224x224 gray"
"""What `ssim` reads: its arithmetic is numpy's."""

FROM_CPU = {"shot_count": 0.0, "video_similarity": 0.01, "lpips": 0.02, "motion_smoothness": 0.01, "ssim": 0.03}
"""How far a score may be from the CPU's: another decoder and another scaler made the pictures. Measured on these clips
(noise, enlarged, is where scalers differ most): 0, 0.0016, 0.0002, 0.0009, 0.025."""
FROM_HOST = 2e-5
"""How far a score may be from the same pictures' on the host, as records round it."""


def clip(path: Path, encoder: str, noise: int) -> Path:
    """A texture that moves, more or less clean: VP9 for DALI's CPU build, H.264 for a GPU."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (HEIGHT // 8, (WIDTH + 2 * FRAMES) // 8, 3), np.uint8)
    texture = coarse.repeat(8, axis=0).repeat(8, axis=1).astype(np.int16)
    with av.open(str(path), "w") as container:
        video: Any = container.add_stream(encoder, rate=25, options={"threads": "1", "crf": "12", "b": "0"})
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for index in range(FRAMES):
            shown = texture[:, 2 * index : 2 * index + WIDTH] + rng.integers(-noise, noise + 1, (HEIGHT, WIDTH, 3))
            picture = np.ascontiguousarray(np.clip(shown, 0, 255), np.uint8)
            container.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(video.encode(None))
    return path


def manifest(folder: Path, encoder: str, suffix: str) -> Path:
    """One case: a noisy clip and its clean source."""
    clip(folder / f"one.{suffix}", encoder, noise=12)
    clip(folder / f"source.{suffix}", encoder, noise=0)
    case = {"id": "one", "suite": "core", "video": f"one.{suffix}", "source": f"source.{suffix}"}
    (folder / "m.jsonl").write_bytes(orjson.dumps(case) + b"\n")
    return folder / "m.jsonl"


def scored(path: Path, name: str, tools: Equipment) -> dict[str, Any]:
    """Values by metric, and bytes by account, of a run with this equipment."""
    out = path.parent / name
    options = RunOptions(out, workers=1, metrics=METRICS, device=tools.device, quiet=True)
    with patch.object(run, "equipment", lambda _: tools):
        found = run.run(load(path, None), Store.open(), options)
    header = orjson.loads((out / "run.json").read_bytes())
    return {
        "values": {score.metric: score.value for score in found.scores},
        "bytes": header["telemetry"].get("traffic", {}),
        "decoder": [orjson.loads(line).get("note") for line in (out / "log.jsonl").read_bytes().splitlines()],
    }


def three_runs(path: Path, device: Device, trt: Any) -> dict[str, Any]:
    """On the CPU; on the device; and with the device's decoder and networks, but with every picture on the host."""
    tools = on_gpu(device, trt, EngineCache(path.parent / "engines"))
    source = equipment.DaliSource
    on_host = on_gpu(device, trt, EngineCache(path.parent / "engines"))
    found = {"cpu": scored(path, "cpu", equipment.CPU), "device": scored(path, "device", tools)}
    with patch.object(equipment, "DaliSource", lambda *given, keep, **named: source(*given, **named)):
        found["host"] = scored(path, "host", on_host)
    return found


def wrong(found: dict[str, Any]) -> list[str]:
    """Which parts of the claim do not hold."""
    moved, before = found["device"]["bytes"], found["host"]["bytes"]
    problems: list[str] = []
    for name in STAY:
        now, then = moved.get(name, NOTHING), before.get(name, NOTHING)
        problems += [f"{name} sent {now['bytes_to_device']} bytes up"] if now["bytes_to_device"] else []
        problems += (
            [f"{name}: more came down; is its network on the CPU?"]
            if now["bytes_to_host"] > then["bytes_to_host"]
            else []
        )
        problems += [] if then["bytes_to_device"] else [f"{name} sent nothing up from the host"]
        problems += (
            [] if now["pictures_on_device"] and not now["pictures_on_host"] else [f"{name}: where were its pictures?"]
        )
    problems += [
        f"{name}: pictures came down" for name, own in moved.items() if own["pictures_on_host"] and name != COME
    ]
    problems += [f"decoded by {note}" for note in found["device"]["decoder"] if note and note != "decoder dali"]
    for metric, value in found["device"]["values"].items():
        for other, most in (("cpu", FROM_CPU[metric]), ("host", FROM_HOST)):
            apart = abs(value - found[other]["values"][metric])
            problems += [f"{metric}: {apart} from the {other}'s value"] if apart > most else []
    return problems
