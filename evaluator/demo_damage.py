"""The damages of the demo clips: known faults, each of which some metric must notice and the others must not.

Pure functions on pictures and samples, with no random numbers. A picture is one planar YUV 4:2:0 frame as PyAV hands it
out, uint8 [H * 3 / 2, W]: luma first, then both chroma planes at half the size. Sound is int16 [channels, samples].
Knows nothing about files or codecs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import cycle

import cv2
import numpy as np

from evaluator.media.types import I16, U8

PictureDamage = Callable[[Iterable[U8]], Iterator[U8]]
"""Pictures in order -> as many pictures in order."""
SoundDamage = Callable[[I16, int], I16]
"""(samples [C, T], rate in Hz) -> samples [C, T]"""

BLUR_SIGMA = 4.0  # luma pixels; at 720p fine texture goes and shapes stay
HOLDS = (3, 1, 4, 2, 5, 1)  # frames for which a picture is held in turn: uneven, so that motion jerks
DELAY = 0.5  # seconds
QUIETER = 20.0  # dB
CHORDS = ((220.0, 277.18, 329.63), (196.0, 246.94, 293.66), (174.61, 220.0, 261.63))  # Hz: A, G and F major triads
CHORD_SECONDS = 0.75
CHORD_LEVEL = 0.25  # peak of the chords over full scale


def same(pictures: Iterable[U8]) -> Iterator[U8]:
    """Every picture as it is: the damage is left to the encoder."""
    yield from pictures


def blurred(pictures: Iterable[U8]) -> Iterator[U8]:
    """Every picture through a Gaussian of BLUR_SIGMA luma pixels."""
    for picture in pictures:
        luma, chroma = _planes(picture)
        soft = [cv2.GaussianBlur(luma, (0, 0), BLUR_SIGMA)]
        soft += [cv2.GaussianBlur(plane, (0, 0), BLUR_SIGMA / 2) for plane in chroma]
        yield np.concatenate([np.asarray(plane, np.uint8).ravel() for plane in soft]).reshape(picture.shape)


def stuttering(pictures: Iterable[U8]) -> Iterator[U8]:
    """Pictures held for HOLDS frames in turn; those that fall into a hold are lost. Length and tempo stay."""
    holds, left, held = cycle(HOLDS), 0, None
    for picture in pictures:
        if held is None or left == 0:
            held, left = picture, next(holds)
        left -= 1
        yield held


def frozen(pictures: Iterable[U8]) -> Iterator[U8]:
    """The first picture for the whole length."""
    held = None
    for picture in pictures:
        held = picture if held is None else held
        yield held


def delayed(samples: I16, rate: int) -> I16:
    """DELAY seconds of silence, then the sound, cut to the old length."""
    late = round(DELAY * rate)
    silence = np.zeros((len(samples), late), np.int16)
    return np.concatenate([silence, samples[:, : samples.shape[1] - late]], axis=1)


def quiet(samples: I16, rate: int) -> I16:
    """The sound QUIETER dB softer."""
    softer: I16 = np.rint(samples * 10 ** (-QUIETER / 20)).astype(np.int16)
    return softer


def replaced(samples: I16, rate: int) -> I16:
    """Three slow chords over and over, the same in every channel: a sound that fits nothing on the screen."""
    length = round(CHORD_SECONDS * rate)
    time = np.arange(length) / rate  # [L]
    fade = np.sin(np.pi * time / CHORD_SECONDS) / len(CHORDS[0])
    bars = [fade * np.sin(2 * np.pi * np.outer(chord, time)).sum(axis=0) for chord in CHORDS]
    tune = np.resize(np.concatenate(bars), samples.shape[1])  # [T]
    mono = np.rint(CHORD_LEVEL * 32767 * tune).astype(np.int16)
    return np.repeat(mono[None], len(samples), axis=0)


def _planes(picture: U8) -> tuple[U8, tuple[U8, U8]]:
    """Luma [H, W] and both chroma planes [H / 2, W / 2] of one frame, without a copy."""
    height, width = picture.shape[0] * 2 // 3, picture.shape[1]
    chroma = picture[height:].reshape(2, height // 2, width // 2)
    return picture[:height], (chroma[0], chroma[1])
