"""A made-up script of three shots, media that fit it, and a metric heard by a judge whose answers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evaluator.experts.features import AudioTags, Embeddings, FaceTrack
from evaluator.media.types import Audio, ClipInfo, Frames, VideoInfo
from evaluator.schema import Case
from tests.suites.cutcraft.scenes import band, frames, join, recipe, scores

RATE = 24.0
COUNT = 172  # frames: two shots of the lab, cut at 3.6 s
CUT = 3.6


def camera(**changed: str) -> dict[str, str]:
    return {
        "shot_scale": "MS",
        "angle": "Eye-Level Shot",
        "camera_motion": "Static (Locked-Off)",
        "optical_motion": "None",
        "depth_of_field": "Deep Focus",
        **changed,
    }


def cut(
    kind: str = "match on action", optical: str = "hard cut (straight cut)", sound: str = "L-cut"
) -> dict[str, Any]:
    return {
        "cinematographic_type": kind,
        "optical_effect": optical,
        "audio_visual_relation": sound,
        "timing_offset_seconds": 0,
        "transition_duration_seconds": 0,
        "description": "one thing leads to another",
    }


def shot(number: int, start: float, end: float, thread: int = 0, **more: Any) -> dict[str, Any]:
    text = f"Shot {number} [{start:05.2f}-{end:05.2f}s]: scene {number}"
    return {
        "shot_id": number,
        "description_prompt": text,
        "camera": camera(),
        "event_coherence_label": thread,
        **more,
    }


def question(dimension: str, options: list[str], key: str = "A", **more: Any) -> dict[str, Any]:
    return {
        "question_id": f"q_{dimension}",
        "dimension": dimension,
        "type": "single_choice",
        "question": f"the {dimension} question",
        "options": [f"{letter}. {text}" for letter, text in zip("ABCDE", options, strict=False)],
        "correct_answer": key,
        **more,
    }


QUESTIONS = [
    question("A2", ["one --> two", "two --> one", "one --> three", "none of these"]),
    question("A3", ["because", "by chance", "by mistake", "none"], "B"),
    question("C1", ["Sequential Montage", "Parallel Montage", "Contrast Montage", "Lyrical Montage"]),
    question("E3", ["Yes", "No"]),
    question("E1", ["CU - POV", "MS - Eye-Level", "LS - Low-Angle", "none"], "B", target_shot_id=2),
    question("D1", ["Contrast Cut", "Match on Action / Action Match", "POV Cut", "none"], "B", target_shot_id="1-2"),
]


def case(*shots: dict[str, Any], labels: dict[str, Any] | None = None, **data: Any) -> Case:
    two = shots or (shot(1, 0, 3.6, transition_to_next=cut()), shot(2, 3.6, 7.2))
    return Case(
        id="1/lab",
        suite="cutcraft",
        video=Path("1_a.mp4"),
        system="lab",
        prompt="A film of two scenes.",
        checklist=tuple(QUESTIONS),
        shots=two,
        labels=labels or {},
        data={
            "prompt_id": 1,
            "title": "Two",
            "source_seed": "Sequential Montage_Things_Documentary Style_2",
            "editing_style": "Sequential Montage: no contrast of scenes.",
            "number_of_shots": len(two),
            **data,
        },
    )


def info(count: int = COUNT) -> ClipInfo:
    times = np.arange(count) / RATE
    video = VideoInfo("h264", 320, 180, "yuv420p", "bt709", False, 0, (1, 1), times, count / RATE)
    return ClipInfo("mp4", video, None)


def media(kind: str = "hard cut", effect: float = 0.0) -> dict[str, Any]:
    """What any dimension of profile `paper` may need of a clip of two scenes that change at CUT."""
    one = recipe(kind, effect)
    pictures = join(one, COUNT)
    seen = {round(CUT * RATE) - 1: 0.9} if kind == "hard cut" else {round(CUT * RATE): 0.8}
    rows = np.arange(0, COUNT, 6)
    some = Frames(pictures[rows], rows, rows / RATE, info())
    flow = np.arange(0, COUNT, 3)
    looks = np.where(rows[:, None] / RATE < CUT, [1.0, 0.0], [0.6, 0.8]).astype(np.float32)
    low, high = band(200, 900, 7.2, 1), band(1500, 5000, 7.2, 2)
    time = np.arange(len(low)) / 22_050
    track = low * (time < CUT + 0.8) + high * (time >= CUT + 0.8)
    return {
        "pictures": frames(pictures),
        "scores": scores(COUNT, seen),
        "frames": some,
        "sound": _audio(track[:: 22_050 // 16_000 or 1], 16_000),
        "track": _audio(track, 22_050),
        "tags": AudioTags(np.full((14, len(TAGS)), 0.2, np.float32), TAGS, 0.48),
        "flow": Frames(pictures[flow][..., :1], flow, flow / RATE, info()),
        "looks": Embeddings(looks, rows),
        "halves": Embeddings(looks[::2][:16], rows[::2][:16]),
        "clip": info(),
        "faces": _faces(),
    }


TAGS = (
    "Music",
    "Happy music",
    "Sad music",
    "Tender music",
    "Exciting music",
    "Angry music",
    "Scary music",
)


def _audio(samples: Any, rate: int) -> Audio:
    return Audio(np.round(32767 * np.clip(samples, -1, 1)).astype(np.int16), rate, present=True)


def _faces() -> FaceTrack:
    none = np.full(COUNT, np.nan, np.float32)
    box = np.full((COUNT, 4), np.nan, np.float32)
    box[:10] = (0.4, 0.3, 0.6, 0.7)
    return FaceTrack(
        np.arange(COUNT), np.arange(COUNT) / RATE, none, box, np.zeros(COUNT, np.int64), none, ("",) * COUNT
    )


def needed(metric: Any, one: Case, given: dict[str, Any]) -> dict[str, Any]:
    """Those of the media that a metric needs."""
    return {name: given[name] for name in metric.needs_for(one)}
