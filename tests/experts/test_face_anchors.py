"""BlazeFace decoding against loops that spell it out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.experts.face_anchors import (
    FULL_RANGE,
    OVERLAP,
    SHORT_RANGE,
    AnchorDetector,
    AnchorGrid,
    blend,
    decode,
)
from evaluator.experts.face_geometry import Window
from evaluator.media.types import F32
from tests.experts.fakes import FakeSession


def looped_anchors(grid: AnchorGrid) -> list[tuple[float, float]]:
    """Centres of all anchors, in the order of the network's outputs."""
    anchors = []
    for stride, per_cell in grid.layers:
        cells = grid.size // stride
        for y in range(cells):
            for x in range(cells):
                anchors += [((x + 0.5) / cells, (y + 0.5) / cells)] * per_cell
    return anchors


@pytest.mark.parametrize(("grid", "count"), [(SHORT_RANGE, 896), (FULL_RANGE, 2304)])
def test_anchors_are_those_of_the_networks(grid: AnchorGrid, count: int) -> None:
    anchors = grid.anchors()
    assert anchors.shape == (count, 2)
    np.testing.assert_allclose(anchors, looped_anchors(grid), rtol=1e-6)


def test_decoding_moves_everything_but_sides_to_the_anchor() -> None:
    raw = np.array([[6.4, -12.8, 32, 64, *range(0, 120, 10)]], np.float32)
    points = decode(raw, np.array([[0.5, 0.25]], np.float32), size=128)[0]
    middle, sides = np.array([0.5 + 0.05, 0.25 - 0.1]), np.array([32, 64]) / 128
    np.testing.assert_allclose(points[0], middle - sides / 2, atol=1e-6)
    np.testing.assert_allclose(points[1], middle + sides / 2, atol=1e-6)
    np.testing.assert_allclose(points[2:].ravel(), np.arange(0, 120, 10) / 128 + np.tile([0.5, 0.25], 6), atol=1e-6)


def looped_blend(points: F32, scores: F32) -> list[tuple[F32, float]]:
    """Weighted suppression with one pair of boxes at a time."""
    rest = sorted(range(len(scores)), key=lambda k: -scores[k])
    groups = []
    while rest:
        best, members = rest[0], []
        for k in list(rest):
            a, b = points[best, :2], points[k, :2]
            shared = np.clip(np.minimum(a[1], b[1]) - np.maximum(a[0], b[0]), 0, None).prod()
            union = (a[1] - a[0]).prod() + (b[1] - b[0]).prod() - shared
            if shared / union > OVERLAP:
                members.append(k)
                rest.remove(k)
        total = sum(scores[k] for k in members)
        groups.append((sum(points[k] * scores[k] for k in members) / total, scores[best]))
    return groups


@given(st.integers(0, 2**32 - 1), st.integers(1, 25))
def test_blending_is_weighted_suppression(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((count, 8, 2)).astype(np.float32)
    points[:, 1] = points[:, 0] + 0.05 + 0.5 * rng.random((count, 2)).astype(np.float32)
    scores = rng.permutation(np.linspace(0.5, 1, count)).astype(np.float32)
    found, expected = blend(points, scores), looped_blend(points, scores)
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])
    for (mean, _), (want, _) in zip(found, expected, strict=True):
        np.testing.assert_allclose(mean, want, atol=1e-5)


def planted(grid: AnchorGrid, fired: dict[int, float]) -> FakeSession:
    """A network whose anchors answer a box of a quarter of the input, and the given logits."""
    anchors = len(grid.anchors())
    boxes = np.zeros((1, anchors, 16), np.float32)
    boxes[..., 2:4] = grid.size / 4
    logits = np.full((1, anchors, 1), -100, np.float32)
    for anchor, logit in fired.items():
        logits[0, anchor] = logit
    return FakeSession(lambda feeds: {"boxes": boxes, "scores": logits})


def test_a_detection_comes_back_in_pixels_of_the_picture() -> None:
    grid = FULL_RANGE  # 48 x 48 cells
    session = planted(grid, {24 * 48 + 12: 2.0, 24 * 48 + 13: 1.0, 5 * 48 + 40: -0.1})
    picture = np.zeros((100, 200, 3), np.uint8)
    faces = AnchorDetector(session, grid).find(picture, Window.whole(picture))
    assert len(faces) == 1
    p = 1 / (1 + np.exp(-np.array([2.0, 1.0])))
    x = 200 * ((12.5 * p[0] + 13.5 * p[1]) / p.sum()) / 48
    y = 200 * 24.5 / 48 - 50
    np.testing.assert_allclose(faces[0].box, [x - 25, y - 25, x + 25, y + 25], atol=1e-3)
    np.testing.assert_allclose(faces[0].eyes, [[x, y], [x, y]], atol=1e-3)
    assert faces[0].score == pytest.approx(p[0])
    assert session.fed[0]["pixels"].shape == (1, 3, 192, 192)
    assert session.fed[0]["pixels"].max() == -1  # black


def test_no_anchor_fires_no_face() -> None:
    picture = np.zeros((10, 10, 3), np.uint8)
    assert AnchorDetector(planted(SHORT_RANGE, {}), SHORT_RANGE).find(picture, Window.whole(picture)) == []
