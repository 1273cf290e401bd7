"""RAFT-small (Teed and Deng, ECCV 2020) from torchvision: where each pixel of a picture is in the next one.

Weights: `raft_small_C_T_V2-01064c6d.pth` of torchvision's Raft_Small_Weights.C_T_V2. The last of twelve refinements.
"""

from __future__ import annotations

import torch
import torch.nn.functional as functional

from export.network import Network
from export.onnx_file import load_weights, seeded
from export.recipe import Sources
from export.shaken import shaken
from export.torchvision_beside import shown

WEIGHTS = "raft_small_C_T_V2-01064c6d.pth"
REFINEMENTS = 12


class Flow(torch.nn.Module):
    """first, second [1, 3, H, W] in -1..1, sides multiples of 8 -> flow [1, 2, H, W]: x and y in pixels."""

    def __init__(self, net: torch.nn.Module, refinements: int) -> None:
        super().__init__()
        self.net, self.refinements = net, refinements

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        flow: torch.Tensor = self.net(first, second, num_flow_updates=self.refinements)[-1]
        return flow


def network(net: torch.nn.Module, refinements: int) -> Network:
    """The file of a network. A correlation is looked up at coordinates, which half precision would round to pixels."""
    traced, compared = (moved(*size, seed) for seed, size in enumerate(((128, 136), (136, 160))))
    return Network("raft_small.onnx", Flow(net.eval(), refinements), traced, compared, tolerance=1e-3, half=5e-2)


def moved(height: int, width: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A smooth texture and the same moved by three pixels."""
    coarse = seeded(1, 3, height // 8, width // 8, seed=seed)
    first = functional.interpolate(coarse, (height, width), mode="bicubic").clamp(-1, 1)
    return first, first.roll(3, dims=3)


def model() -> torch.nn.Module:
    """The network without weights."""
    with shown():
        from torchvision.models import optical_flow

    made: torch.nn.Module = optical_flow.raft_small(weights=None)
    return made


def networks(sources: Sources) -> list[Network]:
    """raft_small.onnx with the published weights."""
    weights, net = load_weights(sources.file(WEIGHTS)), model()
    net.load_state_dict(weights)
    return [network(net, REFINEMENTS)]


def tiny() -> list[Network]:
    """The published size, which is small, with random weights; two refinements, since all are one network."""
    return [network(shaken(model()), 2)]
