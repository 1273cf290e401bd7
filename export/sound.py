"""Front ends of sound models inside an ONNX file: power spectra as convolutions, mel bands as a product.

The transform is a convolution with windowed cosines and sines, because complex numbers have no ONNX counterpart that an
engine takes. Windows and mel bands are those of `evaluator.experts.spectral`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as functional

F64 = npt.NDArray[np.float64]


def fourier_kernels(window: F64, size: int) -> torch.Tensor:
    """[2 * bins, 1, len(window)]: cosines, then minus sines, of a real transform of `size` points under a window."""
    bins = size // 2 + 1
    angle = 2 * math.pi * np.outer(np.arange(bins), np.arange(len(window))) / size
    both = np.concatenate([np.cos(angle), -np.sin(angle)]) * window
    return torch.from_numpy(both.astype(np.float32))[:, None]


class Mel(torch.nn.Module):
    """wave [B, T] -> mel power [B, frames, bands]. `pad`: what stands before and behind the wave, half a transform."""

    def __init__(self, window: F64, hop: int, bank: F64, pad: str) -> None:
        super().__init__()
        self.hop, self.pad = hop, pad
        self.size = (bank.shape[1] - 1) * 2
        self.register_buffer("kernels", fourier_kernels(window, self.size), persistent=False)
        self.register_buffer("bank", torch.from_numpy(bank.T.astype(np.float32)), persistent=False)

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        padded = functional.pad(wave[:, None], (self.size // 2, self.size // 2), mode=self.pad)
        parts = functional.conv1d(padded, self.kernels, stride=self.hop)  # [B, 2 * bins, frames]
        real, imaginary = parts.chunk(2, dim=1)
        mel: torch.Tensor = (real.square() + imaginary.square()).transpose(1, 2) @ self.bank
        return mel


def decibels(power: torch.Tensor, smallest: float = 1e-10) -> torch.Tensor:
    """10 log10 of what is at least `smallest`."""
    return 10.0 / math.log(10.0) * power.clamp(min=smallest).log()
