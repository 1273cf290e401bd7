"""The shots that lab clips are joined from: real ones, cut where their clips cut, each in one split.

A shot that is shorter than asked is played to its end and back again, so that motion never jumps. A virtual camera may
slide over it. A shot is used in one split only, so that nothing learnt on one split was seen in the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np

from evaluator.errors import PrerequisiteError
from evaluator.media.decode import CollectTap, decode
from evaluator.media.probe import probe
from evaluator.media.types import U8
from evaluator.schema import Filter, Fit, Sampling, View
from evaluator.suites.cutcraft.lab.recipe import HEIGHT, WIDTH
from evaluator.suites.cutcraft.lab.wheel_shots import read

MARGIN = 1.4
"""A shot is kept this much larger than a picture of the lab, so that the camera has somewhere to go."""


@dataclass(frozen=True, slots=True)
class ShotSource:
    """Frames [first, end) of one file, chosen by eye; an empty file name stands for `wheel_shots`."""

    file: str
    first: int
    end: int
    split: str


SHOTS: dict[str, ShotSource] = {
    "bus": ShotSource("bikes.mp4", 0, 30, "development"),
    "tram": ShotSource("bikes.mp4", 78, 136, "development"),
    "rabbit": ShotSource("bigbuckbunny.mp4", 0, 132, "development"),
    "taxi": ShotSource("bikes.mp4", 31, 75, "development"),
    "street": ShotSource("bikes.mp4", 138, 186, "development"),
    "door": ShotSource("bikes.mp4", 188, 241, "development"),
    "driver": ShotSource("carphone_pristine.mp4", 0, 120, "development"),
    "crossing": ShotSource("bikes.mp4", 242, 250, "held-out"),
    "junction": ShotSource("", 0, 17, "held-out"),
    "ball": ShotSource("", 0, 17, "held-out"),
    "shop": ShotSource("", 0, 2, "held-out"),
}
"""Shots of the demo clips (evaluator.demo makes them) and, without a file, those of `wheel_shots`."""


def every_shot(folder: Path, wheels: Path) -> dict[str, U8]:
    """All shots by name, at MARGIN times the lab's size. Raises PrerequisiteError if something is not there."""
    return {
        name: load(folder / one.file, one.first, one.end) if one.file else enlarged(read(name, wheels))
        for name, one in SHOTS.items()
    }


@lru_cache(maxsize=16)
def load(path: Path, first: int, end: int) -> U8:
    """Frames [first, end) of a file, [N, H, W, 3] at MARGIN times the lab's size, cropped to its aspect.

    Raises PrerequisiteError if the file is not there.
    """
    if not path.is_file():
        raise PrerequisiteError(f"The lab needs {path}, which is not here. Run: ./run.sh setup")
    info = probe(path)
    view = View(Sampling("ranges", (((first, end),),)), Fit.NATIVE, filter=Filter.BICUBIC)
    tap = CollectTap(info)
    decode(path, info, [(view, tap)], [])
    return enlarged(tap.close().data)


def enlarged(frames: U8) -> U8:
    """[N, H, W, 3] -> the same at MARGIN times the lab's size, cropped to its aspect."""
    return np.stack([_enlarged(frame) for frame in frames])


def _enlarged(frame: U8) -> U8:
    height, width = frame.shape[:2]
    scale = MARGIN * max(WIDTH / width, HEIGHT / height)
    size = round(width * scale), round(height * scale)
    large = cv2.resize(frame, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    top, left = (size[1] - round(HEIGHT * MARGIN)) // 2, (size[0] - round(WIDTH * MARGIN)) // 2
    return np.asarray(large[top : top + round(HEIGHT * MARGIN), left : left + round(WIDTH * MARGIN)], np.uint8)


def there_and_back(count: int, length: int) -> list[int]:
    """`count` positions 0, 1, ... length - 1, length - 2, ... 1, 0, 1, ... in a shot of `length` frames."""
    period = max(1, 2 * (length - 1))
    return [min(place % period, period - place % period) if length > 1 else 0 for place in range(count)]


def filmed(shot: U8, count: int, speed: float) -> U8:
    """[count, HEIGHT, WIDTH, 3]: a camera over a shot, `speed` pixels per frame, and back at the border."""
    room = shot.shape[2] - WIDTH, shot.shape[1] - HEIGHT
    frames = []
    for number, place in enumerate(there_and_back(count, len(shot))):
        x = there_and_back_at(number * speed, room[0])
        y = room[1] / 2
        frames.append(cv2.getRectSubPix(shot[place], (WIDTH, HEIGHT), (x + (WIDTH - 1) / 2, y + (HEIGHT - 1) / 2)))
    return np.stack(frames)


def there_and_back_at(distance: float, room: float) -> float:
    """Where a camera is that has gone `distance` between 0 and `room`."""
    place = distance % (2 * room)
    return min(place, 2 * room - place)
