"""Sound as a picture: log-mel bands over time, one row per sound, one scale for all of them.

Time runs from left to right with a tick and a number each whole step, frequency from 50 Hz (bottom) to half the rate
(top) on a mel scale, level from black (70 dB below the loudest moment of all rows, or less) to white. Levels are
rounded before they become grey, so that the last bit of a sum, which differs between machines, cannot change a byte.
Labels are drawn with Pillow's built-in bitmap font, which no font library can change.

Knows nothing about clips; samples in, pixels out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from evaluator.experts.spectral import hann, mel_bank, mel_spectrogram
from evaluator.media.types import F64, I16, U8

WIDTH = 768
BANDS, BAND_HEIGHT = 96, 2
AXIS = 32  # pixels below each row for ticks and its label
ROW = BANDS * BAND_HEIGHT + AXIS

FFT = 1024  # samples, 64 ms at 16 kHz
HOP = 160  # samples, 10 ms
LOWEST_HZ = 50.0
SPAN_DB = 70.0
SMALLEST_DB = -100.0
QUIET_DB = SMALLEST_DB + SPAN_DB  # white is at least this level: silence is black and not its own loudest moment

STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60)  # seconds between ticks
MOST_TICKS = 12

BLACK, RED = (0, 0, 0), (220, 0, 0)


def mel_picture(tracks: Mapping[str, I16], rate: int, cuts: Sequence[float] = ()) -> U8:
    """[rows x ROW, WIDTH, 3] of the samples [T] of each label; red lines at `cuts` seconds.

    All rows share the time axis of the longest sound. Raises ValueError if there is no sound, or a cut outside it.
    """
    if not tracks or any(len(samples) == 0 for samples in tracks.values()):
        raise ValueError("a mel picture needs at least one sound, and each needs samples")
    seconds = max(map(len, tracks.values())) / rate
    if any(not 0 <= cut <= seconds for cut in cuts):
        raise ValueError(f"cuts {list(cuts)}: expected times within 0 to {seconds:.3f} s")
    levels = [mel_level(samples, rate) for samples in tracks.values()]
    white = max(QUIET_DB, *(float(level.max()) for level in levels))
    image = Image.new("RGB", (WIDTH, ROW * len(levels)), (255, 255, 255))
    for place, (label, samples, level) in enumerate(zip(tracks, tracks.values(), levels, strict=True)):
        columns = max(1, round(WIDTH * len(samples) / rate / seconds))
        image.paste(Image.fromarray(_grey(_columns(level, columns), white)), (0, place * ROW))
        _annotate(ImageDraw.Draw(image), place * ROW, label, seconds, cuts)
    return np.asarray(image)


def mel_level(samples: I16, rate: int) -> F64:
    """Power per Hz in dB, [frames, BANDS], a frame each HOP samples, centred; a loud tone is at about 30."""
    bank = mel_bank(rate, FFT, BANDS, LOWEST_HZ, rate / 2, "htk", unit_area=True)
    padded = np.pad(samples.astype(np.float64) / 32768, FFT // 2)
    power = mel_spectrogram(padded, hann(FFT, FFT), HOP, bank, power=2)
    return np.asarray(10.0 * np.log10(np.maximum(power, 10.0 ** (SMALLEST_DB / 10.0))))


def _columns(level: F64, columns: int) -> F64:
    """[columns, BANDS]: the loudest frame of each column, so that a short onset survives in a long clip."""
    starts = np.arange(columns) * len(level) // columns
    if len(level) <= columns:
        return np.asarray(level[starts])
    return np.asarray(np.maximum.reduceat(level, starts, axis=0))


def _grey(level: F64, white: float) -> U8:
    """[BANDS x BAND_HEIGHT, columns, 3], the highest band on top."""
    share = np.round(np.clip((level - (white - SPAN_DB)) / SPAN_DB, 0.0, 1.0), 3)
    grey = np.round(255.0 * share).astype(np.uint8).T[::-1]  # [BANDS, columns]
    return np.repeat(np.repeat(grey, BAND_HEIGHT, axis=0)[..., None], 3, axis=2)


def _annotate(draw: ImageDraw.ImageDraw, top: int, label: str, seconds: float, cuts: Sequence[float]) -> None:
    bottom, font = top + BANDS * BAND_HEIGHT, ImageFont.load_default_imagefont()
    for moment in _ticks(seconds):
        x = _x(moment, seconds)
        draw.line((x, bottom, x, bottom + 5), fill=BLACK)
        draw.text((min(x + 2, WIDTH - 40), bottom + 6), f"{moment:g} s", fill=BLACK, font=font)
    draw.text((WIDTH - 8 - 6 * len(label), bottom + 18), label, fill=RED, font=font)
    for cut in cuts:
        x = _x(cut, seconds)
        draw.line((x, top, x, bottom - 1), fill=RED)


def _ticks(seconds: float) -> list[float]:
    step = next((step for step in STEPS if seconds / step <= MOST_TICKS), STEPS[-1])
    return [round(k * step, 1) for k in range(int(seconds / step) + 1)]


def _x(moment: float, seconds: float) -> int:
    return round(moment / seconds * (WIDTH - 1))
