"""Pictures for tests of the vision experts: what an expert sees of a clip, and clips made from arrays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.experts.base import Expert, StreamingExpert
from evaluator.media.decode import CollectTap, decode
from evaluator.media.probe import probe
from evaluator.media.types import U8, ClipInfo, FrameChunk, Frames, VideoInfo
from evaluator.schema import ExpertNeed, View

RATE = 25.0


def clip_of(count: int, height: int = 90, width: int = 160) -> ClipInfo:
    """The facts of a clip of `count` frames."""
    times = np.arange(count) / RATE
    return ClipInfo(
        "test", VideoInfo("raw", width, height, "rgb24", "bt601", False, 0, (1, 1), times, count / RATE), None
    )


def frames_of(data: U8, index: Any = None, count: int | None = None) -> Frames:
    """Pictures [N, H, W, 3] as a view of a clip of `count` frames, at positions `index`."""
    index = np.arange(len(data)) if index is None else np.asarray(index, np.int64)
    return Frames(data, index, index / RATE, clip_of(len(data) if count is None else count, *data.shape[1:3]))


def chunks(data: U8, size: int = 32) -> Iterator[FrameChunk]:
    """Pictures [N, H, W, 3] as they pass, `size` at a time."""
    for start in range(0, len(data), size):
        index = np.arange(start, min(start + size, len(data)))
        yield FrameChunk(data[start : start + size], index, index / RATE)


def watch(expert: StreamingExpert, want: ExpertNeed, data: U8, size: int = 32) -> Any:
    """The feature of a streaming expert that watches pictures [N, H, W, 3]."""
    tap = expert.tap(want, clip_of(len(data)))
    for chunk in chunks(data, size):
        tap.push(chunk)
    return tap.close()


def view_of(path: Path, view: View) -> Frames:
    """One view of a file, decoded."""
    info = probe(path)
    tap = CollectTap(info)
    decode(path, info, [(view, tap)], [])
    return tap.close()


def feature_of(expert: Expert, want: ExpertNeed, *paths: Path) -> Any:
    """The feature of files, one per role of the request, through the media stage."""
    if isinstance(expert, StreamingExpert):
        info = probe(paths[0])
        tap = expert.tap(want, info)
        decode(paths[0], info, [(expert.view(want), tap)], [])
        return tap.close()
    of_role = dict(zip(want.roles, paths, strict=True))
    needs = expert.needs(want)
    return expert.run(want, {name: view_of(of_role[need.role], need.view) for name, need in needs.items()})  # type: ignore[union-attr]
