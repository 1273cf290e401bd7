"""Tiny clips for tests of the runner."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np

from evaluator.media.h264 import H264, repeatable


def clip(path: Path, frames: int = 30, seed: int = 0, sound: bool = True, level: float = 0.3) -> Path:
    """A 64 x 48 clip of moving noise at 25 frames a second, with a tone unless `sound` is False."""
    rng = np.random.default_rng(seed)
    texture = rng.integers(0, 256, (48, 64 + frames, 3), dtype=np.uint8)
    with av.open(str(path), "w") as container:
        video = container.add_stream(H264, rate=25, options=repeatable({"crf": "18"}))
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        audio = container.add_stream("aac", rate=16_000, layout="mono") if sound else None
        for index in range(frames):
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(texture[:, index : index + 64]), format="rgb24")
            container.mux(video.encode(picture))
        container.mux(video.encode(None))
        if audio is not None:
            time = np.arange(frames * 640) / 16_000
            tone = (level * 32767 * np.sin(2 * np.pi * (300 + 40 * seed) * time)).astype(np.int16)
            for start in range(0, len(tone), 1024):
                part = av.AudioFrame.from_ndarray(tone[None, start : start + 1024], format="s16", layout="mono")
                part.sample_rate, part.pts = 16_000, start
                container.mux(audio.encode(part))
            container.mux(audio.encode(None))
    return path
