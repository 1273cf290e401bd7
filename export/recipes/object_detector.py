"""RT-DETR (Zhao et al., 2024) from transformers: objects of COCO's 80 classes. It has no suppression to do.

No detector is named by the papers; this one takes the contract's picture as it is: 640 x 640, RGB, 0..1. Weights:
`config.json` and `model.safetensors` of Hugging Face PekingU/rtdetr_r50vd. `classes.json` is the list of the names in
`id2label` of that configuration, in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from transformers import RTDetrConfig, RTDetrForObjectDetection, RTDetrResNetConfig

from export.network import Network
from export.onnx_file import seeded
from export.pretrained import load, random
from export.recipe import Sources

SIDE = 640


class Detections(torch.nn.Module):
    """pixels [1, 3, side, side] -> boxes [1, Q, 4] in pixels, scores [1, Q], labels [1, Q]."""

    def __init__(self, net: RTDetrForObjectDetection, side: int) -> None:
        super().__init__()
        self.net, self.side = net, side

    def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        found = self.net(pixels)
        scores, labels = found.logits.sigmoid().max(dim=2)
        x, y, width, height = found.pred_boxes.unbind(dim=2)
        corners = torch.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], dim=2)
        return corners * self.side, scores, labels


def likeliest(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the highest score. Queries are the best places of a picture: near equals change their order."""
    best = int(outputs["scores"][0].argmax())
    return {name: value[:, best] for name, value in outputs.items()}


def network(net: RTDetrForObjectDetection, side: int) -> Network:
    """The file of a detector."""
    examples = (seeded(1, 3, side, side, low=0.0),), (seeded(1, 3, side, side, low=0.0, seed=1),)
    return Network("object_detector.onnx", Detections(net, side), *examples, settle=likeliest, half=5e-2)


def networks(sources: Sources) -> list[Network]:
    """object_detector.onnx with the published weights."""
    return [network(load(RTDetrForObjectDetection, sources), SIDE)]


def tiny() -> list[Network]:
    """A backbone of four stages of one block, one layer of encoder and of decoder, 12 queries."""
    stages = {"embedding_size": 8, "hidden_sizes": [8, 16, 32, 32], "depths": [1, 1, 1, 1], "layer_type": "basic"}
    backbone = RTDetrResNetConfig(**stages, out_features=["stage2", "stage3", "stage4"])
    config = RTDetrConfig(
        backbone_config=backbone, encoder_in_channels=[16, 32, 32], encoder_hidden_dim=32, encoder_ffn_dim=64,
        encoder_attention_heads=2, d_model=32, decoder_in_channels=[32, 32, 32], decoder_ffn_dim=64, num_queries=12,
        decoder_layers=1, decoder_attention_heads=2, num_labels=5, anchor_image_size=None,
    )  # fmt: skip
    return [network(random(RTDetrForObjectDetection, config), 64)]
