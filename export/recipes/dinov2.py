"""DINOv2 ViT-B/14 (Oquab et al., 2023) from transformers: pictures of 224 x 224 -> the CLS token after the final norm.

Weights: `config.json` and `model.safetensors` of Hugging Face facebook/dinov2-base. The table of positions is brought
from 37 x 37 to the size of the input once, here, by transformers' own bicubic interpolation.
"""

from __future__ import annotations

import torch
from transformers import Dinov2Config, Dinov2Model

from export.network import Network
from export.onnx_file import seeded
from export.pretrained import load, random
from export.recipe import Sources

SIDE = 224


class ClassToken(torch.nn.Module):
    """pixels [B, 3, side, side] -> embedding [B, D]."""

    def __init__(self, net: Dinov2Model, side: int) -> None:
        super().__init__()
        self.net = net
        patches = torch.zeros(1, 1 + (side // net.config.patch_size) ** 2, net.config.hidden_size)
        with torch.no_grad():
            positions = net.embeddings.interpolate_pos_encoding(patches, side, side)
        net.embeddings.interpolate_pos_encoding = lambda *_: positions

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        embedding: torch.Tensor = self.net(pixels).pooler_output
        return embedding


def network(file: str, net: Dinov2Model, side: int) -> Network:
    """The file of a network at one size of picture."""
    examples = (seeded(2, 3, side, side),), (seeded(3, 3, side, side, seed=1),)
    return Network(file, ClassToken(net, side), *examples)


def networks(sources: Sources) -> list[Network]:
    """dinov2.onnx with the published weights."""
    return [network("dinov2.onnx", load(Dinov2Model, sources), SIDE)]


def small(file: str) -> list[Network]:
    """Two layers of 32 on pictures of 4 x 4 patches; the table of positions is 5 x 5."""
    config = Dinov2Config(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, image_size=70, mlp_ratio=2)
    return [network(file, random(Dinov2Model, config), 56)]


def tiny() -> list[Network]:
    """The same at a tiny configuration."""
    return small("dinov2.onnx")
