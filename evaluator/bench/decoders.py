"""What decoding alone costs: every frame and every sound of a file, one thread, nothing converted, nothing kept.

The ground that the media stage is measured on. Three decoders: PyAV (the one that we use), the `ffmpeg` binary where
there is one, OpenCV (the one that the usual flow uses; it always converts to BGR).
"""

from __future__ import annotations

import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import av

from evaluator.bench.process import run

REPEATS = 3

OPENCV = """
import sys, cv2
cv2.setNumThreads(1)
clip = cv2.VideoCapture(sys.argv[1], cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
while clip.read()[0]:
    pass
"""


def pyav(path: Path) -> float:
    """CPU seconds of decoding pictures and sound with PyAV on one thread."""
    start = time.thread_time()
    with av.open(path) as container:
        for stream in container.streams:
            stream.codec_context.thread_count = 1
        for packet in container.demux():
            packet.decode()
    return time.thread_time() - start


def ffmpeg(path: Path) -> float:
    """CPU seconds of `ffmpeg` into nothing, its start included."""
    command = ["ffmpeg", "-nostdin", "-v", "error", "-threads", "1", "-i", str(path)]
    return run([*command, "-filter_threads", "1", "-threads", "1", "-f", "null", "-"]).cpu


def opencv(path: Path) -> float:
    """CPU seconds of OpenCV reading every frame, its start taken off."""
    start = run([sys.executable, "-c", "import cv2"]).cpu
    return run([sys.executable, "-c", OPENCV, str(path)]).cpu - start


def decoders() -> dict[str, Callable[[Path], float]]:
    """The decoders of this machine by name."""
    found: dict[str, Callable[[Path], float]] = {"pyav": pyav, "opencv": opencv}
    return {**found, "ffmpeg": ffmpeg} if shutil.which("ffmpeg") else found


def raw(paths: Iterable[Path], decoder: Callable[[Path], float] = pyav, repeats: int = REPEATS) -> float:
    """CPU seconds of decoding all files once: per file the median of several."""
    return sum(statistics.median(decoder(path) for _ in range(repeats)) for path in paths)


def compare(paths: Sequence[Path]) -> dict[str, float]:
    """CPU seconds per decoder for all files."""
    return {name: raw(paths, decoder) for name, decoder in decoders().items()}
