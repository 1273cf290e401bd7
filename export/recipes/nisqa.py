"""NISQA v2.0, multidimensional (Mittag et al., Interspeech 2021): segments of a mel spectrogram -> five scores.

The network is defined here from its published description: per segment a small convolutional network, then two
self-attention layers over the segments, then one attention pool per score. GOLDEN holds the scores that the reference
code gives for signals that are defined by formulas; they also pin the front end of `evaluator.experts.nisqa`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as functional

from evaluator.experts.nisqa import mel_decibels, segments
from export.network import Network
from export.onnx_file import export_torch, load_weights, seeded
from export.recipe import Parity, Sources, compare

Weights = Mapping[str, torch.Tensor]

WIDTH = 64
HEADS = 5  # mos, noisiness, discontinuity, coloration, loudness

GOLDEN = {
    "tone": (1.1693, 2.1596, 3.6698, 1.1287, 1.8962),
    "sweep": (0.8113, 1.4818, 2.4183, 1.1605, 1.2622),
    "pulse": (1.3140, 2.7316, 3.8962, 1.2773, 1.9137),
    "silence": (2.1077, 3.3492, 3.5816, 3.0544, 2.9497),
}
"""Reference code and weights on `signal(name)`: four digits were kept."""


class Nisqa(torch.nn.Module):
    """segments [1, S, 1, 48, 15], count [1] (valid segments, the rest is padding) -> scores [1, 5]."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.weights = dict(weights)

    def forward(self, cut: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
        x = self._segment_features(cut[0])  # [S, 384]
        x = self._norm(self._linear(x, "time_dependency.model.linear"), "time_dependency.model.norm1")  # [S, 64]
        padding = torch.arange(cut.shape[1]) >= count  # [S]
        for layer in range(2):
            x = self._attention_layer(x, padding, f"time_dependency.model.layers.{layer}")
        return torch.stack([self._pool(x, padding, f"pool_layers.{head}.model") for head in range(HEADS)])[None]

    def _segment_features(self, x: torch.Tensor) -> torch.Tensor:
        """[S, 1, 48, 15] -> [S, 384]. The pools are adaptive ones: 48 x 15 -> 24 x 7 -> 12 x 5 -> 6 x 3."""
        x = functional.max_pool2d(self._convolution(x, 1), (2, 3), stride=2)
        x = pool_columns(self._convolution(x, 2), ((0, 2), (1, 3), (2, 5), (4, 6), (5, 7)))
        x = self._convolution(self._convolution(x, 3), 4)
        x = pool_columns(x, ((0, 2), (1, 4), (3, 5)))
        return self._convolution(self._convolution(x, 5), 6, padding=(1, 0)).flatten(1)

    def _convolution(self, x: torch.Tensor, number: int, padding: tuple[int, int] = (1, 1)) -> torch.Tensor:
        w, name, norm = self.weights, f"cnn.model.conv{number}", f"cnn.model.bn{number}"
        x = functional.conv2d(x, w[f"{name}.weight"], w[f"{name}.bias"], padding=padding)
        mean, variance = w[f"{norm}.running_mean"], w[f"{norm}.running_var"]
        return functional.relu(functional.batch_norm(x, mean, variance, w[f"{norm}.weight"], w[f"{norm}.bias"]))

    def _attention_layer(self, x: torch.Tensor, padding: torch.Tensor, name: str) -> torch.Tensor:
        """One post-norm transformer layer with one head over [S, 64]."""
        w = self.weights
        joint = functional.linear(x, w[f"{name}.self_attn.in_proj_weight"], w[f"{name}.self_attn.in_proj_bias"])
        query, key, value = joint.split(WIDTH, dim=1)
        scores = (query @ key.T / math.sqrt(WIDTH)).masked_fill(padding[None], -math.inf)  # [S, S]
        x = self._norm(x + self._linear(scores.softmax(dim=1) @ value, f"{name}.self_attn.out_proj"), f"{name}.norm1")
        inner = functional.relu(self._linear(x, f"{name}.linear1"))
        return self._norm(x + self._linear(inner, f"{name}.linear2"), f"{name}.norm2")

    def _pool(self, x: torch.Tensor, padding: torch.Tensor, name: str) -> torch.Tensor:
        """[S, 64] -> one score: a weighted mean over valid segments, then a linear map."""
        inner = functional.relu(self._linear(x, f"{name}.linear1"))
        attention = self._linear(inner, f"{name}.linear2").T.masked_fill(padding[None], -math.inf).softmax(dim=1)
        return self._linear(attention @ x, f"{name}.linear3")[0, 0]  # attention: [1, S]

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return functional.layer_norm(x, (WIDTH,), self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])


def pool_columns(x: torch.Tensor, spans: tuple[tuple[int, int], ...]) -> torch.Tensor:
    """Maximum over pairs of rows and over each span of columns: adaptive pooling where sizes do not divide."""
    x = functional.max_pool2d(x, (2, 1))
    return torch.stack([x[..., start:stop].amax(dim=-1) for start, stop in spans], dim=-1)


def signal(name: str) -> npt.NDArray[np.float32]:
    """Three seconds at 16 kHz, rounded to 16 bit."""
    t = np.arange(48_000) / 16_000
    value = {
        "tone": 0.5 * np.sin(2 * np.pi * 440 * t),
        "sweep": 0.3 * np.sin(2 * np.pi * (100 * t + 1150 * t**2)),
        "pulse": 0.4 * np.sin(2 * np.pi * 200 * t) * (0.5 + 0.5 * np.sin(2 * np.pi * 4 * t)),
        "silence": 0 * t,
    }[name]
    return (np.round(32767 * value) / 32768).astype(np.float32)


def build(sources: Sources, out: Path) -> list[Parity]:
    """Write nisqa.onnx."""
    net = Nisqa(load_weights(sources.file("nisqa.tar"))["model_state_dict"])
    path = out / "nisqa.onnx"
    example = seeded(1, 30, 1, 48, 15, low=-80.0, high=0.0), torch.tensor([25])
    export_torch(net, example, path, ["segments", "count"], ["scores"], {"segments": {1: "segments"}})
    cut = seeded(1, 72, 1, 48, 15, low=-80.0, high=0.0, seed=1)
    with torch.no_grad():
        expected = net(cut[:, :50], torch.tensor([50]))
    rows = compare(path, {"segments": cut.numpy(), "count": np.array([50])}, {"scores": expected}, 1e-4)
    for name, golden in GOLDEN.items():
        found = segments(mel_decibels(signal(name)))[None, :, None]  # [1, 72, 1, 48, 15]
        feeds = {"segments": np.ascontiguousarray(found, np.float32), "count": np.array([found.shape[1]])}
        rows += compare(path, feeds, {"scores": np.array([golden])}, 5e-3)
    return rows


def tiny() -> list[Network]:
    """The published size, which is small, with random weights."""
    traced, compared = (
        (seeded(1, size, 1, 48, 15, low=-80.0, high=0.0, seed=size), torch.tensor([size - 5])) for size in (30, 72)
    )
    return [Network("nisqa.onnx", Nisqa(random_weights()), traced, compared)]


def random_weights() -> Weights:
    """Seeded numbers under the names, and of the sizes, of the published file."""
    generator = torch.Generator().manual_seed(0)
    found = {}
    for name, shape in shapes().items():
        drawn = torch.randn(shape, generator=generator) / math.sqrt(math.prod(shape[1:]) * 10 ** (len(shape) == 1))
        positive = len(shape) == 1 and name.endswith(("weight", "running_var"))  # scales and variances, around 1
        found[name] = 1 + drawn.abs() if positive else drawn
    return found


def shapes() -> dict[str, tuple[int, ...]]:
    """Name -> shape of everything that the network reads."""
    found: dict[str, tuple[int, ...]] = {}

    def layer(name: str, outputs: int, *inputs: int) -> None:
        found.update({f"{name}.weight": (outputs, *inputs), f"{name}.bias": (outputs,)})

    channels = (1, 16, 32, WIDTH, WIDTH, WIDTH, WIDTH)
    for number, (inputs, outputs) in enumerate(pairwise(channels), 1):
        layer(f"cnn.model.conv{number}", outputs, inputs, 3, 3)
        layer(f"cnn.model.bn{number}", outputs)
        found |= {f"cnn.model.bn{number}.running_{what}": (outputs,) for what in ("mean", "var")}
    layer("time_dependency.model.linear", WIDTH, 6 * WIDTH)
    layer("time_dependency.model.norm1", WIDTH)
    for name in (f"time_dependency.model.layers.{number}" for number in range(2)):
        joint = f"{name}.self_attn.in_proj"
        found |= {f"{joint}_weight": (3 * WIDTH, WIDTH), f"{joint}_bias": (3 * WIDTH,)}
        for inner in ("self_attn.out_proj", "linear1", "linear2"):
            layer(f"{name}.{inner}", WIDTH, WIDTH)
        layer(f"{name}.norm1", WIDTH)
        layer(f"{name}.norm2", WIDTH)
    for name in (f"pool_layers.{head}.model" for head in range(HEADS)):
        layer(f"{name}.linear1", 2 * WIDTH, WIDTH)
        layer(f"{name}.linear2", 1, 2 * WIDTH)
        layer(f"{name}.linear3", 1, WIDTH)
    return found
