"""Sounds for tests of the audio experts: signals from formulas, and speech where the machine has some."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from math import gcd
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile
from scipy.signal import resample_poly

from evaluator.media.types import Audio
from evaluator.schema import AudioView

ROOT = Path(__file__).resolve().parents[2]
WHEELS = Path(os.environ.get("EVALUATOR_STORE") or ROOT / "models" / "store") / "wheels"
RATE = 16_000
READINGS = "moonshine_voice-*.whl"
"""A package with recorded readings: `beckett`, `two_cities`, `endgame_nagg_nell`, `clone-test`, by several voices."""


def sound(values: npt.ArrayLike) -> Audio:
    """Audio from values in [-1, 1]."""
    scaled = np.clip(np.round(32767 * np.asarray(values, np.float64)), -32768, 32767)
    return Audio(scaled.astype(np.int16), RATE, True)


def times(duration: float) -> npt.NDArray[np.float64]:
    """Sample times [T] in seconds."""
    return np.arange(round(duration * RATE)) / RATE


def lcg(count: int, state: int = 12_345) -> npt.NDArray[np.float64]:
    """The linear congruential noise of AVE-Compass 12.5, in [-1, 1)."""
    values = np.empty(count)
    for k in range(count):
        state = (1_103_515_245 * state + 12_345) % 2**31
        values[k] = 2 * state / 2**31 - 1
    return values


def golden_signals() -> dict[str, Audio]:
    """The five signals of AVE-Compass 12.5, three seconds each."""
    t = times(3.0)
    return {
        "tone": sound(0.5 * np.sin(2 * np.pi * 440 * t)),
        "noise": sound(0.1 * lcg(len(t))),
        "sweep": sound(0.3 * np.sin(2 * np.pi * (100 * t + 1150 * t**2))),
        "beat": sound(0.4 * np.sin(2 * np.pi * 200 * t) * (0.5 + 0.5 * np.sin(2 * np.pi * 4 * t))),
        "zeros": sound(0 * t),
    }


def with_noise(audio: Audio, snr: float, seed: int = 0) -> Audio:
    """White noise at `snr` dB below the sound."""
    clean = audio.samples / 32768
    noise = np.random.default_rng(seed).standard_normal(len(clean))
    noise *= np.sqrt((clean**2).mean() / 10 ** (snr / 10)) / noise.std()
    return sound(clean + noise)


def part(audio: Audio, start: float, end: float) -> Audio:
    """The samples between two times in seconds."""
    return Audio(audio.samples[round(start * RATE) : round(end * RATE)], RATE, True)


def clip_sound(path: Path, rate: int = RATE) -> Audio:
    """The sound of a media file, as the experts get it."""
    from evaluator.media.decode import decode
    from evaluator.media.probe import probe

    found, _ = decode(path, probe(path), [], [AudioView(rate)])
    return found[AudioView(rate)]


def readings() -> dict[str, Audio]:
    """Recorded voices from the package READINGS in the wheel folder of the model store; empty if it is not there."""
    found: dict[str, Audio] = {}
    for wheel in sorted(WHEELS.glob(READINGS))[:1]:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if member.endswith(".wav"):
                    found[Path(member).stem] = _wave(archive.read(member))
    return found


def speech_sources() -> Iterator[tuple[str, Audio]]:
    """Clean speech of four seconds and more, best source first: a recorded reading, a talking head, a synthesiser."""
    if "beckett" in (voices := readings()):
        yield "reading", part(voices["beckett"], 0, 9)
    clip = ROOT.parent / "shared" / "data" / "clips" / "talking1.mp4"
    if clip.is_file():
        yield "clip", clip_sound(clip)
    if (speaker := shutil.which("espeak-ng")) is not None:
        text = "The quick brown fox jumps over the lazy dog, and the five boxing wizards jump quickly over it again."
        run = subprocess.run([speaker, "-v", "en", "--stdout", text], capture_output=True, check=True)
        yield "synthesiser", _wave(run.stdout)


def _wave(data: bytes) -> Audio:
    """A WAV file in memory, mixed to mono at RATE."""
    samples, rate = soundfile.read(io.BytesIO(data), dtype="float64", always_2d=True)
    shared = gcd(rate, RATE)
    return sound(resample_poly(samples.mean(axis=1), RATE // shared, rate // shared))
