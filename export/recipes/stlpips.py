"""ST-LPIPS with the AlexNet trunk (Ghildyal and Liu, 2022): a distance of two pictures that forgives small shifts.

The network is defined here, because part of the package's own definition is licensed for non-commercial use only: the
convolutions of AlexNet with stride 1, every reduction a binomial blur over a reflected border, features of length 1 at
five depths, squared differences weighted and averaged over the picture. GOLDEN holds distances that the package's own
network gave.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
import torch.nn.functional as functional

from export.onnx_file import export_torch, load_weights
from export.recipe import Parity, Sources, compare

SHIFT = (-0.030, -0.088, -0.188)
SCALE = (0.458, 0.448, 0.450)
"""LPIPS's normalisation of pictures in -1..1."""

LAYERS = ("net.slice1.0", "net.slice2.5", "net.slice3.9", "net.slice4.11", "net.slice5.13")
PADDINGS = (2, 2, 1, 1, 1)
EPSILON = 1e-10

GOLDEN = (0.0, 0.002854909, 0.07296598, 0.12106559)
"""Distances of the first of `pictures()` from all of them, by the package's network (torch 2.13.0, CPU)."""


class Distance(torch.nn.Module):
    """first, second [B, 3, H, W] in -1..1 -> distance [B]."""

    def __init__(self, weights: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self.convolutions = [(weights[f"{name}.weight"], weights[f"{name}.bias"]) for name in LAYERS]
        self.heads = [weights[f"lin{depth}.model.1.weight"] for depth in range(len(LAYERS))]

    def features(self, pictures: torch.Tensor) -> list[torch.Tensor]:
        """Activations after each of the five convolutions, before their channels are normalised."""
        shift, scale = (torch.tensor(value)[None, :, None, None] for value in (SHIFT, SCALE))
        x = (pictures - shift) / scale
        found: list[torch.Tensor] = []
        for depth, (weight, bias) in enumerate(self.convolutions):
            outputs, inputs = weight.shape[:2]
            if depth in (1, 2):
                x = blurred(functional.max_pool2d(x, 3, stride=1), inputs)
            x = functional.conv2d(x, weight, bias, padding=PADDINGS[depth])
            x = functional.relu(blurred(x, outputs) if depth == 0 else x)
            found.append(x)
        return found

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        pairs = zip(self.heads, self.features(first), self.features(second), strict=True)
        maps = [functional.conv2d((unit(a) - unit(b)).square(), head) for head, a, b in pairs]  # [B, 1, h, w] each
        return torch.stack([item.mean(dim=(1, 2, 3)) for item in maps]).sum(dim=0)


def blurred(x: torch.Tensor, channels: int) -> torch.Tensor:
    """Half the size: the binomial 1-2-1 in both directions, over a border of two reflected rows and columns.

    The number of channels is given as a plain number, so that it is not traced as something that depends on the input.
    """
    row = torch.tensor([1.0, 2.0, 1.0])
    kernel = (row[:, None] * row / 16).expand(channels, 1, 3, 3)
    return functional.conv2d(functional.pad(x, (2, 2, 2, 2), mode="reflect"), kernel, stride=2, groups=channels)


def unit(x: torch.Tensor) -> torch.Tensor:
    """Each position's channels [B, C, h, w] scaled to length 1."""
    return x / (x.square().sum(dim=1, keepdim=True).sqrt() + EPSILON)


def pictures() -> torch.Tensor:
    """[4, 3, 256, 256] in -1..1: waves, the same moved by one pixel, with a finer wave added, and turned."""
    y, x = torch.meshgrid(torch.arange(256.0), torch.arange(256.0), indexing="ij")
    waves = torch.stack([torch.sin(x / 9) * torch.cos(y / 14), torch.sin((x + y) / 21), torch.cos(x * y / 4000)])
    return torch.stack([waves, waves.roll(1, dims=2), 0.8 * waves + 0.2 * torch.sin(x * 2.1), waves.transpose(1, 2)])


def build(sources: Sources, out: Path) -> list[Parity]:
    """Write stlpips.onnx."""
    net = Distance(load_weights(sources.file("alex_shift_tolerant.pth")))
    path = out / "stlpips.onnx"
    sized = {name: {0: "batch", 2: "height", 3: "width"} for name in ("first", "second")}
    example = pictures()[:2]
    export_torch(net, (example, example), path, ["first", "second"], ["distance"], {**sized, "distance": {0: "batch"}})
    second = pictures()
    first = second[:1].expand_as(second).contiguous()
    rows = compare(path, {"first": first.numpy(), "second": second.numpy()}, {"distance": torch.tensor(GOLDEN)}, 1e-5)
    oblong = second[:, :, :160]
    with torch.no_grad():
        expected = net(first[:, :, :160], oblong)
    feeds = {"first": first[:, :, :160].numpy(), "second": oblong.numpy()}
    return rows + compare(path, feeds, {"distance": expected}, 1e-5)
