"""The order of searches and the choice of a face, with detectors that follow a script."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from evaluator.experts.face_geometry import Face, Window
from evaluator.experts.face_search import FULL_EVERY, MTCNN_EVERY, PATIENCE, FaceSearch, choose
from evaluator.media.types import U8

PICTURE = np.zeros((90, 160, 3), np.uint8)
WHOLE = Window.whole(PICTURE)


def face(left: float, side: float = 20.0, score: float = 0.9) -> Face:
    return Face(np.array([left, 10, left + side, 10 + side], np.float32), np.zeros((2, 2), np.float32), score)


class Script:
    """Stands for all detectors: `sees(frame, name)` gives faces. Remembers who was asked in which frame."""

    def __init__(self, sees: Callable[[int, str], list[Face]], mouth: float = 0.1) -> None:
        self.sees = sees
        self.asked: list[list[str]] = []
        self.mouths = 0
        self._mouth = mouth

    def look(self, search: FaceSearch, frames: int) -> list[tuple[str, int] | None]:
        found = []
        for _ in range(frames):
            self.asked.append([])
            sighting = search.look(PICTURE)
            found.append((sighting.detector, sighting.count) if sighting else None)
        return found

    def answer(self, name: str) -> list[Face]:
        self.asked[-1].append(name)
        return self.sees(len(self.asked) - 1, name)

    def mouth(self, picture: U8, seen: Face) -> float:
        self.mouths += 1
        return self._mouth


class Detector:
    def __init__(self, script: Script, name: str) -> None:
        self.script, self.name = script, name

    def find(self, picture: U8, window: Window = WHOLE) -> list[Face]:
        return self.script.answer(self.name if window == WHOLE else f"{self.name} near")


def search(script: Script) -> FaceSearch:
    short, full, mtcnn = (Detector(script, name) for name in ("short", "full", "mtcnn"))
    return FaceSearch(short, full, mtcnn, script.mouth)  # type: ignore[arg-type]


def test_the_first_detector_that_sees_a_face_ends_the_search() -> None:
    script = Script(lambda frame, name: [face(10), face(60)] if name == "short" else [])
    assert script.look(search(script), 3) == [("blazeface", 2)] * 3
    assert script.asked == [["short"]] * 3


def test_costly_detectors_run_on_schedule_only() -> None:
    script = Script(lambda frame, name: [])
    assert script.look(search(script), 30) == [None] * 30
    for frame, asked in enumerate(script.asked):
        due = ["full"] * (frame % FULL_EVERY == 0) + ["mtcnn"] * (frame % MTCNN_EVERY == 0)
        assert asked == ["short", *due]


def test_a_small_face_found_once_is_followed_in_its_surroundings() -> None:
    script = Script(lambda frame, name: [face(30)] if name == "short near" or (frame, name) == (0, "mtcnn") else [])
    assert script.look(search(script), 5) == [("mtcnn", 1)] + [("blazeface", 1)] * 4
    assert script.asked[1:] == [["short", "short near"]] * 4


def test_a_lost_face_is_looked_for_until_patience_ends() -> None:
    script = Script(lambda frame, name: [face(30)] if frame == 0 else [])
    script.look(search(script), PATIENCE + 3)
    near = [frame for frame, asked in enumerate(script.asked) if "short near" in asked]
    assert near == list(range(1, PATIENCE + 1))


@pytest.mark.parametrize(
    ("detector", "score", "mouth", "accepted"),
    [
        ("short", 0.6, 0.1, True),
        ("short", 0.6, math.nan, False),
        ("short", 0.85, math.nan, True),
        ("mtcnn", 0.99, 0.1, True),
        ("mtcnn", 0.99, math.nan, False),
    ],
)
def test_a_doubtful_face_needs_the_mesh(detector: str, score: float, mouth: float, accepted: bool) -> None:
    script = Script(lambda frame, name: [face(10, score=score)] if name == detector else [], mouth)
    assert (script.look(search(script), 1) != [None]) == accepted
    assert script.mouths == 1  # asked once, for the check and for the opening


def test_a_doubtful_face_leaves_the_search_to_the_next_detector() -> None:
    script = Script(lambda frame, name: [face(10, score=0.6 if name == "short" else 0.95)], math.nan)
    assert script.look(search(script), 1) == [("blazeface", 1)]
    assert script.asked == [["short", "full"]]


def test_the_largest_likely_face_is_chosen() -> None:
    small, large, unlikely = face(0, 20, 0.9), face(50, 30, 0.8), face(100, 31, 0.5)
    assert choose([small, large, unlikely], None) is large
    assert choose([small, face(90, 20, 0.9)], None) is small  # a tie goes to the first


def test_the_followed_face_counts_double() -> None:
    before = face(0, 20)
    moved = face(3, 20)
    assert choose([face(50, 27), moved], before) is moved  # 1.8 times the area
    rival = face(50, 30)  # 2.25 times
    assert choose([moved, rival], before) is rival
    assert choose([face(50, 27), moved], face(120, 20)).box[0] == 50
