"""LPIPS 0.1 with the AlexNet trunk (Zhang et al., 2018): a distance of two pictures. Defined here from the paper.

Weights: `alexnet-owt-7be5be79.pth`, torchvision's AlexNet, mounted, and the five heads of the package lpips. Features
after each ReLU at length 1, squared differences weighted by a head and averaged over the picture, summed over depths.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as functional

from export.network import Network
from export.onnx_file import load_weights, seeded
from export.recipe import Sources

TRUNK, HEADS = "alexnet-owt-7be5be79.pth", "alex.pth"

SHIFT = (-0.030, -0.088, -0.188)
SCALE = (0.458, 0.448, 0.450)
EPSILON = 1e-10

LAYERS = (0, 3, 6, 8, 10)  # positions of the convolutions in torchvision's features
STRIDES = (4, 1, 1, 1, 1)
PADDINGS = (2, 2, 1, 1, 1)
WIDTHS = (3, 64, 192, 384, 256, 256)
KERNELS = (11, 5, 3, 3, 3)


class Distance(torch.nn.Module):
    """first, second [B, 3, H, W] in -1..1 -> distance [B]."""

    def __init__(self, trunk: Mapping[str, torch.Tensor], heads: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self.convolutions = [(trunk[f"features.{place}.weight"], trunk[f"features.{place}.bias"]) for place in LAYERS]
        self.heads = [heads[f"lin{depth}.model.1.weight"] for depth in range(len(LAYERS))]

    def features(self, pictures: torch.Tensor) -> list[torch.Tensor]:
        """Activations after each of the five convolutions, each position's channels at length 1."""
        shift, scale = (torch.tensor(value)[None, :, None, None] for value in (SHIFT, SCALE))
        x = (pictures - shift) / scale
        found: list[torch.Tensor] = []
        for depth, (weight, bias) in enumerate(self.convolutions):
            if depth in (1, 2):
                x = functional.max_pool2d(x, 3, stride=2)
            x = functional.relu(functional.conv2d(x, weight, bias, STRIDES[depth], PADDINGS[depth]))
            found.append(x / (x.square().sum(dim=1, keepdim=True).sqrt() + EPSILON))
        return found

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        pairs = zip(self.heads, self.features(first), self.features(second), strict=True)
        maps = [functional.conv2d((a - b).square(), head) for head, a, b in pairs]  # [B, 1, h, w] each
        return torch.stack([item.mean(dim=(1, 2, 3)) for item in maps]).sum(dim=0)


def network(trunk: Mapping[str, torch.Tensor], heads: Mapping[str, torch.Tensor]) -> Network:
    """The file of a trunk and its heads."""
    traced, compared = (
        (seeded(count, 3, *size, seed=count), seeded(count, 3, *size, seed=count + 1))
        for count, size in ((2, (64, 96)), (3, (96, 80)))
    )
    # Squared lengths of many channels leave float16's range, and the small number that protects them is 0 in it.
    full = ("/Pow", "/ReduceSum", "/Sqrt", "/Add", "/Div", "/Sub", "/Mul")
    return Network("lpips_alex.onnx", Distance(trunk, heads), traced, compared, full=full)


def networks(sources: Sources) -> list[Network]:
    """lpips_alex.onnx with the published weights."""
    return [network(load_weights(sources.file(TRUNK)), load_weights(sources.file(HEADS)))]


def tiny() -> list[Network]:
    """A sixteenth of the channels."""
    trunk, heads = {}, {}
    widths = [3, *(width // 16 for width in WIDTHS[1:])]
    for depth, place in enumerate(LAYERS):
        shape = widths[depth + 1], widths[depth], KERNELS[depth], KERNELS[depth]
        spread = (widths[depth] * KERNELS[depth] ** 2) ** -0.5
        trunk[f"features.{place}.weight"] = seeded(*shape, seed=depth) * spread
        trunk[f"features.{place}.bias"] = seeded(shape[0], seed=depth) * 0.1
        heads[f"lin{depth}.model.1.weight"] = seeded(1, shape[0], 1, 1, low=0.0, seed=depth)
    return [network(trunk, heads)]
