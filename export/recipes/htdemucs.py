"""HTDemucs (Rouard, Massa and Défossez, ICASSP 2023): 7.8 s of stereo, as samples and as a spectrum -> four stems.

The architecture is read out of its authors' package (MIT), which is not installed. Weights: `955717e8-8726e21a.th`,
the one model of the bag `htdemucs`; the file says with which settings the network is made. Transform and inverse
transform stay outside of the network: `evaluator.experts.complex_spectra` has them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import torch

from evaluator.errors import ModelCorrupt
from evaluator.experts.htdemucs import STEMS
from export.network import Network
from export.onnx_file import load_weights, seeded
from export.recipe import Sources
from export.shaken import shaken

WEIGHTS = "955717e8-8726e21a.th"
UNUSED = ("julius", "einops")
"""What the package imports: the first serves training, the second the moves below."""

LEVELS = tuple(f"/net/{kind}" for kind in ("Add", "Cast", "Div", "Mul", "Reduce", "Sqrt", "Sub"))
"""Nodes of the network's own normalisation, over all of a window: the fp16 file takes its means in float32."""

MOVES = {
    "b c f t-> b c (f t)": lambda x: x.flatten(2),
    "b c (f t)-> b c f t": lambda x, f: x.unflatten(2, (f, -1)),
    "b c fr t1 -> b (t1 fr) c": lambda x: x.permute(0, 3, 2, 1).flatten(1, 2),
    "b (t1 fr) c -> b c fr t1": lambda x, t1: x.unflatten(1, (t1, -1)).permute(0, 3, 2, 1),
    "b c t2 -> b t2 c": lambda x: x.transpose(1, 2),
    "b t2 c -> b c t2": lambda x: x.transpose(1, 2),
    "t2 b c -> b t2 c": lambda x: x.transpose(0, 1),
}
"""Every pattern by which the network moves dimensions, in the words of einops."""


TINY: dict[str, Any] = {
    "sources": list(STEMS),
    "segment": Fraction(1, 2),
    "channels": 8,
    "dconv_mode": 3,
    "bottom_channels": 16,
    "t_layers": 3,
    "t_heads": 2,
}


class Stems(torch.nn.Module):
    """wave [1, 2, T], spectrum [1, 4, F, N] -> spectra [1, 4, 4, F, N], waves [1, 4, 2, T], what both branches say."""

    def __init__(self, net: Any) -> None:
        super().__init__()
        self.net = net
        self._heard = self._said = torch.empty(0)
        net._spec, net._magnitude = lambda wave: self._heard, lambda spectrum: spectrum
        net._mask, net._ispec = lambda spectrum, found: found, self._inverse

    def _inverse(self, found: torch.Tensor, length: int) -> float:
        self._said = found
        return 0.0  # what the other branch says is added to this

    def forward(self, wave: torch.Tensor, spectrum: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self._heard = spectrum
        with patch.object(torch.Tensor, "std", deviation):
            waves = self.net(wave)
        return self._said, waves


def deviation(x: torch.Tensor, dim: tuple[int, ...], keepdim: bool) -> torch.Tensor:
    """Standard deviation; the exporter's own multiplies by the number of values, which half precision cannot hold."""
    count = math.prod(x.shape[axis] for axis in dim)
    centred = x - x.mean(dim=dim, keepdim=True)
    return (centred.square().mean(dim=dim, keepdim=keepdim) * (count / (count - 1))).sqrt()


def moved(x: torch.Tensor, pattern: str, **sizes: int) -> torch.Tensor:
    """What einops.rearrange does for the patterns of this network."""
    found: torch.Tensor = MOVES[pattern](x, **sizes)
    return found


def package(sources: Sources) -> Any:
    """The package's module of the network."""
    found: Any = sources.module("demucs", "demucs.htdemucs", UNUSED)
    for user in (found.HTDemucs, found.CrossTransformerEncoder):
        user.forward.__globals__["rearrange"] = moved
    return found


def network(net: Any) -> Network:
    """The file of a network; a spectrum has one frame for each hop that its window begins."""
    samples = int(net.segment * net.samplerate)
    frames = -(-samples // net.hop_length)
    traced, compared = (
        (seeded(1, 2, samples, seed=seed), seeded(1, 4, net.nfft // 2, frames, seed=seed)) for seed in (0, 1)
    )
    return Network("htdemucs.onnx", Stems(net.eval()), traced, compared, full=LEVELS)


def networks(sources: Sources) -> list[Network]:
    """htdemucs.onnx with the published weights. Raises ModelCorrupt for another kind of model."""
    code = package(sources)
    with torch.serialization.safe_globals([code.HTDemucs, Fraction]):  # names in the file; nothing else is unpickled
        found = load_weights(sources.file(WEIGHTS))
    if found["klass"] is not code.HTDemucs or tuple(found["kwargs"]["sources"]) != STEMS:
        raise ModelCorrupt(f"{WEIGHTS}: not the weights of htdemucs with the stems {', '.join(STEMS)}")
    net = code.HTDemucs(*found["args"], **found["kwargs"])
    net.load_state_dict(found["state"])  # half precision in the file
    return [network(net)]


def tiny(sources: Sources) -> list[Network]:
    """The published depth and transform with a sixth of the channels, three layers of attention, half a second."""
    return [network(shaken(package(sources).HTDemucs(**TINY)))]
