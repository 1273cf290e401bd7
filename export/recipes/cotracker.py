"""CoTracker3, offline (Karaev et al., 2024): where 100 points of the first frame go.

The architecture is in its authors' repository only (CC BY-NC 4.0): EVALUATOR_CHECKOUT_COTRACKER names the folder of a
checkout of GitHub facebookresearch/co-tracker. Weights: `scaled_offline.pth`. The file is what the published predictor
does with a regular grid: its scaling to 384 x 512, six iterations, its threshold of visibility, and none of the
36 points that it tracks along when it is called with queries. Its sampling in space and time, which neither exporter
nor engines know, becomes sampling in space: queries lie on whole frames.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as functional
from torch import Tensor

from export.checkout import CHECKOUTS
from export.network import Network
from export.onnx_file import seeded
from export.recipe import Sources
from export.shaken import shaken

CHECKOUT = CHECKOUTS["cotracker"]
WEIGHTS = "scaled_offline.pth"
SIDE, POINTS = 384, 100
WINDOW = 60


class Tracks(torch.nn.Module):
    """frames [1, T, 3, 384, 384] in 0..255, queries [1, 100, 3] -> tracks [1, T, 100, 2], visibility [1, T, 100]."""

    def __init__(self, predictor: torch.nn.Module) -> None:
        super().__init__()
        self.predictor = predictor

    def forward(self, frames: torch.Tensor, queries: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        tracks, visible = self.predictor._compute_sparse_tracks(frames, queries, add_support_grid=False)
        return tracks, visible.float()


class Flat:
    """How a tracker looks features up, without a third dimension. B of it is 1, R is the side of its neighbourhood."""

    def __init__(self, model: Any) -> None:
        self.points = model.get_support_points
        self.radius = model.corr_radius

    def track(self, maps: Tensor, frames: Tensor, places: Tensor, support_radius: int) -> tuple[Tensor, Tensor]:
        """Features of queries at frames [1, N], places [1, N, 2]: there [1, 1, N, C], and around [1, R * R, N, C]."""
        points = self.points(with_time(places)[:, None], support_radius)[0, ..., 1:]  # [R * R, N, 2]
        everywhere = sampled(maps[0], points[None].expand(maps.shape[1], -1, -1, -1))  # [T, C, R * R, N]
        own = frames[0][None, None, None].expand(1, *everywhere.shape[1:])
        found = everywhere.gather(0, own).permute(0, 2, 3, 1)
        return found[:, None, found.shape[1] // 2], found

    def correlation(self, maps: Tensor, places: Tensor) -> Tensor:
        """Features around places [T, N, 2] of each frame -> [1, T, N, R, R, C]."""
        points = self.points(with_time(places)[:, None], self.radius, reshape_back=False)[..., 1:]  # [T, N, R, R, 2]
        found = sampled(maps[0], points.flatten(2, 3))  # [T, C, N, R * R]
        return found.unflatten(3, points.shape[2:4]).permute(0, 2, 3, 4, 1)[None]


def with_time(places: Tensor) -> Tensor:
    """[..., 3]: a zero in front of x and y."""
    return functional.pad(places, (1, 0))


def sampled(maps: Tensor, points: Tensor) -> Tensor:
    """[T, C, A, B]: maps [T, C, H, W] at points [T, A, B, 2] in pixels; beyond the edge, the edge."""
    size = torch.tensor([maps.shape[3] - 1, maps.shape[2] - 1])
    return functional.grid_sample(maps, points * 2 / size - 1, align_corners=True, padding_mode="border")


def flat(predictor: Any) -> Any:
    """The predictor, its tracker looking features up in space only."""
    lookup = Flat(predictor.model)
    predictor.model.get_track_feat, predictor.model.get_correlation_feat = lookup.track, lookup.correlation
    return predictor


def network(predictor: torch.nn.Module, shorter: int, longer: int) -> Network:
    """The file of a predictor, traced on a short clip and compared on a longer one."""
    traced, compared = (
        (seeded(1, frames, 3, SIDE, SIDE, low=0.0, high=255.0, seed=frames), queries()) for frames in (shorter, longer)
    )
    return Network("cotracker.onnx", Tracks(flat(predictor).eval()), traced, compared, tolerance=1e-3, full=("",))


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
    return [network(predictor(str(sources.file(WEIGHTS))), 8, 16)]


def tiny() -> list[Network]:
    """The published size, which its repository fixes, with random weights."""
    return [network(shaken(predictor(None)), 2, 3)]
