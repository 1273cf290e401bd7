"""DOVER++, technical branch (Wu et al., ICCV 2023; weights of DOVER++ in the architecture of DOVER): raw quality.

A reference model: the user mounts `dover_technical.onnx`, the technical backbone and head. Contract: `fragments`
[1, 3, 32, 224, 224] float32, RGB, ImageNet statistics, to `score` [1], the mean over the output map, before any scale.

Three runs of 32 frames, every second one, one run in each third of the clip; a clip that is too short goes on from its
beginning. Of each frame 7 x 7 patches of 32 x 32 pixels at the clip's own resolution, put together to 224 x 224; the
patches of a run are at the same place on all its frames. Where runs and patches lie is drawn from the option `seed`
(`evaluator.media.fragments`). Frames are looked at as they pass; only patches are kept.

A clip with a short side under 224 pixels is enlarged to that first. The option `grid` says on which size the patches
are laid then: "enlarged" (default), or "original", as the reference does, which leaves most of the picture unseen.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, ClassVar

import cv2
import numpy as np

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.base import StreamingExpert
from evaluator.experts.features import TechnicalQuality
from evaluator.experts.pixels import IMAGENET, normalise
from evaluator.media import steps_torch
from evaluator.media.fragments import patch_corners, run_positions, run_starts
from evaluator.media.types import I64, U8, ClipInfo, FrameChunk
from evaluator.runtime.arrays import blank, is_host, moved
from evaluator.runtime.session import Session
from evaluator.schema import ExpertNeed, Sampling, View

FILE = "dover_technical.onnx"
RUNS, LENGTH, INTERVAL = 3, 32, 2
CELLS, PATCH = 7, 32
SIDE = CELLS * PATCH  # 224
GRIDS = ("enlarged", "original")


class FragmentTap:
    """Cuts the patches out of the frames as they pass and scores a run as soon as it is complete."""

    def __init__(self, session: Session, clip: ClipInfo, seed: int, grid: str) -> None:
        video = clip.video
        if video is None or not video.frames:
            raise NotApplicable("not_applicable", "The clip has no frame.")
        self._session = session
        self._seed = seed
        self._size = enlarged(video.height, video.width)
        laid_on = self._size if grid == "enlarged" else (video.height, video.width)
        self._starts = run_starts(video.frames, RUNS, LENGTH * INTERVAL, seed)
        self._corners = [patch_corners(*laid_on, PATCH, CELLS, seed, run) for run in range(RUNS)]
        self._runs: list[U8 | None] = [None] * RUNS  # while it fills up
        self._missing = [LENGTH] * RUNS  # frames
        self._raw = np.zeros(RUNS, np.float32)
        self._places: dict[int, list[tuple[int, int]]] = defaultdict(list)  # frame -> (run, place in the run)
        positions = run_positions(self._starts, LENGTH, INTERVAL, video.frames)
        for (run, place), position in np.ndenumerate(positions):
            self._places[int(position)].append((run, place))

    def push(self, chunk: FrameChunk) -> None:
        """Take the next frames [n, H, W, 3]."""
        for position, frame in zip(chunk.index.tolist(), chunk.data, strict=True):
            picture = enlarge(frame, self._size)
            for run, place in self._places[position]:
                self._put(run, place, picture)

    def close(self) -> TechnicalQuality:
        """The raw figures. Raises ExpertError if frames of a run did not come."""
        if any(self._missing):
            raise ExpertError(f"fragments: {sum(self._missing)} frames of {RUNS * LENGTH} did not come")
        patches = hashlib.sha256(np.stack(self._corners).astype("<i8").tobytes()).hexdigest()
        return TechnicalQuality(self._raw, self._starts, self._seed, patches)

    def _put(self, run: int, place: int, picture: U8) -> None:
        if not self._missing[run]:
            raise ExpertError(f"fragments: run {run} was complete before frame {place} of it came")
        held = self._runs[run]
        buffer = self._runs[run] = blank(picture, (LENGTH, SIDE, SIDE, 3)) if held is None else held
        buffer[place] = stitched(picture, self._corners[run])
        self._missing[run] -= 1
        if not self._missing[run]:
            self._raw[run] = score(self._session, buffer)
            self._runs[run] = None


def enlarged(height: int, width: int) -> tuple[int, int]:
    """(height, width) with the short side at 224 pixels at least, aspect kept."""
    short = min(height, width)
    return (height, width) if short >= SIDE else (height * SIDE // short, width * SIDE // short)


def enlarge(frame: U8, size: tuple[int, int]) -> U8:
    """A frame [H, W, 3] at `size`, bilinear, truncated to whole levels as the reference's conversion does."""
    if frame.shape[:2] == size:
        return frame
    if not is_host(frame):
        on_device: U8 = steps_torch.enlarged(frame, size)
        return on_device
    exact = cv2.resize(frame.astype(np.float32), size[::-1], interpolation=cv2.INTER_LINEAR)
    return np.asarray(exact, np.float32).astype(np.uint8)


def stitched(picture: U8, corners: I64) -> U8:
    """[224, 224, 3]: the patches of a picture [H, W, 3] side by side, in the order of their cells."""
    if not is_host(picture):
        on_device: U8 = steps_torch.mosaic(picture, corners, PATCH)
        return on_device
    rows = [np.concatenate([picture[y : y + PATCH, x : x + PATCH] for y, x in row], axis=1) for row in corners.tolist()]
    return np.concatenate(rows)


def score(session: Session, run: U8) -> float:
    """The raw figure of one run [32, 224, 224, 3]."""
    fragments = moved(normalise(run, IMAGENET), 1, 0, 2, 3)[None]  # [1, 3, 32, 224, 224]
    found = session.run({"fragments": fragments})["score"]
    if found.shape != (1,):
        raise ExpertError(f"{FILE}: expected [1], found {list(found.shape)}")
    return float(found[0])


class DoverTechnical(StreamingExpert):
    """Raw technical quality of three runs of fragments. Options: `seed` (required), `grid`."""

    id: ClassVar[str] = "dover_technical"
    capability: ClassVar[str] = "technical_quality"
    on_device: ClassVar[bool] = True

    def view(self, want: ExpertNeed) -> View:
        return View(Sampling("fragments", (RUNS, LENGTH, INTERVAL, _options(want)[0])))

    def tap(self, want: ExpertNeed, clip: ClipInfo) -> FragmentTap:
        return FragmentTap(self.sessions.session(self.id, FILE), clip, *_options(want))


def _options(want: ExpertNeed) -> tuple[int, str]:
    """(seed, grid). Raises ValueError for a request without a seed: that is a mistake of a metric."""
    options: Mapping[str, Any] = dict(want.options)
    grid = str(options.get("grid", GRIDS[0]))
    if not isinstance(options.get("seed"), int) or grid not in GRIDS:
        raise ValueError(f"expected a whole number as seed and a grid of {GRIDS}, found {dict(options)}")
    return options["seed"], grid


EXPERT = DoverTechnical
