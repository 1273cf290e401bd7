"""What is shown of a clip itself: a few of its frames, its wave form, and the moments that each metric looked at.

Decodes a clip once, and only when a person asked for thumbnails. Knows needs of metrics, not their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluator.errors import MediaError, NotApplicable
from evaluator.media.decode import CollectTap, decode_each
from evaluator.media.probe import probe
from evaluator.media.sampling import select
from evaluator.media.types import Audio, ClipInfo, Frames
from evaluator.metrics.base import Metric
from evaluator.report.page.pictures import SIDE, Album
from evaluator.schema import AudioView, ExpertNeed, Filter, Fit, FramesNeed, Need, Sampling, View

FRAMES = 8
VIEW = View(Sampling("linspace", (FRAMES,)), Fit.LONG_SIDE_MAX, height=SIDE, filter=Filter.FFMPEG_AREA)
SOUND = AudioView(rate=16_000)
BINS = 300
"""Bars of a wave form, each the loudest sample of its part."""

Samplings = Mapping[str, Sampling]
"""Metric -> which frames of the clip it looks at."""


@dataclass(frozen=True, slots=True)
class ShownClip:
    """Times are seconds from the first frame on, or the first sample of a clip without pictures."""

    seconds: float
    frames: tuple[tuple[float, str], ...]  # time, name of a picture
    wave: tuple[int, ...]  # BINS peaks in percent of full scale; empty without sound
    wave_start: float
    wave_seconds: float
    moments: Mapping[str, tuple[float, ...]]  # metric -> times of the frames that it saw


def show_clip(path: Path, samplings: Samplings, album: Album) -> ShownClip | str:
    """One clip, or a sentence that says why it cannot be shown."""
    try:
        info = probe(path)
        tap = CollectTap(info)
        sound, report = decode_each(path, info, [(VIEW, tap)] if info.video else [], [SOUND] if info.audio else [])
        if VIEW in report.lost or not (info.video or sound):
            raise next(iter(report.lost.values()))
        frames = tap.close() if info.video else None
    except (MediaError, NotApplicable) as error:
        return f"The clip cannot be shown: {error}"
    info = report.clip or info
    start = float(info.video.times[0]) if info.video else 0.0
    audio = sound.get(SOUND)
    return ShownClip(
        seconds=round(info.duration, 3),
        frames=tuple(_thumbnails(frames, start, album)) if frames else (),
        wave=_wave(audio) if audio else (),
        wave_start=round(audio.start - start, 3) if audio else 0.0,
        wave_seconds=round(len(audio.samples) / audio.rate, 3) if audio else 0.0,
        moments=_moments(info, samplings, start),
    )


def samplings_of(metrics: Iterable[Metric]) -> dict[str, Sampling]:
    """Metric -> its sampling of the clip under test, for those that pick frames."""
    found = {metric.id: _sampling(metric.needs.values()) for metric in metrics}
    return {name: sampling for name, sampling in found.items() if sampling is not None}


def _sampling(needs: Iterable[Need]) -> Sampling | None:
    for need in needs:
        if isinstance(need, FramesNeed) and need.role == "video":
            return need.view.sampling
        if isinstance(need, ExpertNeed) and "video" in need.roles and need.sampling is not None:
            return need.sampling
    return None


def _thumbnails(frames: Frames, start: float, album: Album) -> list[tuple[float, str]]:
    named = [(time, album.add_array(data)) for time, data in zip(frames.time.tolist(), frames.data, strict=True)]
    return [(round(time - start, 3), name) for time, name in named if name is not None]


def _wave(audio: Audio) -> tuple[int, ...]:
    if not len(audio.samples):
        return ()
    parts = np.array_split(np.abs(audio.samples.astype(np.int32)), min(BINS, len(audio.samples)))
    return tuple(round(100 * int(part.max()) / 32768) for part in parts)


def _moments(info: ClipInfo, samplings: Samplings, start: float) -> dict[str, tuple[float, ...]]:
    video = info.video
    if video is None:
        return {}
    end = float(video.times[0]) + video.duration
    picked = {name: select(sampling, video.times, end) for name, sampling in samplings.items()}
    return {
        name: tuple(round(time - start, 3) for time in video.times[np.unique(index)].tolist())
        for name, index in picked.items()
    }
