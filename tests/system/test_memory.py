"""A long clip streams: a minute of 1080p with every metric stays under a gigabyte."""

from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pytest

from evaluator.bench.process import run
from tests.system.conftest import Demo

GIGABYTE = 1 << 30
SECONDS, RATE = 60, 12


def long_clip(path: Path) -> None:
    """A minute of 1080p: a texture that moves under a frame-by-frame brightness, with a tone."""
    rng = np.random.default_rng(1)
    texture = np.kron(rng.integers(16, 236, (68, 160), dtype=np.uint8), np.ones((16, 16), np.uint8))  # [1088, 2560]
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=RATE, options={"preset": "ultrafast", "crf": "28"})
        video.width, video.height, video.pix_fmt = 1920, 1080, "yuv420p"
        audio = container.add_stream("aac", rate=48_000, layout="mono")
        chroma = np.full((540, 1920), 128, np.uint8)
        for index in range(SECONDS * RATE):
            shift = (3 * index) % 640
            planes = np.concatenate([texture[:1080, shift : shift + 1920], chroma])
            container.mux(video.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(planes), format="yuv420p")))
        container.mux(video.encode(None))
        tone = (8000 * np.sin(2 * np.pi * 330 * np.arange(48_000) / 48_000)).astype(np.int16)
        for second in range(SECONDS):
            part = av.AudioFrame.from_ndarray(tone[None], format="s16", layout="mono")
            part.sample_rate, part.pts = 48_000, second * 48_000
            container.mux(audio.encode(part))
        container.mux(audio.encode(None))


@pytest.mark.slow
def test_a_minute_of_1080p_with_every_metric_stays_under_a_gigabyte(demo: Demo, tmp_path: Path) -> None:
    long_clip(tmp_path / "long.mp4")
    case = {"id": "long", "suite": "core", "video": "long.mp4", "source": "long.mp4"}
    (tmp_path / "m.jsonl").write_text(json.dumps(case) + "\n")
    arguments = demo.command("--manifest", str(tmp_path / "m.jsonl"), "--out", str(tmp_path / "out"), "-q")
    assert run(arguments, demo.environment()).rss < GIGABYTE
    header = json.loads((tmp_path / "out" / "run.json").read_text())
    assert header["telemetry"]["counters"]["frames_decoded"] == SECONDS * RATE
    assert header["telemetry"]["counters"]["decode_passes"] == 1
