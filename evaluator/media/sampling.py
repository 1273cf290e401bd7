"""Which frames of a clip: pure functions from time stamps and a `Sampling` to indices.

Works on the true number of frames and their presentation times, so a rule means the same for constant and variable
frame rate and on every decoder. Indices come out in presentation order; only the fps rules and `moments` repeat some.
Knows no files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evaluator.media.fragments import run_positions, run_starts
from evaluator.media.types import F64, I64
from evaluator.schema import Sampling

TIE = 1e-6
"""Slots. A time stamp such as 0.58 s is 14.5 slots of 1/25 s on paper and 14.499999999999998 in a float."""

STAMP = 5e-4 + TIE
"""Seconds by which a container that stamps in milliseconds moves the end of a frame, at most."""

RATE_TOLERANCE = 4e-4
"""Relative. Time stamps in milliseconds blur a frame rate by less than this; 24000/1001 is 1e-3 away from 24."""

Ranges = tuple[tuple[int, int], ...]


def select(sampling: Sampling, times: F64, end: float | None = None, promised: int = 0, keys: I64 | None = None) -> I64:
    """Indices [n] of the frames that `sampling` picks from a clip, in presentation order.

    times: [N] presentation time in seconds, ascending. end: when the last frame goes, in seconds; if None, it is taken
    to stay for the median frame interval (only the fps rules and `moments` look at it). promised: how many frames the
    container says it has, 0 if it does not (only the rules in COUNTED look at it). keys: [K] the key frames (only the
    rules in KEYED). Raises ValueError for an unknown rule or parameters that it does not take.
    """
    if sampling.rule in COUNTED:
        return _counted(sampling, times, promised)
    if sampling.rule in KEYED:
        own = np.empty(0, np.int64) if keys is None else keys
        return own[select(Sampling(KEYED[sampling.rule], sampling.params), times[own])]
    if sampling.rule not in RULES:
        raise ValueError(f"unknown sampling rule {sampling.rule!r}; expected one of {', '.join(RULES)}")
    rule, names = RULES[sampling.rule]
    if len(sampling.params) != len(names):
        raise ValueError(f"{sampling.rule} takes the parameters {names}, found {sampling.params}")
    if len(times) == 0:
        return np.empty(0, np.int64)
    return rule(times, end, *sampling.params)


def _counted(sampling: Sampling, times: F64, promised: int) -> I64:
    """AVE-Compass 3.3, compat: the rule on as many frames as the container promises; those that are not there drop out.

    A container that promises nothing is taken to hold what it holds. These rules look at no time, only at the count,
    and a header may claim any: what stands in for the times takes no memory.
    """
    counted = np.broadcast_to(np.float64(0.0), promised or len(times))
    asked = select(Sampling(COUNTED[sampling.rule], sampling.params), counted)
    return asked[asked < len(times)]


def _every_frame(times: F64, _end: float | None) -> I64:
    return np.arange(len(times))


def _ave_f1(times: F64, _end: float | None, n: int) -> I64:
    """AVE-Compass 3.3 F1: all frames of a clip of at most n frames (or if n <= 1), else n from first to last."""
    last = len(times) - 1
    if n <= 1 or len(times) <= n:
        return np.arange(len(times))
    return _unique(np.minimum(last, np.arange(n) * last / (n - 1)))


def _linspace(times: F64, _end: float | None, n: int) -> I64:
    """AVE-Compass 3.3 F2: min(N, n) positions from first to last, rounded half to even."""
    _at_least("n", n, 1)
    return _unique(np.linspace(0, len(times) - 1, min(len(times), n)))


def _linspace_floor(times: F64, _end: float | None, n: int) -> I64:
    """CutCraft 4: all frames of a clip of at most n, else n positions from first to last, their fractions cut off."""
    _at_least("n", n, 1)
    return np.arange(len(times)) if len(times) <= n else np.linspace(0, len(times) - 1, n).astype(np.int64)


def _equal_indices(times: F64, _end: float | None, count: int) -> I64:
    """CoVEBench 2: like `linspace`, but a single frame is the middle one."""
    n = min(len(times), count)
    if n <= 1:
        return np.array([len(times) // 2])
    return _unique(np.arange(n) * (len(times) - 1) / (n - 1))


def _every(times: F64, _end: float | None, k: int) -> I64:
    """Frames 0, k, 2k, ..."""
    _at_least("k", k, 1)
    return np.arange(0, len(times), k)


def _stride(times: F64, _end: float | None, fps: float, max_frames: int) -> I64:
    """CutCraft 4: frames 0, s, 2s, ... with s = max(1, int(clip rate / fps)), at most `max_frames`.

    The clip rate is the mean over the time stamps; a clip whose stamps do not advance has step 1.
    """
    _above("fps", fps)
    _at_least("max_frames", max_frames, 1)
    length = float(times[-1] - times[0])
    rate = (len(times) - 1) / length if length > 0 else 0.0
    step = max(1, int(rate / fps * (1 + RATE_TOLERANCE)))
    return np.arange(0, len(times), step)[:max_frames]


def _fps(times: F64, end: float | None, rate: float) -> I64:
    """AVE-Compass 3.4, FFmpeg's fps filter: slot j of 1/rate s shows the last frame whose time rounds to j or less.

    Repeats a frame that fills several slots and leaves out one whose slot the next frame takes over.
    """
    _above("rate", rate)
    last = float(times[-1]) + _interval(times) if end is None else end
    edges = np.floor(rate * np.append(times, last) + 0.5 + TIE).astype(np.int64)  # [N + 1] slots
    return np.repeat(np.arange(len(times)), np.maximum(np.diff(edges), 0))


def _fps_head(times: F64, end: float | None, rate: float, slots: int) -> I64:
    """The first `slots` slots of `fps`, for what looks at the beginning of a clip only."""
    _at_least("slots", slots, 1)
    return _fps(times, end, rate)[:slots]


def _fps_tail(times: F64, end: float | None, rate: float, slots: int) -> I64:
    """The last `slots` slots of `fps`."""
    _at_least("slots", slots, 1)
    return _fps(times, end, rate)[-slots:]


def _ranges(times: F64, _end: float | None, spans: Ranges) -> I64:
    """Frames of the half-open ranges, each cut off at the end of the clip; a frame in two ranges comes once."""
    for start, stop in spans:
        if not 0 <= start < stop:
            raise ValueError(f"range ({start}, {stop}): expected 0 <= start < end")
    inside = np.zeros(len(times), bool)
    for start, stop in spans:
        inside[start:stop] = True
    return np.flatnonzero(inside)


def _triplets(times: F64, _end: float | None, count: int) -> I64:
    """Odd frames 2k+1 with both neighbours, for `count` equally spaced k (for every k if there are fewer)."""
    _at_least("count", count, 1)
    available = (len(times) - 1) // 2
    if available <= 0:
        return np.empty(0, np.int64)
    k = _unique(np.linspace(0, available - 1, min(available, count)))
    return np.unique(2 * k[:, None] + np.arange(3))


def _moments(times: F64, end: float | None, n: int, span: float, until: float) -> I64:
    """AVENUE 1.3 and 4: the frames nearest to n equally spaced moments from the first frame to `span` seconds after it.

    Two clips of different rates show the same moments, so a frame of a slow clip may be repeated. Of two frames that
    are equally near, the earlier one. The clip is cut first: only frames that are over `until` seconds after it began
    (and STAMP, lest a clip in Matroska lose a frame that its MP4 has), and the first one, are there to be picked.
    """
    _at_least("n", n, 1)
    if not isinstance(span, int | float) or span < 0:
        raise ValueError(f"span = {span!r}: expected seconds of at least 0")
    _above("until", until)
    last = float(times[-1]) + _interval(times) if end is None else end
    over = np.append(times[1:], last) - times[0] <= until + STAMP
    times = times[: max(1, int(np.count_nonzero(over)))]
    wanted = float(times[0]) + np.linspace(0.0, span, n)
    right = np.searchsorted(times, wanted).clip(max=len(times) - 1)
    left = (right - 1).clip(min=0)
    nearer = np.abs(times[left] - wanted) <= np.abs(times[right] - wanted) + TIE
    return np.asarray(np.where(nearer, left, right), np.int64)


def _fragments(times: F64, _end: float | None, runs: int, length: int, interval: int, seed: int) -> I64:
    """CoVEBench 4.4: `runs` runs of `length` frames, `interval` apart, where `evaluator.media.fragments` draws them."""
    for name, value in (("runs", runs), ("length", length), ("interval", interval)):
        _at_least(name, value, 1)
    starts = run_starts(len(times), runs, length * interval, seed)
    return np.unique(run_positions(starts, length, interval, len(times)))


def _stride_head(times: F64, _end: float | None, fps: float, max_frames: int) -> I64:
    """CoVEBench 5.3: frames 0, s, 2s, ... with s = max(1, round(clip rate / fps)), at most `max_frames`."""
    _above("fps", fps)
    _at_least("max_frames", max_frames, 1)
    length = float(times[-1] - times[0])
    rate = (len(times) - 1) / length if length > 0 else 0.0
    step = round(round(rate / fps, 3))  # 25 fps of rounded time stamps must be 12.5 frames, and so 12
    return np.arange(0, len(times), max(1, step))[:max_frames]


RULES: dict[str, tuple[Callable[..., I64], tuple[str, ...]]] = {
    "all": (_every_frame, ()),
    "ave_f1": (_ave_f1, ("n",)),
    "linspace": (_linspace, ("n",)),
    "linspace_floor": (_linspace_floor, ("n",)),
    "equal_indices": (_equal_indices, ("count",)),
    "every": (_every, ("k",)),
    "stride": (_stride, ("fps", "max_frames")),
    "fps": (_fps, ("rate",)),
    "fps_head": (_fps_head, ("rate", "slots")),
    "fps_tail": (_fps_tail, ("rate", "slots")),
    "ranges": (_ranges, ("ranges",)),
    "triplets": (_triplets, ("count",)),
    "fragments": (_fragments, ("runs", "length", "interval", "seed")),
    "stride_head": (_stride_head, ("fps", "max_frames")),
    "moments": (_moments, ("n", "span", "until")),
}
"""Rule and the names of its parameters, by the name that a `Sampling` carries."""


COUNTED = {
    "ave_f1_promised": "ave_f1",
    "linspace_promised": "linspace",
    "equal_indices_promised": "equal_indices",
}
"""Rule that trusts the container's count of frames -> the rule that it then follows."""

KEYED = {"key_frames": "equal_indices"}
"""Rule on key frames alone -> the rule that picks among them (CoVEBench 4.2: at most `count`, equally spaced)."""


def _unique(positions: F64) -> I64:
    """Sorted distinct integers, halves rounded to even."""
    return np.unique(np.rint(positions).astype(np.int64))


def _interval(times: F64) -> float:
    """Median time between frames in seconds; 0.0 for a single frame."""
    return float(np.median(np.diff(times))) if len(times) > 1 else 0.0


def _at_least(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or value < least:
        raise ValueError(f"{name} = {value!r}: expected a whole number of at least {least}")


def _above(name: str, value: Any) -> None:
    if not isinstance(value, int | float) or not value > 0:
        raise ValueError(f"{name} = {value!r}: expected a number above 0")
