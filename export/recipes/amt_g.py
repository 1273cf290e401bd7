"""AMT-G (Li et al., CVPR 2023): two frames -> the frame half way between them.

The architecture is in its authors' repository only (CC BY-NC 4.0): EVALUATOR_CHECKOUT_AMT names the folder of a
checkout of GitHub MCG-NKU/AMT. Weights: `amt-g.pth`; parameters are those of its AMT-G.yaml. The inner scale is 1.
"""

from __future__ import annotations

import torch
import torch.nn.functional as functional

from export.checkout import CHECKOUTS
from export.network import Network
from export.onnx_file import load_weights, seeded
from export.recipe import Sources
from export.shaken import shaken

CHECKOUT = CHECKOUTS["amt_g"]
WEIGHTS = "amt-g.pth"
COARSE = 0.1
"""In half precision a flow is a fraction of a pixel off; the texture differs by as much from pixel to pixel."""
PARAMETERS = {"corr_radius": 3, "corr_lvls": 4, "num_flows": 5}


class Middle(torch.nn.Module):
    """first, second [1, 3, H, W] in 0..1 -> middle [1, 3, H, W]."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        half = torch.full((1, 1, 1, 1), 0.5)
        middle: torch.Tensor = self.net(first, second, half, scale_factor=1.0, eval=True)["imgt_pred"]
        return middle


def network(net: torch.nn.Module) -> Network:
    """The file of a network."""
    traced, compared = (moved(*size, seed) for seed, size in enumerate(((128, 192), (160, 128))))
    return Network("amt_g.onnx", Middle(net.eval()), traced, compared, tolerance=1e-3, half=COARSE)


def moved(height: int, width: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A smooth texture and the same moved by six pixels: something that a flow network can follow."""
    coarse = seeded(1, 3, height // 8, width // 8, low=0.0, seed=seed)
    first = functional.interpolate(coarse, (height, width), mode="bicubic").clamp(0, 1)
    return first, first.roll(6, dims=3)


def model() -> torch.nn.Module:
    """The network of the checkout."""
    made: torch.nn.Module = CHECKOUT.module("networks.AMT-G").Model(**PARAMETERS)
    return made


def networks(sources: Sources) -> list[Network]:
    """amt_g.onnx with the published weights."""
    weights, net = load_weights(sources.file(WEIGHTS)), model()
    net.load_state_dict(weights.get("state_dict", weights))
    return [network(net)]


def tiny() -> list[Network]:
    """The published size, which its repository fixes, with random weights."""
    return [network(shaken(model()))]
