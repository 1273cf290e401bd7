"""CoTracker3, offline (Karaev et al., 2024): where 100 points of the first frame go.

The architecture is in its authors' repository only (CC BY-NC 4.0): EVALUATOR_CHECKOUT_COTRACKER names the folder of a
checkout of GitHub facebookresearch/co-tracker. Weights: `scaled_offline.pth`. The file is the published predictor as it
is called with queries: its scaling to 384 x 512, six iterations, and its threshold of visibility.
"""

from __future__ import annotations

import torch

from export.checkout import Checkout
from export.network import Network
from export.onnx_file import seeded
from export.recipe import Sources
from export.shaken import shaken

CHECKOUT = Checkout("GitHub facebookresearch/co-tracker", "EVALUATOR_CHECKOUT_COTRACKER")
WEIGHTS = "scaled_offline.pth"
SIDE, POINTS = 384, 100
WINDOW = 60


class Tracks(torch.nn.Module):
    """frames [1, T, 3, 384, 384] in 0..255, queries [1, 100, 3] -> tracks [1, T, 100, 2], visibility [1, T, 100]."""

    def __init__(self, predictor: torch.nn.Module) -> None:
        super().__init__()
        self.predictor = predictor

    def forward(self, frames: torch.Tensor, queries: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        tracks, visible = self.predictor(frames, queries=queries)
        return tracks, visible.float()


def network(predictor: torch.nn.Module) -> Network:
    """The file of a predictor."""
    traced, compared = (
        (seeded(1, frames, 3, SIDE, SIDE, low=0.0, high=255.0, seed=frames), queries()) for frames in (8, 16)
    )
    return Network("cotracker.onnx", Tracks(predictor.eval()), traced, compared, tolerance=1e-3, full=("",))


def queries() -> torch.Tensor:
    """[1, 100, 3]: a grid of points on frame 0."""
    place = torch.linspace(8, SIDE - 8, 10)
    y, x = torch.meshgrid(place, place, indexing="ij")
    return torch.stack([torch.zeros(POINTS), x.flatten(), y.flatten()], dim=1)[None]


def predictor(weights: str | None) -> torch.nn.Module:
    """The predictor of the checkout; without weights, with random ones."""
    made: torch.nn.Module = CHECKOUT.module("cotracker.predictor").CoTrackerPredictor(
        checkpoint=weights, offline=True, v2=False, window_len=WINDOW
    )
    return made


def networks(sources: Sources) -> list[Network]:
    """cotracker.onnx with the published weights."""
    return [network(predictor(str(sources.file(WEIGHTS))))]


def tiny() -> list[Network]:
    """The published size, which its repository fixes, with random weights."""
    return [network(shaken(predictor(None)))]
