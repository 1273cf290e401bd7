"""Which segment of a clip is which shot of the script: the judge's labels, checked, or the order of the segments.

First way: a label for every segment. Second way, asked only if the first gave nothing usable: which shots are there and
when. Without a usable answer of either, segment i is shot i. How it was decided stands in every record; nothing is kept
between runs but the ledger (the reference keeps failures under a path, D-20). Source: spec 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Question, Status
from evaluator.suites.cutcraft.alignment import DISCARDED, Alignment, Span, Timed, by_labels, by_order, by_times
from evaluator.suites.cutcraft.data import Prompt
from evaluator.suites.cutcraft.flags import Defects

SEGMENTS, PRESENCE = "cut_segments", "cut_presence"
SHORT = {SEGMENTS: 150, PRESENCE: 120}
"""Characters of a description that the reference shows (D-27); many open with words about the camera."""


def script(prompt: Prompt, form: str, defects: Defects) -> str:
    """The numbered shots as the judge reads them."""
    most = SHORT[form] if defects.short_descriptions else None
    return "\n".join(f"{number}: {shot.description[:most]}" for number, shot in enumerate(prompt.shots, 1))


def segments_text(segments: Sequence[Span]) -> str:
    """The segments as the judge reads them."""
    lines = [f"segment {k}: {a:.2f} s to {b:.2f} s ({b - a:.2f} s)" for k, (a, b) in enumerate(segments, 1)]
    return "\n".join(lines)


def segments_question(item: str, prompt: Prompt, segments: Sequence[Span], shown: Any, defects: Defects) -> Question:
    """The first way of asking. `shown` is the evidence."""
    data = {"shots": script(prompt, SEGMENTS, defects), "segments": segments_text(segments)}
    return load(SEGMENTS).ask(item, shown, data)


def presence_question(item: str, prompt: Prompt, shown: Any, defects: Defects) -> Question:
    """The second way of asking."""
    return load(PRESENCE).ask(item, shown, {"shots": script(prompt, PRESENCE, defects)})


def usable(answer: Answer | None, segments: int, shots: int, defects: Defects) -> list[int] | None:
    """Labels from 0 out of the first way's answer; None if it has none that can be trusted.

    Every segment must have a label that is 0 or a number of the script, and one must be of the script. D-20: the
    reference takes any list, and cuts or fills it (`by_labels` does, spec 5).
    """
    if answer is None or answer.status is not Status.OK or not isinstance(answer.value, Mapping):
        return None
    given = answer.value["labels"]
    labels = [label - 1 if isinstance(label, int) and label >= 1 else DISCARDED for label in given]
    if defects.any_labels_align:
        return labels or None
    sound = len(given) == segments and all(0 <= label <= shots for label in given)
    return labels if sound and any(label != DISCARDED for label in labels) else None


def align(prompt: Prompt, segments: Sequence[Span], said: Mapping[str, Answer], defects: Defects) -> Alignment:
    """The alignment by whatever the judge said; by order if that is nothing."""
    spans, count = prompt.spans, len(prompt.shots)
    labels = usable(said.get("align/segments"), len(segments), count, defects)
    if labels is not None:
        return by_labels(labels, segments, spans, defects)
    found = by_times(timed(said.get("align/presence")), segments, count)
    return found if found.accuracy > 0.0 else by_order(segments, spans)


def timed(answer: Answer | None) -> list[Timed]:
    """The second way's answer: shots that the judge saw, and when; empty if it is of no use."""
    if answer is None or answer.status is not Status.OK or not isinstance(answer.value, Mapping):
        return []
    seen = [one for one in answer.value["shots"] if one["status"] != "missing" and one["start"] >= 0]
    return [Timed(int(one["shot"]) - 1, one["start"], one["end"], one["status"] == "merged") for one in seen]
