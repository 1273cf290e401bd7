"""DistillMOS: one window of 7.68 s of 16 kHz sound -> a mean opinion score.

The network begins with a short-time Fourier transform of complex numbers, which the exporter does not know. Here it is
a convolution with windowed cosines and sines: the same sums, written with real numbers.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as functional

from export.onnx_file import export_torch, load_weights, seeded
from export.recipe import Parity, Sources, compare

SAMPLES = 122_880


def fourier_kernels(length: int) -> torch.Tensor:
    """[2 * bins, 1, length]: cosines, then minus sines, of a real Fourier transform under a periodic Hann window."""
    bins = length // 2 + 1
    n = torch.arange(length, dtype=torch.float64)
    angle = 2 * math.pi * torch.arange(bins, dtype=torch.float64)[:, None] * n / length
    window = 0.5 - 0.5 * torch.cos(2 * math.pi * n / length)
    return (torch.cat([torch.cos(angle), -torch.sin(angle)]) * window).float()[:, None]


def compressed_spectrum(wave: torch.Tensor, hop: int, length: int) -> torch.Tensor:
    """wave [B, T] -> [B, bins, frames, 2]: real and imaginary part, magnitude raised to 0.3, phase kept."""
    edge = (length - hop) // 2
    padded = functional.pad(wave[:, None], (edge, edge), mode="reflect")
    parts = functional.conv1d(padded, fourier_kernels(length), stride=hop)  # [B, 2 * bins, frames]
    both = parts.unflatten(1, (2, length // 2 + 1)).permute(0, 2, 3, 1)  # [B, bins, frames, 2]
    magnitude = both.square().sum(dim=-1, keepdim=True).sqrt().clamp(min=1e-12)
    return magnitude**0.3 * both / magnitude


class Score(torch.nn.Module):
    """wave [1, 122880] -> mos [1]. One window at a time: the package's attention freezes the batch when traced."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        mos: torch.Tensor = self.net(wave)
        return mos.reshape(-1)


def build(sources: Sources, out: Path) -> list[Parity]:
    """Write distillmos.onnx."""
    package: Any = sources.module("distillmos", "distillmos.sqa", stubs=["torchaudio"])
    net = package.ConvTransformerSQAModel(load_weights=False, segmenting_in_forward=False)
    net.load_state_dict(load_weights(sources.file("distill_mos_v7.pt"))["model"])
    score = Score(net.eval())
    decay = torch.linspace(1, 0, SAMPLES) ** 2
    waves = seeded(3, SAMPLES, seed=1) * torch.stack([decay, 0.3 * decay.flip(0), decay * 0.01])
    with torch.no_grad():
        expected = score(waves)  # with the package's own complex transform
    package._complex_compressed = compressed_spectrum
    path = out / "distillmos.onnx"
    export_torch(score, (seeded(1, SAMPLES),), path, ["wave"], ["mos"])
    rows: list[Parity] = []
    for wave, mos in zip(waves.split(1), expected.split(1), strict=True):
        rows += compare(path, {"wave": wave.numpy()}, {"mos": mos}, 1e-5)
    return rows
