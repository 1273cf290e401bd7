"""SigLIP so400m from transformers, with Aesthetic Predictor v2.5 folded into one vector (AVE-Compass 4.5).

Weights: `config.json` and `model.safetensors` of Hugging Face google/siglip-so400m-patch14-384, of which the image
tower is read, and `aesthetic_predictor_v2_5.pth`. The head is a chain of linear layers without activations; it is
multiplied out in float64. No code of the predictor (AGPL-3.0) is used.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from transformers import SiglipVisionConfig, SiglipVisionModel

from export.fold import fold
from export.network import Network
from export.onnx_file import load_weights, seeded
from export.pretrained import load, random
from export.recipe import Sources

HEAD = "aesthetic_predictor_v2_5.pth"
SIDE = 384
LAYERS = (0, 2, 4, 6, 8)  # between them lies dropout


class Score(torch.nn.Module):
    """pixels [B, 3, side, side] -> score [B]: an affine map of the pooled features at length 1."""

    def __init__(self, tower: SiglipVisionModel, head: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self.tower = tower
        weight, bias = folded(head)
        self.register_buffer("weight", weight, persistent=False)  # [D]
        self.register_buffer("bias", bias, persistent=False)  # []

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        pooled = self.tower(pixels).pooler_output  # [B, D]
        unit = pooled / pooled.square().sum(dim=1, keepdim=True).sqrt()
        score: torch.Tensor = (unit * self.weight).sum(dim=1) + self.bias
        return score


def folded(head: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight [D] and bias [] of the whole head."""
    names = [f"scoring_head.{layer}" for layer in LAYERS]
    weight, bias = fold([(head[f"{name}.weight"].double(), head[f"{name}.bias"].double()) for name in names])
    return torch.from_numpy(weight[0]).float(), torch.from_numpy(bias[0:1]).float()[0]


def network(tower: SiglipVisionModel, head: Mapping[str, torch.Tensor], side: int) -> Network:
    """The file of a tower and a head at one size of picture."""
    examples = (seeded(2, 3, side, side),), (seeded(3, 3, side, side, seed=1),)
    return Network("aesthetic_v25.onnx", Score(tower, head), *examples)


def networks(sources: Sources) -> list[Network]:
    """aesthetic_v25.onnx with the published weights."""
    return [network(load(SiglipVisionModel, sources), load_weights(sources.file(HEAD)), SIDE)]


def tiny() -> list[Network]:
    """Two layers of 32 on 4 x 4 patches, and a head of five layers that get narrower."""
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = SiglipVisionConfig(**sizes, image_size=56, patch_size=14)
    widths = (32, 16, 8, 6, 4, 1)
    head = {}
    for layer, inputs, outputs in zip(LAYERS, widths[:-1], widths[1:], strict=True):
        head[f"scoring_head.{layer}.weight"] = seeded(outputs, inputs, seed=layer)
        head[f"scoring_head.{layer}.bias"] = seeded(outputs, seed=layer + 1)
    return [network(random(SiglipVisionModel, config), head, 56)]
