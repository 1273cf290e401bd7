"""Small questions whose only purpose is to find out how a judge behaves. The answers mean nothing and are never scored.

Pictures and sounds are computed here, so that a check needs no clip. Knows the vocabulary only.
"""

from __future__ import annotations

import hashlib
import io
import wave
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

from evaluator.judge.prompts import modality
from evaluator.judge.types import AudioPart, FramesPart, ImagePart, Modality, Part, Question, TextPart

YES_NO = ("Yes", "No")
SIDE = 64  # pixels; two merged patches of the model on each side
SOUND_RATE = 16_000  # samples a second
LOOK = "Is this dark? Answer Yes or No."


def question(text: str, media: Sequence[Part] = (), labels: tuple[str, ...] = YES_NO, name: str = "probe") -> Question:
    """A label question about generated evidence."""
    return Question(
        item=name,
        task="probe",
        prompt_sha256=hashlib.sha256(text.encode()).hexdigest(),
        parts=(*media, TextPart(text)),
        labels=labels,
        modalities=frozenset({Modality.TEXT}) | set(map(modality, media)),
    )


def json_question(word: str) -> Question:
    """A question whose schema allows one answer only: {"word": word}."""
    text = "Answer with a JSON object."
    return Question(
        item="probe",
        task="probe",
        prompt_sha256=hashlib.sha256(text.encode()).hexdigest(),
        parts=(TextPart(text),),
        answer_schema=json_schema(word),
        max_tokens=48,
    )


def json_schema(word: str) -> Mapping[str, Any]:
    """A schema with exactly one member."""
    return {
        "type": "object",
        "properties": {"word": {"type": "string", "enum": [word]}},
        "required": ["word"],
        "additionalProperties": False,
    }


def image(seed: int) -> ImagePart:
    """A picture of stripes; another one for every seed."""
    return ImagePart(_png(seed), "image/png")


def frames(seed: int, times: Sequence[float] = (0.0, 0.5, 1.0, 1.5)) -> FramesPart:
    """A clip of stripes that change."""
    return FramesPart(tuple(_png(seed * 100 + at) for at in range(len(times))), tuple(times), "image/png")


def sound(seed: int) -> AudioPart:
    """A second of a tone; another pitch for every seed."""
    moments = np.arange(SOUND_RATE) / SOUND_RATE
    samples = np.round(8000 * np.sin(2 * np.pi * 110 * (seed + 2) * moments)).astype("<i2")  # [16000]
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(SOUND_RATE)
        writer.writeframes(samples.tobytes())
    return AudioPart(file.getvalue())


def mixed(count: int, modalities: frozenset[Modality]) -> list[Question]:
    """`count` different label questions that take turns through what the judge takes in."""
    kinds = [kind for kind in Modality if kind in modalities]
    return [_one(number, kinds[number % len(kinds)]) for number in range(count)]


def _one(number: int, kind: Modality) -> Question:
    makers: Mapping[Modality, Callable[[int], Part]] = {
        Modality.IMAGE: image,
        Modality.VIDEO: frames,
        Modality.AUDIO: sound,
    }
    media = (makers[kind](number),) if kind in makers else ()
    return question(f"Question {number}. {LOOK}", media, name=f"probe {number}")


def _png(seed: int) -> bytes:
    """Vertical stripes in two colours that follow from the seed."""
    colours = np.random.default_rng(seed).integers(0, 256, (2, 3), dtype=np.uint8)
    columns = np.arange(SIDE) // (4 + seed % 5) % 2  # [64]
    file = io.BytesIO()
    Image.fromarray(np.broadcast_to(colours[columns], (SIDE, SIDE, 3)).copy()).save(file, "PNG")
    return file.getvalue()
