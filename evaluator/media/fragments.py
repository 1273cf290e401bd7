"""FAST-VQA's fragments (Wu et al., ECCV 2022): a few short runs of frames, and of each frame a grid of small patches.

The reference draws the positions from generators that nobody seeds. Here every draw is a digest of the seed and of what
the draw is for, so that it is the same for ever, on every machine and with every library. Pure functions; no pictures.
"""

from __future__ import annotations

import hashlib

import numpy as np

from evaluator.media.types import I64


def draw(below: int, *purpose: int | str) -> int:
    """A whole number in 0 .. below - 1, by what it is for; 0 if there is no choice."""
    if below <= 1:
        return 0
    text = "/".join(map(str, purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % below


def run_starts(frames: int, runs: int, span: int, seed: int) -> I64:
    """[runs] first frames: one run of `span` frames in each of `runs` equal parts of a clip of `frames` frames.

    A run starts anywhere in its part where it fits, and at the beginning of the part where it does not.
    """
    part = frames // runs
    return np.array([k * part + draw(part - span, seed, "start", k) for k in range(runs)], np.int64)


def run_positions(starts: I64, length: int, interval: int, frames: int) -> I64:
    """[runs, length] frame positions, every `interval`-th from each start; past the end they go on from frame 0."""
    positions: I64 = (starts[:, None] + interval * np.arange(length)) % frames
    return positions


def patch_corners(height: int, width: int, patch: int, cells: int, seed: int, run: int) -> I64:
    """[cells, cells, 2] top and left pixel of one patch per cell of a grid over a picture.

    A patch lies anywhere in its cell where it fits, at the cell's corner where it does not, and never over an edge of
    the picture (of at least `patch` pixels).
    """
    rows, columns = np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij")
    corners = np.stack([_cell(rows, height, patch, cells), _cell(columns, width, patch, cells)], axis=-1)
    room = [size // cells - patch for size in (height, width)]
    for i, j in np.ndindex(cells, cells):
        for axis, name in enumerate(("top", "left")):
            corners[i, j, axis] += draw(room[axis], seed, name, run, i, j)
    return corners


def _cell(place: I64, size: int, patch: int, cells: int) -> I64:
    """First pixel of a cell."""
    return np.asarray(np.maximum(np.minimum(size // cells * place, size - patch), 0), np.int64)
