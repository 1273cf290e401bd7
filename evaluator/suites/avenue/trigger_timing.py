"""The objective twin of CMTG (section 2.4): F1 of the moments at which the output departs from its source.

A curve ten times a second tells how far the edited modality is from the source: mean difference of log-mel levels in
dB, or mean grey difference. Where it rises above half its largest value (and above what encoding does) the edit is
taken to happen. Onsets of these runs are matched with onsets of the trigger, in order, each once, within the tolerance.

It does not know what appeared there: a burst of noise at the trigger scores like the sound that was asked for. The
judge's CMTG and Edit Accuracy stand beside it for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.judge.evidence_mel import mel_level
from evaluator.media.types import F64, Audio, Frames
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import AudioNeed, Case, Filter, Fit, FramesNeed, Need, Sampling, View
from evaluator.suites.avenue import matching
from evaluator.suites.avenue.choices import ONSET_TOLERANCE
from evaluator.suites.avenue.data import AUDIO, VIDEO, of

STEPS = 10
"""Per second."""
VIEW = View(Sampling("fps", (STEPS,)), Fit.LONG_SIDE_MAX, 96, filter=Filter.FFMPEG_AREA, colour="gray")
SPAN_DB = 60.0
"""Levels further below the loudest moment of both sounds are taken to be equal: nobody hears them differ."""
LEAST = {AUDIO: 3.0, VIDEO: 4.0}
"""dB and grey levels: below this a difference is encoding."""
ROUNDING = 1e-6
"""Seconds: 1.1 - 0.6 is a little more than 0.5 in floating point, and onsets lie on tenths of a second."""
BRIDGED = 2
"""Steps of a gap that does not end a run."""


def sound_curve(output: Audio, source: Audio) -> F64:
    """Mean difference of levels over all bands, in dB, per tenth of a second [N], as long as the shorter sound."""
    count = min(len(output.samples), len(source.samples))
    levels = [mel_level(sound.samples[:count], sound.rate) for sound in (output, source)]  # [10 ms, bands]
    lowest = max(float(level.max()) for level in levels) - SPAN_DB
    change = np.abs(np.maximum(levels[0], lowest) - np.maximum(levels[1], lowest)).mean(axis=1)
    return _tenths(change)


def _tenths(hundredths: F64) -> F64:
    whole = len(hundredths) // 10 * 10
    return np.asarray(hundredths[:whole].reshape(-1, 10).mean(axis=1), np.float64)


def picture_curve(output: Frames, source: Frames) -> F64:
    """Mean absolute grey difference per tenth of a second [N]. Raises NotApplicable for pictures of two shapes."""
    count = min(len(output.data), len(source.data))
    if output.data.shape[1:] != source.data.shape[1:]:
        raise NotApplicable("not_applicable", "output and source have different aspects, so pixels do not correspond")
    pairs = zip(output.data[:count], source.data[:count], strict=True)
    return np.array([np.abs(one.astype(np.float64) - other).mean() for one, other in pairs])


def departures(curve: F64, least: float) -> list[tuple[float, float]]:
    """(start, end) in seconds of the runs in which the curve is above half its largest value and above `least`."""
    if not len(curve):
        return []
    active = curve > max(least, 0.5 * float(curve.max()))
    edges = np.flatnonzero(np.diff(np.concatenate([[False], active, [False]]))).reshape(-1, 2).tolist()
    runs: list[list[int]] = []
    for start, end in edges:
        if runs and start - runs[-1][1] <= BRIDGED:
            runs[-1][1] = end
        else:
            runs.append([start, end])
    return [(start / STEPS, end / STEPS) for start, end in runs]


def onset_f1(found: Sequence[float], wanted: Sequence[float], tolerance: float = ONSET_TOLERANCE) -> float:
    """2 matched / (found + wanted), 0..1; rising onsets are matched in order, each once. 0 if nothing was found.

    Raises NotApplicable without a wanted onset.
    """
    if not wanted:
        raise NotApplicable("not_applicable", "the trigger has no interval")
    matched, at, reach = 0, 0, tolerance + ROUNDING
    for onset in found:
        while at < len(wanted) and wanted[at] < onset - reach:
            at += 1
        if at < len(wanted) and abs(wanted[at] - onset) <= reach:
            matched, at = matched + 1, at + 1
    return 2 * matched / (len(found) + len(wanted))


def compute(
    case: Case,
    output_frames: Frames | None = None,
    source_frames: Frames | None = None,
    output_sound: Audio | None = None,
    source_sound: Audio | None = None,
) -> Outcome:
    """F1 in 0..1. Details: the runs that were found, and the trigger's intervals within the common duration."""
    trigger, end = of(case).trigger, matching.matched(case).seconds
    if trigger is None:
        raise NotApplicable("not_applicable", "the case names no trigger")
    edited = VIDEO if trigger.modality == AUDIO else AUDIO
    if edited == AUDIO and output_sound is not None and source_sound is not None:
        curve = sound_curve(matching.cut(output_sound, case), matching.cut(source_sound, case))
    elif output_frames is not None and source_frames is not None:
        curve = picture_curve(output_frames, source_frames)
    else:
        raise NotApplicable("not_applicable", f"a clip has no {edited}")
    runs = departures(curve[: floor(end * STEPS)], LEAST[edited])
    wanted = [(start, stop) for start, stop in trigger.intervals if start < end]
    value = onset_f1([start for start, _ in runs], [start for start, _ in wanted])
    details = {"found": [list(run) for run in runs], "wanted": [list(one) for one in wanted], "seconds": end}
    return Outcome(value, details={**details, "largest": float(curve.max()) if len(curve) else None})


def needs_of(case: Case) -> Mapping[str, Need]:
    """Pictures or sound of both clips, whichever was edited."""
    trigger = of(case).trigger
    roles = {"output": "video", "source": "source"}
    if trigger is not None and trigger.modality == AUDIO:
        return {f"{name}_frames": FramesNeed(VIEW, role) for name, role in roles.items()}
    return {f"{name}_sound": AudioNeed(role=role) for name, role in roles.items()}


METRIC = Metric(
    id="trigger_f1",
    version=2,
    title="Trigger F1",
    summary="F1 of the moments at which the output departs from its source, against the trigger's onsets.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="AVENUE, spec section 2.4, objective twin (ours)",
    needs={},
    needs_of=needs_of,
    compute=compute,
    reads=("data",),
    optional=frozenset({"output_frames", "source_frames", "output_sound", "source_sound"}),
)
