"""CLIP ViT-L/14 (Radford et al., 2021), image tower with its projection, from transformers.

Weights: `config.json` and `model.safetensors` of Hugging Face openai/clip-vit-large-patch14, of which this tower is
read.
"""

from __future__ import annotations

import torch
from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection

from export.network import Network
from export.onnx_file import seeded
from export.pretrained import load, random
from export.recipe import Sources


class Embedding(torch.nn.Module):
    """pixels [B, 3, side, side] -> embedding [B, D]."""

    def __init__(self, net: CLIPVisionModelWithProjection) -> None:
        super().__init__()
        self.net = net

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        embedding: torch.Tensor = self.net(pixels).image_embeds
        return embedding


def network(net: CLIPVisionModelWithProjection) -> Network:
    """The file of a tower."""
    side = net.config.image_size
    examples = (seeded(2, 3, side, side),), (seeded(3, 3, side, side, seed=1),)
    return Network("clip_image.onnx", Embedding(net), *examples)


def networks(sources: Sources) -> list[Network]:
    """clip_image.onnx with the published weights."""
    return [network(load(CLIPVisionModelWithProjection, sources))]


def tiny() -> list[Network]:
    """Two layers of 32 on 4 x 4 patches."""
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = CLIPVisionConfig(**sizes, image_size=56, patch_size=14, projection_dim=24)
    return [network(random(CLIPVisionModelWithProjection, config))]
