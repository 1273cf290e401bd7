"""Output matching (section 1.3): all outputs of an instance, and the source, are scored over the same seconds.

Nothing is written: the common duration becomes part of the requests. Pictures are taken at the same moments of the
source's clock in every clip, so that an output at four frames a second is compared with what the source shows then;
sound is cut at the same sample. An output that is missing or cannot be read does not shorten the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import floor

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.media.sampling import STAMP
from evaluator.media.types import Audio, ClipInfo
from evaluator.schema import AudioNeed, AudioView, Case, Filter, Fit, FramesNeed, Sampling, View
from evaluator.suites.avenue.choices import EMBEDDED_FRAMES, JUDGE_FRAMES, JUDGE_SIDE
from evaluator.suites.avenue.data import Matched, of
from evaluator.suites.base import Facts

RATE = 16_000


def prepare(cases: Sequence[Case], whole: Sequence[Case], facts: Facts) -> list[Case]:
    """The cases, each with `data.matched`; what the manifest pins stays."""
    groups: dict[str, list[Case]] = {}
    for case in whole:
        groups.setdefault(of(case).instance, []).append(case)
    wanted = {of(case).instance for case in cases if of(case).matched is None}
    found = {name: common(groups[name], facts) for name in wanted}
    return [_with(case, found.get(of(case).instance)) for case in cases]


def common(cases: Sequence[Case], facts: Facts) -> Matched | None:
    """What the outputs of one instance have in common; None if no output can be read."""
    outputs = [(case.system, facts(case.video)) for case in cases]  # of one system several, under several conditions
    rivals = [(item.entity, facts(item.path)) for case in cases for item in case.references if item.role == "rival"]
    lengths = [(system, shortest(info)) for system, info in (*outputs, *rivals) if info is not None]
    source = facts(cases[0].source) if cases[0].source is not None else None
    if not lengths:
        return None
    seconds = round(min([*(length for _, length in lengths), *([shortest(source)] if source else [])]), 6)
    frames, span = _frames(source, seconds)
    return Matched(seconds=seconds, frames=frames, span=span, systems=sorted({system for system, _ in lengths}))


def shortest(info: ClipInfo) -> float:
    """Seconds of the shorter of the streams that the clip has."""
    found = [stream.duration for stream in (info.video, info.audio) if stream is not None and stream.duration > 0]
    return min(found, default=info.duration)


def _frames(source: ClipInfo | None, seconds: float) -> tuple[int, float]:
    """(frames of the source that end within the seconds, time of the last of them); floor(seconds x rate) frames.

    A frame that ends up to STAMP later counts: milliseconds of a container are rounded.
    """
    if source is None or source.video is None:
        return 1, 0.0
    times = source.video.times - source.video.times[0]
    ends = np.append(times[1:], source.video.duration)
    count = max(1, int(np.count_nonzero(ends <= seconds + STAMP)))
    return count, round(float(times[count - 1]), 6)


def _with(case: Case, matched: Matched | None) -> Case:
    if matched is None:
        return case
    return replace(case, data={**case.data, "matched": matched.model_dump()})


# ------------------------------------------------------------------------------------------------ requests


def matched(case: Case) -> Matched:
    """The common duration of a case. One that no run has prepared is scored over its own source alone."""
    found = of(case).matched
    return found or Matched(seconds=3600.0, frames=EMBEDDED_FRAMES, span=3600.0, systems=[])


def moments(case: Case, most: int) -> Sampling:
    """min(most, frames) equally spaced moments, first and last frame included, of clips cut to the common duration."""
    common = matched(case)
    return Sampling("moments", (min(most, common.frames), common.span, common.seconds))


def frames_need(case: Case, role: str) -> FramesNeed:
    """What a judge sees of one clip."""
    view = View(moments(case, JUDGE_FRAMES), Fit.LONG_SIDE_MAX, JUDGE_SIDE, filter=Filter.FFMPEG_BICUBIC)
    return FramesNeed(view, role)


def sound_need(role: str) -> AudioNeed:
    """What a judge hears of one clip, before it is cut."""
    return AudioNeed(AudioView(RATE), role)


def cut(audio: Audio, case: Case) -> Audio:
    """The first floor(seconds x 16,000) samples. Raises NotApplicable if none is left."""
    samples = audio.samples[: floor(matched(case).seconds * audio.rate)]
    if not len(samples):
        raise NotApplicable("not_applicable", "the common duration holds no sound")
    return replace(audio, samples=samples)
