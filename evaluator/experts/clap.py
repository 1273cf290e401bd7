"""LAION-CLAP, audio tower (Wu et al., ICASSP 2023): vectors of ten-second windows, in the space that texts share.

A reference model: the user mounts `clap_audio.onnx`. Contract: `wave` [batch, 480000] float32 at 48 kHz in -1..1 to
`embedding` [batch, 512] after the projection; the mel front end is part of the file. A short sound is repeated while it
fits whole and completed with zeros, as the published loader does; a longer one is cut into windows, where the published
loader takes one at random.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.features import Embeddings
from evaluator.experts.pixels import unit_rows
from evaluator.experts.waveform import zero_padded
from evaluator.media.types import F32, Audio
from evaluator.schema import AudioNeed, AudioView, ExpertNeed, Need

RATE = 48_000
WINDOW = 10 * RATE


class Clap(Expert):
    """capability `clap_audio`: one unit vector [1, 512] of the first `seconds` (an option; all of it without one)."""

    id = "clap"
    capability = "clap_audio"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": AudioNeed(AudioView(RATE), role=want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Embeddings:
        samples = head(inputs["audio"], want)
        session = self.sessions.session(self.id, "clap_audio.onnx")
        rows = [session.run({"wave": wave})["embedding"] for wave in windows(samples)]
        return Embeddings(unit_rows(np.concatenate(rows).mean(axis=0, keepdims=True)), np.zeros(1, np.int64))


def head(audio: Audio, want: ExpertNeed) -> F32:
    """The samples that a request is about. Raises NotApplicable for none."""
    options: dict[str, Any] = dict(want.options)
    seconds = options.get("seconds")
    samples = audio.float32 if seconds is None else audio.float32[: floor(seconds * audio.rate)]
    if not len(samples):
        raise NotApplicable("not_applicable", "there is no sound to embed")
    return samples


def windows(samples: F32) -> list[F32]:
    """Windows [1, WINDOW]: a short sound repeated while it fits whole, a long one in pieces."""
    if len(samples) <= WINDOW:
        return [zero_padded(np.tile(samples, WINDOW // len(samples)), WINDOW)[None]]
    return [zero_padded(samples[start : start + WINDOW], WINDOW)[None] for start in range(0, len(samples), WINDOW)]


EXPERT = Clap
