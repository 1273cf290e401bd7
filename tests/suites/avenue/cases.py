"""Cases and media of AVENUE for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evaluator.media.types import Audio, Frames
from evaluator.schema import Case, ModelRef, Reason, Reference, Score, Status, Tier
from tests.experts.pictures import frames_of
from tests.experts.sounds import sound

MATCHED = {"seconds": 2.0, "frames": 50, "span": 1.96, "systems": ["s"]}


def case(scope: str = "A", name: str = "x/s", system: str = "s", rival: str = "", **data: Any) -> Case:
    """A case of a system; `rival` makes it a pairwise one."""
    references = (Reference("video", Path("/r.mp4"), "rival", rival),) if rival else ()
    base = {
        "instance": name.partition("/")[0],
        "scope": scope,
        "edit_type": "made up",
        "what_changed": ["a bell rings"],
        "what_preserved": {"audio": ["wind"], "video": ["a tree"]},
        "target_prompt": {"audio": "a bell in the wind", "video": "a tree"},
        "matched": MATCHED,
    }
    return Case(
        id=name,
        suite="avenue",
        video=Path("/v.mp4"),
        system=system,
        source=Path("/s.mp4"),
        prompt="Let a bell ring.",
        references=references,
        data={**base, **data},
    )


def pictures(level: int = 90, count: int = 8) -> Frames:
    """Flat frames, a quarter of a second apart on a clip of two seconds."""
    data = np.full((count, 24, 32, 3), level, np.uint8)
    return frames_of(data, np.arange(count) * 6, 50)


def tone(frequency: float = 440.0, seconds: float = 2.0) -> Audio:
    """A sine wave."""
    return sound(0.3 * np.sin(2 * np.pi * frequency * np.arange(round(seconds * 16_000)) / 16_000))


def media(*names: str) -> dict[str, Any]:
    """The media of a judged dimension, by the names of its needs; target and source differ."""
    made = {
        "target_frames": pictures(90),
        "source_frames": pictures(140),
        "target_sound": tone(440),
        "source_sound": tone(300),
    }
    return {name: made[name] for name in names or made}


def record(
    metric: str,
    value: float | None,
    case: str = "x/s",
    system: str = "s",
    reason: str = "no_judge",
    message: str = "",
    stand_in: bool = False,
    **details: Any,
) -> Score:
    """One score."""
    model = (ModelRef("m", "0" * 64, Tier.EMBEDDED, "Something"),) if stand_in else ()
    status = Status.SKIPPED if value is None else Status.OK
    why = Reason(reason, message or reason) if value is None else None
    return Score(case, "avenue", system, metric, value, status, why, None, details, model, "paper", "f")
