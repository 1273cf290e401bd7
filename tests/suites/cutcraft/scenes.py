"""Synthetic shots and joins for tests: textured planes under a moving camera, and bands of noise as their sounds."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from evaluator.experts.features import ShotScores
from evaluator.media.types import Audio, ClipInfo, Frames
from evaluator.suites.cutcraft.lab.picture import joined
from evaluator.suites.cutcraft.lab.recipe import RATE, Recipe
from evaluator.suites.cutcraft.labels import Relation

F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]


def recipe(kind: str, effect: float, speeds: tuple[float, float] = (0.0, 0.0), seed: int = 0) -> Recipe:
    """A silent recipe of the lab with this change of pictures."""
    return Recipe(
        name="test",
        split="development",
        kind=kind,
        effect_seconds=effect,
        shots=("a", "b"),
        speeds=speeds,
        relation=Relation.STRAIGHT,
        offset=0.0,
        overlap=False,
        crossfade=0.0,
        sounds=("", ""),
        bed="",
        floor=0.0,
        seed=seed,
    )


def plane(seed: int, hue: tuple[float, float, float], height: int = 90, width: int = 480) -> U8:
    """A textured picture [height, width, 3] with a colour of its own."""
    draw = np.random.RandomState(seed)
    picture = np.tile(np.asarray(hue, np.float32), (height, width, 1))
    for octave in (3, 4, 5, 6):
        noise = draw.standard_normal((2**octave, 2**octave, 3)).astype(np.float32)
        picture += 60.0 / octave * cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.clip(picture, 0, 255).astype(np.uint8)


def pan(picture: U8, speed: float, count: int, width: int = 160) -> U8:
    """[count, H, width, 3]: a camera that slides by `speed` pixels a frame, and back at the end."""
    room = picture.shape[1] - width
    places = [round(k * speed) % (2 * room) for k in range(count)]
    return np.stack([picture[:, min(x, 2 * room - x) :][:, :width] for x in places])


def join(one: Recipe, count: int) -> U8:
    """Two unlike scenes joined as the recipe says; the change is at the lab's CUT."""
    a = pan(plane(one.seed + 1, (70, 90, 140)), one.speeds[0], count)
    b = pan(plane(one.seed + 2, (150, 130, 60)), one.speeds[1], count)
    return joined(a, b, one)


def frames(pictures: U8, rate: float = RATE) -> Frames:
    """As the view of every frame would hand them over, 80 x 45."""
    small = np.stack([cv2.resize(picture, (80, 45), interpolation=cv2.INTER_AREA) for picture in pictures])
    return Frames(small, np.arange(len(small)), np.arange(len(small)) / rate, ClipInfo("mp4", None, None))


def scores(count: int, runs: dict[int, float], rate: float = RATE) -> ShotScores:
    """Transition probabilities that are 0 but at the given frames."""
    probability = np.zeros(count, np.float32)
    for frame, value in runs.items():
        probability[frame] = value
    return ShotScores(probability, np.arange(count) / rate, rate)


def band(low: float, high: float, seconds: float, seed: int, rate: int = 22_050) -> F64:
    """Noise between two frequencies at RMS 0.1."""
    from scipy.signal import butter, sosfilt

    noise = np.random.RandomState(seed).standard_normal(round(seconds * rate))
    sound = sosfilt(butter(4, (low, high), "bandpass", fs=rate, output="sos"), noise)
    return np.asarray(0.1 * sound / np.sqrt(np.mean(np.square(sound))))


def bridged(begins: float, ends: float, seconds: float = 10.0, fade: float = 0.0, rate: int = 22_050) -> Audio:
    """Spec 15.6: a low scene until `ends`, a high one from `begins`, both in between or neither."""
    time = np.arange(round(seconds * rate)) / rate

    def rise(at: float) -> F64:
        return np.clip((time - at) / fade + 0.5, 0, 1) if fade else (time >= at).astype(np.float64)

    low, high = band(200, 900, seconds, 1), band(1500, 5000, seconds, 2)
    return as_audio(low * (1 - rise(ends)) + high * rise(begins), rate)


def as_audio(samples: F64, rate: int = 22_050) -> Audio:
    return Audio(np.round(32767 * np.clip(samples, -1, 1)).astype(np.int16), rate, present=True)
