"""VideoCLIP-XL, vision encoder (Wang et al., 2024): eight frames -> one vector. Defined here from AVE-Compass 4.8.

Weights: `VideoCLIP-XL.bin` of Hugging Face alibaba-pai/VideoCLIP-XL, of which the keys that begin with `vision_model.`
are read, every one of them. CLIP's ViT with one class token and joint attention over all patches of all frames; a patch
knows its place from CLIP's table and its frame from a second one.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import torch
import torch.nn.functional as functional

from evaluator.errors import ModelCorrupt
from export.network import Network
from export.onnx_file import load_weights, seeded
from export.recipe import Sources
from export.shaken import shaken

WEIGHTS, PREFIX = "VideoCLIP-XL.bin", "vision_model."


@dataclass(frozen=True)
class Size:
    """What the published network and the tiny one differ in."""

    side: int = 224
    patch: int = 14
    width: int = 1024
    layers: int = 24
    heads: int = 16
    frames: int = 8
    output: int = 768


class QuickGelu(torch.nn.Module):
    """CLIP's activation."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(1.702 * x)


class Block(torch.nn.Module):
    """One pre-norm layer over tokens [B, N, D]."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width = size.width
        self.ln_1, self.ln_2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attn, self.heads = torch.nn.MultiheadAttention(width, size.heads), size.heads
        layers = torch.nn.Linear(width, 4 * width), QuickGelu(), torch.nn.Linear(4 * width, width)
        self.mlp = torch.nn.Sequential(OrderedDict(zip(("c_fc", "gelu", "c_proj"), layers, strict=True)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attended(self.ln_1(x))
        found: torch.Tensor = x + self.mlp(self.ln_2(x))
        return found

    def attended(self, x: torch.Tensor) -> torch.Tensor:
        """Self-attention, written out: ONNX Runtime 1.32 crashes on what the module becomes in float16."""
        joint = functional.linear(x, self.attn.in_proj_weight, self.attn.in_proj_bias)
        query, key, value = joint.unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)  # [B, heads, N, d] each
        weights = (query * query.shape[-1] ** -0.5 @ key.transpose(2, 3)).softmax(dim=3)
        found: torch.Tensor = self.attn.out_proj((weights @ value).transpose(1, 2).flatten(2))
        return found


class VisionEncoder(torch.nn.Module):
    """frames [B, T, 3, side, side] -> embedding [B, output]. Attributes have the names of the published weights."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width, patches = size.width, (size.side // size.patch) ** 2
        kernel = 1, size.patch, size.patch
        self.conv1 = torch.nn.Conv3d(3, width, kernel, stride=kernel, bias=False)
        self.class_embedding = torch.nn.Parameter(torch.zeros(width))
        self.positional_embedding = torch.nn.Parameter(torch.zeros(patches + 1, width))
        self.temporal_positional_embedding = torch.nn.Parameter(torch.zeros(1, size.frames, width))
        self.ln_pre, self.ln_post = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.transformer = torch.nn.Module()
        self.transformer.resblocks = torch.nn.Sequential(*(Block(size) for _ in range(size.layers)))
        self.proj = torch.nn.Parameter(torch.zeros(width, size.output))

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        patches = self.conv1(frames.transpose(1, 2)).flatten(3).permute(0, 2, 3, 1)  # [B, T, P, D]
        placed = patches + self.positional_embedding[1:] + self.temporal_positional_embedding[:, :, None]
        first = (self.class_embedding + self.positional_embedding[0]).expand(frames.shape[0], 1, -1)
        tokens = self.ln_pre(torch.cat([first, placed.flatten(1, 2)], dim=1))  # [B, 1 + T * P, D]
        embedding: torch.Tensor = self.ln_post(self.transformer.resblocks(tokens)[:, 0]) @ self.proj
        return embedding


def network(net: VisionEncoder, size: Size) -> Network:
    """The file of an encoder."""
    shape = size.frames, 3, size.side, size.side
    return Network("videoclip_xl.onnx", net.eval(), (seeded(2, *shape),), (seeded(3, *shape, seed=1),))


def networks(sources: Sources) -> list[Network]:
    """videoclip_xl.onnx with the published weights. Raises ModelCorrupt unless every key is known and there."""
    found = load_weights(sources.file(WEIGHTS))
    weights = {name.removeprefix(PREFIX): value for name, value in found.items() if name.startswith(PREFIX)}
    net = VisionEncoder(Size())
    try:
        net.load_state_dict(weights)
    except RuntimeError as error:
        raise ModelCorrupt(f"{WEIGHTS}: not the weights of the vision encoder: {error}") from error
    return [network(net, Size())]


def tiny() -> list[Network]:
    """Two layers of 32 on two frames of 2 x 2 patches."""
    size = Size(side=28, width=32, layers=2, heads=2, frames=2, output=24)
    return [network(shaken(VisionEncoder(size)), size)]
