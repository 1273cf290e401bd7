"""YAMNet: which of the 521 AudioSet classes are heard, every 0.48 s.

Plakal and Ellis, "YAMNet", 2020 (MobileNet v1 on log-mel patches, trained on AudioSet). The file is a quantised export:
uint8 in, uint8 logits out. Its front end is that of the published model, so the clip is completed with zeros to whole
patches: every sample is heard by at least one patch.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.errors import ExpertError
from evaluator.experts.base import Expert
from evaluator.experts.features import AudioTags
from evaluator.experts.logits import probability
from evaluator.experts.spectral import hann, mel_bank, mel_spectrogram
from evaluator.experts.waveform import RATE, samples_of, sound_need, zero_padded
from evaluator.media.types import F32, U8
from evaluator.runtime.session import run_padded
from evaluator.schema import ExpertNeed, Need

FILE = "model.onnx"
CLASS_MAP = "yamnet_class_map.csv"
CLASSES = 521
BATCH = 1  # the export has a fixed batch of one

FFT = 512
WINDOW = 400  # samples, 25 ms
HOP = 160  # samples, 10 ms
MELS, LOW_HZ, HIGH_HZ = 64, 125.0, 7500.0
LOG_OFFSET = 1e-3  # log(1e-3) = -6.9 is the smallest value that the uint8 input can hold

PATCH = 96  # frames, 0.96 s
PATCH_HOP = 48  # frames
PATCH_SAMPLES = (PATCH - 1) * HOP + FFT
PATCH_HOP_SAMPLES = PATCH_HOP * HOP


@dataclass(frozen=True, slots=True)
class Quantisation:
    """real = scale * (stored - zero), stored in 0..255."""

    scale: float
    zero: int

    def store(self, real: F32) -> U8:
        return np.clip(np.round(real / np.float32(self.scale)) + self.zero, 0, 255).astype(np.uint8)

    def real(self, stored: U8) -> F32:
        return np.float32(self.scale) * (stored.astype(np.float32) - self.zero)


# The initialisers audio_scale, audio_zero_point, class_scores_scale and class_scores_zero_point of the ONNX file.
LOG_MEL = Quantisation(scale=0.04793788492679596, zero=144)
LOGITS = Quantisation(scale=0.7565417289733887, zero=190)


class YamNet(Expert):
    """capability `audio_tags`."""

    id = "yamnet"
    version = 2
    capability = "audio_tags"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": sound_need(want)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> AudioTags:
        stored = LOG_MEL.store(patches(samples_of(inputs["audio"], "YAMNet")))
        found = run_padded(self.sessions.session(self.id, FILE), "audio", stored, BATCH)
        logits = LOGITS.real(found["class_scores"].reshape(-1, CLASSES))  # [P, classes]
        names = class_names(self.sessions.path(self.id, CLASS_MAP))
        return AudioTags(probability(logits), names, step=PATCH_HOP_SAMPLES / RATE)


def patches(samples: F32) -> F32:
    """Log-mel patches [P, 1, 96, 64] in natural units, half overlapping; P = 1 for up to 0.98 s."""
    count = ceil(max(0, len(samples) - PATCH_SAMPLES) / PATCH_HOP_SAMPLES) + 1
    whole = zero_padded(samples, PATCH_SAMPLES + (count - 1) * PATCH_HOP_SAMPLES)
    bank = mel_bank(RATE, FFT, MELS, LOW_HZ, HIGH_HZ, "htk")
    mel = mel_spectrogram(whole, hann(WINDOW, FFT), HOP, bank, power=1)
    log_mel = np.log(mel + LOG_OFFSET).astype(np.float32)  # [frames, 64]
    return np.stack([log_mel[None, start : start + PATCH] for start in range(0, count * PATCH_HOP, PATCH_HOP)])


@lru_cache(maxsize=4)
def class_names(path: Path) -> tuple[str, ...]:
    """Display names in the order of the logits. Raises ExpertError if the table is not the published one."""
    with path.open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    if [row.get("index") for row in rows] != [str(index) for index in range(CLASSES)]:
        raise ExpertError(f"{path.name}: expected the classes 0 to {CLASSES - 1} in order, found {len(rows)} rows")
    return tuple(row["display_name"] for row in rows)


EXPERT = YamNet
