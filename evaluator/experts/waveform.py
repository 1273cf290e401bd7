"""What the sound experts share: the need for 16 kHz mono, and cutting it into windows of one length.

Networks get windows of fixed length because kernels are chosen by shape: the numbers of a clip must not depend on how
long it is in any other way than the windows say. Knows nothing about any model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.media.types import F32, Audio
from evaluator.schema import AudioNeed, AudioView, ExpertNeed

RATE = 16_000
"""Hz. Every sound model here was trained at this rate."""


def sound_need(want: ExpertNeed) -> AudioNeed:
    """The clip's sound at RATE. A clip without an audio stream is not applicable."""
    return AudioNeed(AudioView(RATE), role=want.roles[0])


def samples_of(audio: Audio, model: str, least: int = 1) -> F32:
    """The samples in [-1, 1). Raises NotApplicable if there are fewer than `least`."""
    if len(audio.samples) < least:
        wanted = f"{least / RATE:.2f} s of sound" if least > 1 else "sound"
        found = f"{len(audio.samples) / RATE:.2f} s" if len(audio.samples) else "none: its audio stream holds no sample"
        raise NotApplicable("not_applicable", f"{model} needs {wanted}; this clip has {found}.")
    return audio.float32


def zero_padded(samples: F32, size: int) -> F32:
    """The samples, followed by zeros up to `size` if they are fewer."""
    return np.pad(samples, (0, max(0, size - len(samples))))


def windows(samples: F32, starts: Iterable[int], size: int) -> Iterator[F32]:
    """Windows [1, size] at the given starts, one at a time; what lies beyond the end is zero."""
    for start in starts:
        yield zero_padded(samples[start : start + size], size)[None]
