"""ECAPA-TDNN (Desplanques et al., Interspeech 2020), SpeechBrain's VoxCeleb model, defined here; the filter bank is in
the file.

Weights: `embedding_model.ckpt` of Hugging Face speechbrain/spkrec-ecapa-voxceleb. Attributes have the names of its
tensors. The front end is SpeechBrain's: 80 HTK bands of the power spectrum (Hamming 400, hop 160, zeros before and
behind) whose triangles are as wide on both sides as on the left one, decibels cut at 80 below the loudest, and the mean
over time taken off each band.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as functional

from evaluator.errors import ModelCorrupt
from evaluator.experts.spectral import F64, hamming, hertz_to_mel, mel_to_hertz
from export.network import Network
from export.onnx_file import load_weights, seeded
from export.recipe import Sources
from export.shaken import shaken
from export.sound import Mel, decibels

WEIGHTS = "embedding_model.ckpt"
RATE, WINDOW, HOP, BANDS, SPAN = 16_000, 400, 160, 80, 80.0
CHANNELS, JOINT, ATTENTION, OUTPUT, SCALE = 1024, 3072, 128, 192, 8
DILATIONS = (2, 3, 4)
SMALL = 1e-12


def bank(bands: int) -> F64:
    """[bands, 201]: equally spaced in mel up to 8 kHz."""
    highest = float(hertz_to_mel(RATE / 2, "htk"))
    edges = mel_to_hertz(np.linspace(0.0, highest, bands + 2), "htk")
    slope = (np.linspace(0.0, RATE / 2, WINDOW // 2 + 1) - edges[1:-1, None]) / np.diff(edges)[:-1, None]
    return np.maximum(0.0, 1.0 - np.abs(slope))


class Convolution(torch.nn.Module):
    """[B, C, T] -> [B, D, T]: the border is reflected."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, dilation: int = 1) -> None:
        super().__init__()
        self.conv = torch.nn.Conv1d(inputs, outputs, kernel, dilation=dilation)
        self.edge = dilation * (kernel - 1) // 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.conv(functional.pad(x, (self.edge, self.edge), mode="reflect") if self.edge else x)
        return found


class Norm(torch.nn.Module):
    """Batch normalisation under the name that the weights give it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.norm(x)
        return found


class Tdnn(torch.nn.Module):
    """Convolution, ReLU, normalisation."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, dilation: int = 1) -> None:
        super().__init__()
        self.conv, self.norm = Convolution(inputs, outputs, kernel, dilation), Norm(outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.norm(functional.relu(self.conv(x)))
        return found


class Res2Net(torch.nn.Module):
    """Groups of channels, each after the first seen together with what came of the one before it."""

    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList(Tdnn(width // SCALE, width // SCALE, 3, dilation) for _ in range(SCALE - 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        groups = x.chunk(SCALE, dim=1)
        made = [groups[0], self.blocks[0](groups[1])]
        for group, block in zip(groups[2:], list(self.blocks)[1:], strict=True):
            made.append(block(group + made[-1]))
        return torch.cat(made, dim=1)


class Squeeze(torch.nn.Module):
    """Channels weighted by what is in all of them, on average over time."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = Convolution(width, inner), Convolution(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean = x.mean(dim=2, keepdim=True)
        return x * torch.sigmoid(self.conv2(functional.relu(self.conv1(mean))))


class Block(torch.nn.Module):
    """A residual block."""

    def __init__(self, width: int, inner: int, dilation: int) -> None:
        super().__init__()
        self.tdnn1, self.tdnn2 = Tdnn(width, width), Tdnn(width, width)
        self.res2net_block, self.se_block = Res2Net(width, dilation), Squeeze(width, inner)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = x + self.se_block(self.tdnn2(self.res2net_block(self.tdnn1(x))))
        return found


class Pooling(torch.nn.Module):
    """[B, C, T] -> [B, 2 C, 1]: attentive mean and deviation; the attention sees the plain ones too."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.tdnn, self.conv = Tdnn(3 * width, inner), Convolution(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        plain = [one.expand_as(x) for one in statistics(x, 1.0 / x.shape[2])]
        attention = self.conv(torch.tanh(self.tdnn(torch.cat([x, *plain], dim=1)))).softmax(dim=2)
        return torch.cat(statistics(x, attention), dim=1)


def statistics(x: torch.Tensor, weight: torch.Tensor | float) -> list[torch.Tensor]:
    """Weighted mean and deviation over time, [B, C, 1] each."""
    mean = (weight * x).sum(dim=2, keepdim=True)
    variance = (weight * (x - mean).square()).sum(dim=2, keepdim=True)
    return [mean, variance.clamp(min=SMALL).sqrt()]


class Ecapa(torch.nn.Module):
    """columns [B, T, bands] -> embedding [B, output]."""

    def __init__(self, bands: int, widths: Sequence[int], output: int) -> None:
        super().__init__()
        width, joint, inner = widths
        layers = [Tdnn(bands, width, 5), *(Block(width, inner, dilation) for dilation in DILATIONS)]
        self.blocks = torch.nn.ModuleList(layers)
        self.mfa, self.asp = Tdnn(width * len(DILATIONS), joint), Pooling(joint, inner)
        self.asp_bn, self.fc = Norm(2 * joint), Convolution(2 * joint, output)

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        x, found = columns.transpose(1, 2), []
        for block in self.blocks:
            x = block(x)
            found.append(x)
        embedding: torch.Tensor = self.fc(self.asp_bn(self.asp(self.mfa(torch.cat(found[1:], dim=1)))))
        return embedding[:, :, 0]


class Voice(torch.nn.Module):
    """wave [1, samples] -> embedding [1, output]."""

    def __init__(self, net: Ecapa, bands: int) -> None:
        super().__init__()
        self.front, self.net = Mel(hamming(WINDOW), HOP, bank(bands), "constant"), net

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        level = decibels(self.front(wave))
        level = torch.maximum(level, level.amax(dim=(1, 2), keepdim=True) - SPAN)
        embedding: torch.Tensor = self.net(level - level.mean(dim=1, keepdim=True))
        return embedding


def network(net: Ecapa, bands: int) -> Network:
    """The file of a network for waves of any length."""
    examples = (seeded(1, 16_000),), (seeded(1, 23_456, seed=1) * torch.linspace(0, 1, 23_456),)
    # Decibels and their mean over many columns need more digits than float16 has; so do small variances.
    full = ("/front/", "/Log", "/Clip", "/Mul", "/ReduceM", "/Sub", "/Max", "/net/asp/Re", "/net/asp/P", "/net/asp/C")
    return Network("ecapa.onnx", Voice(net.eval(), bands), *examples, full=full)


def networks(sources: Sources) -> list[Network]:
    """ecapa.onnx with the published weights. Raises ModelCorrupt unless all names fit."""
    net = Ecapa(BANDS, (CHANNELS, JOINT, ATTENTION), OUTPUT)
    try:
        net.load_state_dict(load_weights(sources.file(WEIGHTS)))
    except RuntimeError as error:
        raise ModelCorrupt(f"{WEIGHTS}: not the weights of ECAPA-TDNN: {error}") from error
    return [network(net, BANDS)]


def tiny() -> list[Network]:
    """Sixteen channels."""
    return [network(shaken(Ecapa(8, (16, 24, 8), 12)), 8)]
