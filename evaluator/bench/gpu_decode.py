"""G1: how near DALI, as a run uses it, comes to what the chip's decoder can do.

The limit is measured and no data sheet's: whole clips through the bare operator, by more and more sessions side by
side, until more of them bring no more. A run asks for spans of frames, again from a key frame each time, and corrects
colours; that, and too few sessions, is what the figure shows. The wall's time, for the work is not on the CPU.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from evaluator.bench.board import Board
from evaluator.media.decode_dali import DaliSource
from evaluator.media.probe import probe
from evaluator.media.types import VideoInfo
from evaluator.runtime.device import CudaDevice

Clip = tuple[Path, VideoInfo]
Decoder = Callable[[Clip], int]
"""Decodes every frame of a clip and says how many there were. Used by one thread at a time."""
MORE = 1.05
"""What twice the sessions must bring to be worth it."""


def measure(board: Board, clips: Sequence[Path], workers: int, device: str) -> None:
    """G1, of sources as `workers` threads of a run have them."""
    seen = [(path, video) for path in clips if (video := probe(path).video) is not None]
    shared = CudaDevice() if device == "gpu" else None  # all sources of a run are ordered by one stream
    ours = rate(lambda: source(device, shared.stream if shared else None), workers, seen)
    most, sessions = limit(lambda: bare(device), seen)
    board.put("G1", ours / most, f"{ours:.0f} of {most:.0f} frames/s; {workers} sessions, the limit with {sessions}")


def rate(make: Callable[[], Decoder], sessions: int, clips: Sequence[Clip]) -> float:
    """Frames a second of so many decoders side by side, each through all clips, their first call left out."""
    decoders = [make() for _ in range(sessions)]
    with ThreadPoolExecutor(sessions) as threads:
        list(threads.map(lambda decode: decode(clips[0]), decoders))
        start = time.perf_counter()
        frames = sum(threads.map(lambda decode: sum(map(decode, clips)), decoders))
        return frames / (time.perf_counter() - start)


def limit(make: Callable[[], Decoder], clips: Sequence[Clip]) -> tuple[float, int]:
    """(most frames a second, sessions that reach it): sessions are doubled for as long as that helps and they fit."""
    best, at = rate(make, 1, clips), 1
    while (more := _rate_if_room(make, 2 * at, clips)) > MORE * best:
        best, at = more, 2 * at
    return (more, 2 * at) if more > best else (best, at)


def _rate_if_room(make: Callable[[], Decoder], sessions: int, clips: Sequence[Clip]) -> float:
    """Frames a second, 0 if the device has no room: every session holds a whole clip."""
    try:
        return rate(make, sessions, clips)
    except RuntimeError:  # DALI's errors have no other name
        return 0.0


def source(device: str, stream: int | None = None) -> Decoder:
    """The decoder of a run, ordered by a CUDA stream."""
    dali = DaliSource(device, stream=stream)

    def decode(clip: Clip) -> int:
        path, video = clip
        seen = 0
        for numbers, frames in dali.frames(path, video, np.arange(video.frames)):
            dali.host(frames[len(numbers) - 1])  # whoever has the last one has waited for all
            seen += len(numbers)
        return seen

    return decode


def bare(device: str) -> Decoder:
    """DALI's operator and nothing else."""
    dynamic = importlib.import_module("nvidia.dali.experimental.dynamic")
    context = dynamic.EvalContext(num_threads=2, **({"device_id": 0} if device == "gpu" else {}))

    def decode(clip: Clip) -> int:
        with context:
            encoded = dynamic.as_tensor(np.fromfile(clip[0], np.uint8))
            frames = dynamic.decoders.video(encoded, device=device).evaluate()
            last = frames[frames.shape[0] - 1]
            np.array(last.cpu() if device == "gpu" else last)
            return int(frames.shape[0])

    return decode
