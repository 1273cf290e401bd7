"""DINOv2 ViT-S/14 from transformers, as `dinov2`, for crops of regions.

Weights: `config.json` and `model.safetensors` of Hugging Face facebook/dinov2-small.
"""

from __future__ import annotations

from transformers import Dinov2Model

from export.network import Network
from export.pretrained import load
from export.recipe import Sources
from export.recipes.dinov2 import SIDE, network, small


def networks(sources: Sources) -> list[Network]:
    """dinov2_small.onnx with the published weights."""
    return [network("dinov2_small.onnx", load(Dinov2Model, sources), SIDE)]


def tiny() -> list[Network]:
    """The same at a tiny configuration."""
    return small("dinov2_small.onnx")
