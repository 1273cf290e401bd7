"""DOVER++, technical branch (Wu et al., ICCV 2023): fragments of 32 frames -> a raw score (CoVEBench 4.4).

The architecture is in its authors' repository only (MIT): EVALUATOR_CHECKOUT_DOVER names the folder of a checkout of
GitHub VQAssessment/DOVER, in an environment that also has what it requires. Weights: `DOVER_plus_plus.pth`, of which
the technical backbone and head are read.
"""

from __future__ import annotations

import torch

from export.checkout import CHECKOUTS
from export.network import Network
from export.onnx_file import load_weights, seeded
from export.recipe import Sources
from export.shaken import shaken

CHECKOUT = CHECKOUTS["dover_technical"]
WEIGHTS = "DOVER_plus_plus.pth"
BACKBONE, HEAD = "technical_backbone.", "technical_head."


class Technical(torch.nn.Module):
    """fragments [1, 3, 32, 224, 224] -> score [1]: the mean over the map that the head gives."""

    def __init__(self) -> None:
        super().__init__()
        backbone, head = (CHECKOUT.module(f"dover.models.{name}") for name in ("swin_backbone", "head"))
        self.technical_backbone = backbone.SwinTransformer3D(use_checkpoint=False)  # swin_tiny_grpb of dover.yml
        self.technical_head = head.VQAHead(in_channels=768, hidden_channels=64)

    def forward(self, fragments: torch.Tensor) -> torch.Tensor:
        score: torch.Tensor = self.technical_head(self.technical_backbone(fragments)).mean(dim=(1, 2, 3, 4))
        return score


def network(net: Technical) -> Network:
    """The file of a branch."""
    traced, compared = ((seeded(1, 3, 32, 224, 224, low=-2.0, high=2.0, seed=seed),) for seed in (0, 1))
    return Network("dover_technical.onnx", net.eval(), traced, compared, half=2e-2)


def networks(sources: Sources) -> list[Network]:
    """dover_technical.onnx with the published weights."""
    found, net = load_weights(sources.file(WEIGHTS)), Technical()
    weights = found.get("state_dict", found)
    net.load_state_dict({name: value for name, value in weights.items() if name.startswith((BACKBONE, HEAD))})
    return [network(net)]


def tiny() -> list[Network]:
    """The published size, which is Swin's smallest, with random weights."""
    return [network(shaken(Technical()))]
