"""Distill-MOS: how good speech sounds, without a reference.

A network of 4 million parameters distilled from a speech foundation model: Stahl and Gamper, "Distillation and Pruning
for Scalable Self-Supervised Representation-Based Speech Quality Assessment", ICASSP 2025. Rates the speech in a mix; on
music or tones its figure means little, so metrics gate it on speech activity. Stands in for NISQA.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np

from evaluator.experts.base import Expert
from evaluator.experts.features import SpeechQuality
from evaluator.experts.waveform import RATE, samples_of, sound_need, windows
from evaluator.schema import ExpertNeed, Need

FILE = "distillmos.onnx"
WINDOW = 122_880  # samples, 7.68 s: the length that the network was trained on
LONGEST_HOP = RATE  # neighbouring windows start at most one second apart


class DistillMos(Expert):
    """capability `speech_quality`: mean over windows, and the worst and the best of them as diagnostics."""

    id = "distillmos"
    capability = "speech_quality"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": sound_need(want)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> SpeechQuality:
        samples = samples_of(inputs["audio"], "Distill-MOS")
        session = self.sessions.session(self.id, FILE)
        parts = windows(samples, window_starts(len(samples)), WINDOW)
        mos = np.array([session.run({"wave": part})["mos"].item() for part in parts])  # [windows]
        return SpeechQuality(float(mos.mean()), {"worst_window": float(mos.min()), "best_window": float(mos.max())})


def window_starts(samples: int) -> list[int]:
    """First samples of the windows: spread evenly from the first to the last whole window, truncated to integers.

    A clip shorter than a window has one, completed with zeros.
    """
    spare = max(0, samples - WINDOW)
    count = ceil(spare / LONGEST_HOP) + 1
    return [int(fraction * spare) for fraction in np.linspace(0.0, 1.0, count)]


EXPERT = DistillMos
