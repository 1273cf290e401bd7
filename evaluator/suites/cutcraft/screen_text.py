"""Words on screen as evidence, where a case asks for them (`data.text_fps`); off otherwise, in every profile.

Told to the judge where words can decide, as one line among the measurements:

    A2        an event of the script may be something written: a title card, a sign, a message that is read
    A3        what follows from what may be said by an intertitle or a letter (the stored question alone: recomposed
              clips have a clock of their own)
    C1        inserts and intertitles tell kinds of montage apart (dialogue, reflexive, attractions, metaphorical)
    D1        an insert or a cutaway is known by what stands on it, and a cause or a punch line may be written

Not told where words say nothing (the camera of E1, the rhythm of B3, the sound of D3) or mislead: in E3, broken letters
are a fault that is looked for, and a reader mends them. What was read comes out of somebody's picture: it travels as
data and changes no question. The paper's judge was told nothing of the kind; a record says that this one was. Knows
the feature, not the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.experts.features import SpottedText
from evaluator.judge.evidence_text import Fact
from evaluator.metrics.base import Unserved
from evaluator.schema import Case, ExpertNeed, Need, Sampling
from evaluator.suites.cutcraft.alignment import Span

NAME = "screen_text"
"""Of the need."""
OPTION = "text_fps"
"""In a case's `data`: pictures a second that are read."""
MOST_FRAMES = 64
"""Pictures that are read, from the first on; where there are more, the line for the judge says until when."""
LINES, CHARACTERS = 16, 80
"""Most lines told in a question, the largest, and most characters of a line."""
READ = "words on screen, read by a program (seconds, box in % of the picture, confidence)"


@dataclass(frozen=True, slots=True)
class Words:
    """One line of text as long as it stays: equal text on pictures that were read one after another."""

    text: str
    span: Span  # seconds of the first and of the last of these pictures
    box: tuple[float, float, float, float]  # left, top, right, bottom, shares of the picture, where it is largest
    score: float  # the highest

    @property
    def area(self) -> float:
        """Share of the picture."""
        return (self.box[2] - self.box[0]) * (self.box[3] - self.box[1])

    def __str__(self) -> str:
        """Quoted, so that a text cannot pass for two, or for a time."""
        short = self.text if len(self.text) <= CHARACTERS else self.text[: CHARACTERS - 1] + "…"
        place = " ".join(f"{100 * one:.0f}" for one in self.box)
        quoted = json.dumps(short, ensure_ascii=False)
        return f"{quoted} {self.span[0]:.2f}-{self.span[1]:.2f} s, box {place}, {self.score:.2f}"


def needs(case: Case) -> Mapping[str, Need]:
    """What is read of a case: nothing unless it asks."""
    rate = case.data.get(OPTION)
    if rate is None:
        return {}
    return {NAME: ExpertNeed("text_spotting", sampling=Sampling("stride", (float(rate), MOST_FRAMES)))}


def fact(media: Mapping[str, Any], *spans: Span) -> Mapping[str, Fact]:
    """The line for the judge, of stretches of the clip (seconds from its first frame) or all of it; empty if none of
    their pictures was read."""
    found = media.get(NAME)
    if not isinstance(found, SpottedText):
        return {}
    whole = spans or ((0.0, np.inf),)
    inside = [one for one in lines(found) if any(one.span[1] >= low and one.span[0] < high for low, high in whole)]
    seconds = found.time - found.time[:1]
    if not inside and not any(((seconds >= low) & (seconds < high)).any() for low, high in whole):
        return {}
    largest = sorted(inside, key=lambda one: -one.area)[:LINES]
    told = "; ".join(str(one) for one in sorted(largest, key=lambda one: (one.span, one.box[1], one.box[0])))
    until = f" (pictures were read until {seconds[-1]:.2f} s)" if len(seconds) == MOST_FRAMES else ""
    return {READ: (told or "none") + until}


def lines(found: SpottedText) -> list[Words]:
    """What was read, repeats joined, in the order in which it appears."""
    open_until: dict[str, tuple[int, int]] = {}  # text -> last row, place in `joined`
    joined: list[Words] = []
    for row, text, corners, score in zip(found.row.tolist(), found.text, found.corners, found.score, strict=True):
        second = float(found.time[row] - found.time[0])
        now = Words(text, (second, second), _box(corners), float(score))
        last, place = open_until.get(text, (-2, -1))
        if row - last > 1:
            open_until[text] = row, len(joined)
            joined.append(now)
        else:
            open_until[text] = row, place
            joined[place] = _longer(joined[place], now)
    return joined


def record(case: Case, media: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a record says of the reading; empty unless it was asked for."""
    if OPTION not in case.data or case.data[OPTION] is None:
        return {}
    found = media.get(NAME)
    if isinstance(found, SpottedText):
        return {"screen_text": {"status": "read", "frames": len(found.index), "lines": len(lines(found))}}
    why = found.message if isinstance(found, Unserved) else "the clip has no picture"
    return {"screen_text": {"status": "unavailable", "message": why}}


def _longer(before: Words, now: Words) -> Words:
    larger = max(before, now, key=lambda one: one.area)
    return Words(before.text, (before.span[0], now.span[1]), larger.box, max(before.score, now.score))


def _box(corners: np.ndarray[Any, np.dtype[np.float32]]) -> tuple[float, float, float, float]:
    (left, top), (right, bottom) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    return left, top, right, bottom


def both(shots: Sequence[Span | None], place: int) -> tuple[Span, ...]:
    """From the beginning of a shot to the end of the next; none (the whole clip) if one of them is missing."""
    before, after = shots[place], shots[place + 1]
    return ((before[0], after[1]),) if before is not None and after is not None else ()
