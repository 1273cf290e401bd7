"""Which frames to ask of a decoder in one call, if each call reads the file anew and begins at a key frame.

A call that begins between two key frames decodes from the first of them again, and no call may hold more than so many
pictures. As few calls as that allows are made, for within a call a decoder passes over groups of pictures that nobody
wants, and a new one reads the whole file again. Among the ways with as few, the one that decodes the fewest frames is
taken. Pure numbers; knows no decoder.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from evaluator.media.types import I64

CALL = 1 << 20
"""What a call costs beside its frames, in frames: more than a clip has, so that no way with more calls is cheaper."""

LONGEST = 128
"""Most frames of a call, however small they are: every view is made of all of them, and may be much larger."""


def spans(index: I64, keys: I64, most: int) -> Iterator[I64]:
    """The rising frame numbers `index` [n] in parts of at most `most` and LONGEST; `keys` [k] are the key frames."""
    most = min(most, LONGEST)
    begins = np.concatenate([[0], keys])[np.searchsorted(keys, index, side="right")]  # [n] where decoding begins
    for begin, end in pairwise(_cuts(index.tolist(), begins.tolist(), most)):
        yield index[begin:end]


def _cuts(index: Sequence[int], begins: Sequence[int], most: int) -> list[int]:
    """Places in `index` at which the parts of the cheapest way begin and end, from 0 to its length.

    A part from place i up to place j costs index[j] + 1 - begins[i], so the best i for a j is the smallest of
    (cost up to i) - begins[i] in a window that slides along with j.
    """
    cost, came_from = [0], []
    window: deque[tuple[int, int]] = deque()  # (that number, i), both rising
    for j, frame in enumerate(index):
        value = cost[j] - begins[j]
        while window and window[-1][0] > value:
            window.pop()
        window.append((value, j))
        if window[0][1] <= j - most:
            window.popleft()
        least, i = window[0]
        cost.append(least + frame + 1 + CALL)
        came_from.append(i)
    cuts = [len(index)]
    while cuts[-1]:
        cuts.append(came_from[cuts[-1] - 1])
    return cuts[::-1]
