"""Cases and records of MultiRef-Compass for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evaluator.media.types import Frames
from evaluator.schema import Case, ModelRef, Reason, Reference, Score, Status, Tier
from tests.experts.pictures import frames_of

PROMPT = 'Mia and a red robot stand in a kitchen. Mia says "Hello there". A door slams, then the robot waves.'
ENTITIES = [
    {"entity_id": "mia", "kind": "human", "name": "Mia", "slot": 1},
    {"entity_id": "robot", "kind": "object", "name": "a red robot", "slot": 2},
]


def view(entity: str) -> Reference:
    return Reference("image", Path(f"/{entity}.png"), "view", entity)


def case(  # every field has a default
    name: str = "s/x",
    system: str = "x",
    board: str = "B3",
    references: tuple[Reference, ...] = (view("mia"), view("robot")),
    facts: dict[str, Any] | None = None,
    checklist: list[dict[str, Any]] | None = None,
    labels: dict[str, Any] | None = None,
    **data: Any,
) -> Case:
    """A case of a system."""
    return Case(
        id=name,
        suite="multiref_compass",
        video=Path("/v.mp4"),
        system=system,
        prompt=PROMPT,
        references=references,
        checklist=tuple(checklist) if checklist is not None else None,
        labels=labels or {},
        data={
            "sample": name.partition("/")[0],
            "board": board,
            "entities": ENTITIES,
            "facts": facts or {},
            **data,
        },
    )


def item(name: str, category: str, **more: Any) -> dict[str, Any]:
    """One checklist item that obeys the rules."""
    subdim = {"subdim": "Detail"} if category == "VTF" else {}
    return {"id": name, "category": category, "question": "Is it so?", "source_span": "a red robot", **subdim, **more}


def flat(level: int, count: int = 1) -> Frames:
    """Flat pictures."""
    return frames_of(np.full((count, 32, 40, 3), level, np.uint8))


def record(
    metric: str,
    value: float | None,
    case: str = "s/x",
    system: str = "x",
    reason: str = "no_judge",
    message: str = "",
    stand_in: bool = False,
    failed: bool = False,
    **details: Any,
) -> Score:
    """One score."""
    model = (ModelRef("m", "0" * 64, Tier.EMBEDDED, "Something"),) if stand_in else ()
    status = Status.OK if value is not None else Status.FAILED if failed else Status.SKIPPED
    why = Reason(reason, message or reason) if value is None else None
    return Score(case, "multiref_compass", system, metric, value, status, why, None, details, model, "paper", "f")
