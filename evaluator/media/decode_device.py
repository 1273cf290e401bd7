"""One pass over a file with its pictures on a device: DALI for clips that it takes, PyAV for the rest and the sound.

The same taps get the same frames in the same order as from `evaluator.media.decode`; only the pixels may differ by what
another scaler does. A clip that DALI is not given, or gives up on, is decoded by PyAV once, and the report says why.

A tap that says `on_device` gets its pictures as tensors on the device, every other tap gets a copy on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from evaluator.errors import MediaError, PrerequisiteError
from evaluator.media.decode import CHUNK, Decoded, Restartable, all_or_nothing, decode_each, picked
from evaluator.media.decode_dali import DaliSource
from evaluator.media.limits import LIMITS, Limits
from evaluator.media.reading import Reading
from evaluator.media.source_route import not_for_dali, views_not_for_dali
from evaluator.media.types import I64, ClipInfo, DecodeReport, FrameChunk, FrameTap, VideoInfo
from evaluator.media.views import transform_of
from evaluator.runtime.arrays import is_host
from evaluator.runtime.traffic import handed_out, on_behalf_of
from evaluator.schema import AudioView, View

Taps = Sequence[tuple[View, FrameTap]]


@runtime_checkable
class Placed(Protocol):
    """A tap that says where it takes its pictures, and to whom their way to the host is charged."""

    on_device: bool
    account: str


def decode_on(
    source: DaliSource,
    file: Path | Reading,
    info: ClipInfo,
    taps: Taps,
    audio: Sequence[AudioView],
    limits: Limits = LIMITS,
) -> Decoded:
    """As `evaluator.media.decode.decode`, with pictures from `source` where it may decode the clip."""
    return all_or_nothing(decode_each_on(source, file, info, taps, audio, limits))


def decode_each_on(
    source: DaliSource,
    file: Path | Reading,
    info: ClipInfo,
    taps: Taps,
    audio: Sequence[AudioView],
    limits: Limits = LIMITS,
) -> Decoded:
    """As `evaluator.media.decode.decode_each`, with pictures from `source` where it may decode the clip.

    `DecodeReport.notes` holds `decoder dali`, or `decoder pyav: <why>`.
    """
    path = file.path if isinstance(file, Reading) else file
    views = (view for view, _ in taps)
    reason = (not_for_dali(info, source.device) or views_not_for_dali(views)) if taps else "no pictures are wanted"
    if not reason and info.video is not None:
        decoded, lost = 0, dict[View | AudioView, Exception]()
        try:
            decoded = _pictures(source, path, info.video, taps)
        except PrerequisiteError:
            raise
        except MediaError as error:
            reason = str(error).replace(str(path), path.name)
            if not _restarted(info, taps):
                raise
        except Exception as error:  # kept for those who want pictures, who have it raised to them
            lost = {view: error for view, _ in taps}
        if not reason:
            sound, report = decode_each(file, info, [], audio, limits)
            notes, all_lost = ("decoder dali", *report.notes), {**lost, **report.lost}
            return sound, DecodeReport(1, decoded, decoded, notes, report.clip, all_lost)
    sound, report = decode_each(file, info, taps, audio, limits)
    return sound, replace(report, notes=(f"decoder pyav: {reason}", *report.notes))


def _pictures(source: DaliSource, path: Path, video: VideoInfo, taps: Taps) -> int:
    """Push every wanted frame to the taps that want it; the number of frames that were decoded for anybody."""
    plans = [(view, tap, picked(view, video)) for view, tap in taps]
    wanted = np.unique(np.concatenate([plan for _, _, plan in plans]))
    for numbers, frames in source.frames(path, video, wanted):
        made = _Made(source, frames, video)
        for view, tap, plan in plans:
            if not len(rows := _rows(plan, numbers)):
                continue
            with on_behalf_of(tap.account) if isinstance(tap, Placed) else nullcontext():
                pictures = made.pictures(view, tap)
                handed_out(len(rows), on_device=not is_host(pictures))
            for chunk in _chunks(pictures, rows, numbers, video):
                tap.push(chunk)
    return len(wanted)


class _Made:
    """What was made of a few whole frames. Views that differ in nothing but their sampling are made once."""

    def __init__(self, source: DaliSource, frames: Any, video: VideoInfo) -> None:
        self._source, self._frames, self._video = source, frames, video
        self._made: dict[View, Any] = {}
        self._placed: dict[tuple[View, bool], Any] = {}

    def pictures(self, view: View, tap: FrameTap) -> Any:
        """[n, h, w, C] where the tap takes them: on the host, or on the device if the source can leave them there."""
        stays = isinstance(tap, Placed) and tap.on_device and self._source.keep is not None
        key = transform_of(view), stays
        if key not in self._placed:
            self._placed[key] = self._place(view, self._source.keep if stays else None)
        return self._placed[key]

    def _place(self, view: View, keep: Callable[[Any], Any] | None) -> Any:
        key = transform_of(view)
        if key not in self._made:
            self._made[key] = self._source.pictures(self._frames, view, self._video)
        return self._source.host(self._made[key]) if keep is None else keep(self._made[key])


def _rows(plan: I64, numbers: I64) -> I64:
    """Rows of a chunk that a plan takes, as often as it repeats them, in order."""
    inside = plan[(plan >= numbers[0]) & (plan <= numbers[-1])]
    return np.asarray(np.searchsorted(numbers, inside), np.int64)


def _chunks(pictures: Any, rows: I64, numbers: I64, video: VideoInfo) -> Iterator[FrameChunk]:
    """The picked rows, a chunk at a time: a plan may repeat a frame often."""
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        data = pictures[part]
        if is_host(data):
            data.flags.writeable = False
        yield FrameChunk(data, numbers[part], video.times[numbers[part]])


def _restarted(info: ClipInfo, taps: Taps) -> bool:
    """Make every tap begin again; False if one cannot: it may have seen frames already."""
    if not all(isinstance(tap, Restartable) for _, tap in taps):
        return False
    for _, tap in taps:
        if isinstance(tap, Restartable):
            tap.restart(info)
    return True
