"""The protocol of decoding: one in-order pass over an open file feeds every view and every sound.

Says which frames go to whom and what happens when a damaged file holds other frames than its packet table said. What
fails, fails alone: one stream leaves the other as it is, and one view the others (`decode_each`). Does not decode: a
backend does (`evaluator.media.decode_pyav`). Nothing holds a whole clip in full resolution, except a `CollectTap` that
was asked to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import av
import numpy as np
from av.error import FFmpegError

from evaluator.errors import MediaError, NotApplicable
from evaluator.media import audio as sound
from evaluator.media.decode_pyav import Pass, run, unsupported
from evaluator.media.limits import LIMITS, Limits
from evaluator.media.reading import Reading, reading
from evaluator.media.sampling import select
from evaluator.media.types import F64, I64, U8, Audio, ClipInfo, DecodeReport, FrameChunk, Frames, FrameTap, VideoInfo
from evaluator.media.views import Drawing, Renderer
from evaluator.runtime.arrays import is_host, joined
from evaluator.schema import AudioView, Fit, View

CHUNK = 32
"""Most frames in one push."""

LARGE = 256 << 10
"""Bytes from which on a picture is pushed alone, as the scaler made it: a push costs less than a copy to new memory."""


@runtime_checkable
class Restartable(Protocol):
    """A tap that can begin again when decoding finds that the clip is not what the packet table said."""

    def restart(self, clip: ClipInfo) -> None:
        """Forget every frame; they come again, from the start, picked by the facts in `clip`."""


class CollectTap:
    """Keeps the frames of one view. `close` returns them as `Frames`.

    A narrow clip can be asked for at any length of its long side: `push` raises MediaError `too_large` rather than hold
    more than `limits.held_bytes`.
    """

    def __init__(self, clip: ClipInfo, limits: Limits = LIMITS) -> None:
        self._clip = clip
        self._most = limits.held_bytes
        self._held = 0
        self._chunks: list[FrameChunk] = []

    def restart(self, clip: ClipInfo) -> None:
        """Begin again with the facts that decoding found."""
        self._clip, self._chunks, self._held = clip, [], 0

    def push(self, chunk: FrameChunk) -> None:
        """Keep a chunk (not a copy)."""
        self._held += math.prod(chunk.data.shape)  # a byte each, wherever they lie
        if self._held > self._most:
            shape = " x ".join(map(str, chunk.data.shape[2:0:-1]))
            raise MediaError("too_large", f"pictures of {shape} would take more than {self._most >> 20} MiB to hold")
        self._chunks.append(chunk)

    def close(self) -> Frames:
        """Everything that was pushed. Raises NotApplicable if that is nothing: the sampling picked no frame."""
        if not self._chunks:
            why = "the clip has no frame that the view picks: it is too short, or none is marked so"
            raise NotApplicable("not_applicable", why)
        index = np.concatenate([chunk.index for chunk in self._chunks])
        time = np.concatenate([chunk.time for chunk in self._chunks])
        return Frames(self._gather(len(index)), index, time, self._clip)

    def _gather(self, count: int) -> U8:
        """[N, H, W, C]; frees each chunk as it is copied, so that the peak is one clip and not two."""
        if len(self._chunks) == 1:
            return self._chunks[0].data
        if not is_host(self._chunks[0].data):
            whole: U8 = joined([chunk.data for chunk in self._chunks])
            return whole
        data = np.empty((count, *self._chunks[0].data.shape[1:]), np.uint8)
        done = 0
        self._chunks.reverse()
        while self._chunks:
            part = self._chunks.pop().data
            data[done : done + len(part)] = part
            done += len(part)
        return data


Decoded = tuple[dict[AudioView, Audio], DecodeReport]
"""The sounds of one pass, and what it met."""


def decode(
    source: Path | Reading,
    info: ClipInfo,
    taps: Sequence[tuple[View, FrameTap]],
    audio: Sequence[AudioView],
    limits: Limits = LIMITS,
) -> Decoded:
    """Feed the frames of a file to the taps and return its sound, in one pass. The caller closes the taps.

    As `decode_each`, for those who want all or nothing: raises what kept the first view from being made. That is
    MediaError `corrupt`, `too_large`, `unsupported_picture`, `unsupported_sound`, or `frame_count_mismatch` (a tap that
    cannot restart got wrong frames), or what a tap raised.
    """
    return all_or_nothing(decode_each(source, info, taps, audio, limits))


def all_or_nothing(found: Decoded) -> Decoded:
    """The same. Raises what kept the first view from being made, if one was not."""
    for error in found[1].lost.values():
        raise error
    return found


def decode_each(
    source: Path | Reading,
    info: ClipInfo,
    taps: Sequence[tuple[View, FrameTap]],
    audio: Sequence[AudioView],
    limits: Limits = LIMITS,
) -> Decoded:
    """Feed the frames of a file to the taps and return its sound, in one pass. The caller closes the taps, but not
    those of a view in `DecodeReport.lost`: they have not seen what they should have.

    A `Reading` that the probe has looked through is not opened a second time, unless it is large.

    Taps with equal view get the same (read-only) arrays, in presentation order. If a damaged file decodes to other
    frames than `info` says, the taps restart and the pictures are decoded a second time, so that every sampling rule
    saw the true frames; `DecodeReport.clip` holds the corrected facts. A tap without `restart` keeps what it got where
    that is right anyhow (every frame, every k-th ...).

    Raises NotApplicable for a view of a clip without that stream, and what opening the file raises.
    """
    _check_streams(info, taps, audio)
    formats = {sound.format_of(view) for view in audio} if info.audio is not None else set()
    if not taps and not formats:
        return {view: sound.silence(view, info) for view in audio}, DecodeReport(passes=0, clip=info)
    with reading(source, limits) as file:
        feed = _Feed(info.video, taps, file.path) if info.video is not None and taps else None
        found = run(file, feed.frame if feed else None, formats, limits)
        report = DecodeReport(1, found.frames, feed.finish() if feed else 0, found.notes, info)
        if feed and "picture" not in found.lost and feed.misled(found.times):
            found, report = _again(file, feed, found, report, limits)
    heard, unheard = _sounds(audio, info, found, file.path)
    unseen = feed.lost(found.lost.get("picture")) if feed else {}
    return heard, replace(report, lost={**unseen, **unheard})


def _again(file: Reading, feed: _Feed, found: Pass, report: DecodeReport, limits: Limits) -> tuple[Pass, DecodeReport]:
    """Second pass over the pictures, planned on the frames that the first one met."""
    clip, video = report.clip, feed.video
    assert clip is not None  # noqa: S101  (decode_each() set it)
    note = f"frame_count_mismatch: {video.frames} frames indexed by {video.indexed_by}, {found.frames} decoded"
    keys = np.flatnonzero(np.isin(found.times, video.times[video.keys]))
    length = found.end - float(found.times[0])
    true = replace(video, times=found.times, duration=length, indexed_by="decode", keys=keys)
    clip = replace(clip, video=true, notes=(*clip.notes, note))
    feed.restart(clip)
    second = run(file, feed.frame, set(), limits)
    counts = (report.frames_decoded + second.frames, feed.finish())
    lost = {**found.lost, **second.lost}
    return replace(found, lost=lost), DecodeReport(2, *counts, (*report.notes, note), clip)


def _check_streams(info: ClipInfo, taps: Sequence[tuple[View, FrameTap]], audio: Sequence[AudioView]) -> None:
    if taps and info.video is None:
        raise NotApplicable("not_applicable", "the clip has no video stream")
    if info.audio is None and any(view.missing == "skip" for view in audio):
        raise NotApplicable("not_applicable", "the clip has no audio stream")


def _sounds(
    views: Sequence[AudioView], info: ClipInfo, found: Pass, path: Path
) -> tuple[dict[AudioView, Audio], dict[View | AudioView, Exception]]:
    """(the sounds that could be made, why the others could not)"""
    if info.audio is None:
        return {view: sound.silence(view, info) for view in views}, {}
    heard: dict[AudioView, Audio] = {}
    lost: dict[View | AudioView, Exception] = {}
    for view in views:
        made = sound.format_of(view)
        if "sound" in found.lost:
            lost[view] = found.lost["sound"]
        elif made in found.track.failed:
            lost[view] = unsupported(path, "sound", found.track.sample_format, found.track.failed[made])
        else:
            heard[view] = Audio(found.track.samples(made), view.rate, present=True, start=found.track.start)
    return heard, lost


class _Feed:
    """Hands every decoded frame to the views that want it. A view that fails gets no more."""

    def __init__(self, video: VideoInfo, taps: Sequence[tuple[View, FrameTap]], path: Path) -> None:
        self._path = path
        self._views = list(dict.fromkeys(view for view, _ in taps))
        self._lost: dict[View | AudioView, Exception] = {}
        self._converted = 0
        self._begin(video, taps)

    def _begin(self, video: VideoInfo, taps: Sequence[tuple[View, FrameTap]]) -> None:
        self.video = video
        self._renderer = Renderer(video)
        self._times = video.times.tolist()
        self._position = 0
        watchers: dict[View, list[FrameTap]] = {}
        for view, tap in taps:
            watchers.setdefault(view, []).append(tap)
        self._routes: list[_Route] = []
        for view, group in watchers.items():
            try:
                self._routes.append(_Route(self._renderer.drawing(view), view, group, video))
            except MediaError as error:
                self._lost[view] = error

    def frame(self, frame: av.VideoFrame) -> None:
        """Take the next decoded frame."""
        position, self._position = self._position, self._position + 1
        self._renderer.start(frame)
        wanted = [route for route in self._routes if route.wants(position)]
        self._converted += bool(wanted)
        for route in wanted:
            try:
                route.add(position, self._times[position], self._renderer.picture(route.drawing))
            except FFmpegError as error:
                self._drop(route, unsupported(self._path, "picture", frame.format.name, error))
            except Exception as error:  # kept for those who want this view, who have it raised to them
                self._drop(route, error)

    def _drop(self, route: _Route, error: Exception) -> None:
        self._routes.remove(route)
        self._lost[route.view] = error

    def finish(self) -> int:
        """Push what is left; return how many frames at least one view wanted."""
        for route in [*self._routes]:
            try:
                route.flush()
            except Exception as error:  # as in `frame`
                self._drop(route, error)
        return self._converted

    def lost(self, pictures: Exception | None) -> dict[View | AudioView, Exception]:
        """Views that failed, all of them if the `pictures` did, and why."""
        found = {**self._lost}
        if pictures is not None:
            found |= {view: pictures for view in self._views if view not in found}
        return found

    def misled(self, times: F64) -> bool:
        """Whether frames with other times came than those by which views were planned."""
        return bool(self._routes) and not np.array_equal(times, self.video.times)

    def restart(self, clip: ClipInfo) -> None:
        """Begin again for a clip that turned out to be `clip`, with the taps that want frames again."""
        assert clip.video is not None  # noqa: S101  (it has a feed)
        again: list[tuple[View, FrameTap]] = []
        for route in [*self._routes]:
            for tap in route.taps:
                if isinstance(tap, Restartable):
                    tap.restart(clip)
                    again.append((route.view, tap))
                elif not np.array_equal(route.given(self._position), picked(route.view, clip.video)):
                    why = f"{self._path}: {clip.notes[-1]}; generate or copy it again"
                    self._lost[route.view] = MediaError("frame_count_mismatch", why)
        self._begin(clip.video, again)


class _Route:
    """One view on its way: which frames it takes, the chunk that fills up, the taps that watch."""

    def __init__(self, drawing: Drawing, view: View, taps: Sequence[FrameTap], video: VideoInfo) -> None:
        self.drawing = drawing
        self.view = view
        self.taps = taps
        self._picked = picked(view, video)
        self._plan = self._picked.tolist()
        self._next = 0  # place in the plan
        width, height = drawing.target
        self._shape = (height, width, 1 if view.colour == "gray" else 3)
        self._large = math.prod(self._shape) >= LARGE
        self._rows: list[tuple[int, float]] = []
        self._data: U8 = np.empty((0, *self._shape), np.uint8)

    def wants(self, position: int) -> bool:
        return self._next < len(self._plan) and self._plan[self._next] == position

    def add(self, position: int, time: float, picture: U8) -> None:
        """Pass a picture on, as often as the plan repeats the frame."""
        whole = self._whole(picture) if self._large else None
        while self.wants(position):
            self._next += 1
            if whole is not None:
                self._push(whole, [(position, time)])
            else:
                self._gather(position, time, picture)

    def flush(self) -> None:
        """Push the chunk, full or not."""
        if self._rows:
            data, self._data = self._data[: len(self._rows)], self._data[:0]
            rows, self._rows = self._rows, []
            self._push(data, rows)

    def _whole(self, picture: U8) -> U8:
        """[1, H, W, C] of a large picture; a cut is copied, for it would keep alive what it was cut from."""
        cut = self.view.fit is Fit.SHORT_SIDE_CROP
        return (picture.copy() if cut else np.ascontiguousarray(picture))[None]

    def _gather(self, position: int, time: float, picture: U8) -> None:
        """Copy a small picture into the chunk."""
        if not self._rows:
            self._data = np.empty((min(CHUNK, len(self._plan) - self._next + 1), *self._shape), np.uint8)
        self._data[len(self._rows)] = picture
        self._rows.append((position, time))
        if len(self._rows) == len(self._data):
            self.flush()

    def _push(self, data: U8, rows: Sequence[tuple[int, float]]) -> None:
        data.flags.writeable = False
        index, time = zip(*rows, strict=True)
        chunk = FrameChunk(data, np.array(index, np.int64), np.array(time))
        for tap in self.taps:
            tap.push(chunk)

    def given(self, frames: int) -> I64:
        """Indices that were pushed when `frames` frames came by."""
        return self._picked[self._picked < frames]


def picked(view: View, video: VideoInfo) -> I64:
    """Indices [n] of the frames of a clip that a view takes."""
    return select(view.sampling, video.times, float(video.times[0]) + video.duration, video.promised, video.keys)
