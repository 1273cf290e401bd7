"""The skill of the tiny judge: is there a red stripe? Pictures with a known answer, as bytes, from a seed.

Numpy and Pillow only: the tests that ask the questions make their pictures here too.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image

from evaluator.judge import prompts
from evaluator.judge.types import FramesPart, ImagePart, Part, Question

RED = (230, 30, 30)
OTHERS = ((30, 30, 230), (30, 200, 30), (120, 120, 120))
QUESTIONS = (
    "Is there a red stripe?",
    "Is a red stripe visible in the picture?",
    "Does a red stripe go from top to bottom?",
)
HEIGHT, WIDTH, STRIPE = 96, 128, 32

U8 = npt.NDArray[np.uint8]


def background(rng: np.random.Generator) -> U8:
    """[HEIGHT, WIDTH, 3]: soft colour fields with some noise, never strongly red."""
    fields = rng.integers(0, 256, (3, 4, 3), dtype=np.uint8)
    smooth = np.asarray(Image.fromarray(fields).resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR), np.float64)
    noisy = smooth + rng.normal(0, 8, smooth.shape)
    noisy[..., 0] = np.minimum(noisy[..., 0], np.maximum(noisy[..., 1], noisy[..., 2]) + 25)
    return np.asarray(np.clip(noisy, 0, 255), np.uint8)


def striped(picture: U8, colour: Sequence[int], left: int, width: int = STRIPE) -> U8:
    """The picture with a stripe from top to bottom."""
    painted = picture.copy()
    painted[:, left : left + width] = colour
    return painted


def picture(seed: int, red: bool) -> U8:
    """A background with one stripe: red, or of another colour."""
    rng = np.random.default_rng((seed, red))
    colour = RED if red else OTHERS[rng.integers(len(OTHERS))]
    return striped(background(rng), colour, int(rng.integers(0, WIDTH - STRIPE)))


def png(pixels: U8) -> bytes:
    """A picture file."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def evidence(seed: int, red: bool, frames: int = 0) -> Part:
    """A still, or a clip of `frames` frames half a second apart, with the stripe in all of them."""
    if not frames:
        return ImagePart(png(picture(seed, red)), "image/png", "picture")
    files = tuple(png(picture(1000 * seed + k, red)) for k in range(frames))
    return FramesPart(files, tuple(k / 2 for k in range(frames)), "image/png", "picture")


def question(seed: int, red: bool, frames: int = 0, item: str = "") -> Question:
    """One question whose right answer is Yes if `red`, else No, in the project's own yes-or-no prompt."""
    words = QUESTIONS[int(hashlib.sha256(str(seed).encode()).hexdigest(), 16) % len(QUESTIONS)]
    name = item or f"stripe {seed} {'red' if red else 'other'}"
    return prompts.load("yes_no").ask(name, [evidence(seed, red, frames)], {"question": words})


def right_label(red: bool) -> str:
    """The right answer."""
    return "Yes" if red else "No"
