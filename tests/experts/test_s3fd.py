"""S3FD: anchors against their definition, a planted face through a network of its contract, and what it refuses."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import ExpertError
from evaluator.experts.s3fd import EXPERT, FILE, Detector
from evaluator.experts.s3fd_anchors import anchors, boxes_of, map_sizes
from evaluator.experts.s3fd_boxes import faces
from evaluator.media.types import U8
from evaluator.runtime.lock import read_lock
from evaluator.runtime.onnx import OnnxSession
from evaluator.runtime.store import LOCK_FILE
from evaluator.schema import ExpertNeed, Fit, Sampling
from tests.experts.fakes import FakeSession, FakeSource
from tests.suites.ave_compass.networks import red_faces

CONTRACT = read_lock(LOCK_FILE)["s3fd"].file(FILE)


def network(folder: Path, **how: object) -> OnnxSession:
    path = folder / FILE
    path.write_bytes(red_faces(CONTRACT, **how))  # type: ignore[arg-type]
    return OnnxSession(path)


def spots(height: int, width: int, *cells: tuple[int, int]) -> U8:
    """A black picture with red squares of 64 pixels at (row, column) of a grid of such squares."""
    picture = np.zeros((height, width, 3), np.uint8)
    for row, column in cells:
        picture[64 * row : 64 * row + 64, 64 * column : 64 * column + 64, 0] = 255
    return picture


def by_definition(height: int, width: int) -> list[list[float]]:
    """Every cell of every map: its middle, and a square of four strides."""
    return [
        [(column + 0.5) * stride, (row + 0.5) * stride, 4 * stride]
        for stride, (rows, columns) in zip((4, 8, 16, 32, 64, 128), map_sizes(height, width), strict=True)
        for row, column in product(range(rows), range(columns))
    ]


@given(st.integers(32, 300), st.integers(32, 300))
@settings(max_examples=10, deadline=None)
def test_anchors_are_the_cells_of_the_maps(height: int, width: int) -> None:
    np.testing.assert_allclose(anchors(height, width), by_definition(height, width))


@pytest.mark.parametrize(
    ("side", "sides"), [(128, [32, 16, 8, 4, 2, 1]), (270, [67, 34, 17, 8, 4, 2]), (33, [8, 4, 2, 1, 1, 1])]
)
def test_one_pooling_rounds_up_and_the_others_down(side: int, sides: list[int]) -> None:
    assert [rows for rows, _ in map_sizes(side, 480)] == sides


def test_offsets_of_nothing_are_the_anchor_and_units_are_a_tenth_and_a_fifth() -> None:
    anchor = np.array([[100.0, 60.0, 64.0]])
    nothing = np.zeros((1, 4), np.float32)
    np.testing.assert_allclose(boxes_of(nothing, anchor), [[68, 28, 132, 92]])
    moved = boxes_of(np.array([[1.0, 0.0, 0.0, 5 * np.log(2)]], np.float32), anchor)
    np.testing.assert_allclose(moved, [[68 + 6.4, 60 - 64, 132 + 6.4, 60 + 64]], rtol=1e-6)


@pytest.mark.parametrize(("height", "width"), [(384, 512), (500, 777), (1080, 608)])
def test_a_planted_face_is_found_where_it_is(tmp_path: Path, height: int, width: int) -> None:
    """The red square is the middle cell of an anchor that is 64 pixels wide at a quarter of the size."""
    found = Detector(network(tmp_path)).find(spots(height, width, (2, 3)))
    assert found.shape == (1, 4)
    np.testing.assert_allclose(found[0], [224 - 128, 160 - 128, 224 + 128, 160 + 128], atol=1.5)


def test_the_networks_offsets_move_the_box(tmp_path: Path) -> None:
    session = network(tmp_path, offsets=(1.0, 0.0, 0.0, 0.0))
    (box,) = Detector(session).find(spots(384, 512, (2, 3)))
    np.testing.assert_allclose(box, [96 + 25.6, 32, 352 + 25.6, 288], atol=0.1)


def test_two_faces_are_two_boxes_and_near_ones_are_one(tmp_path: Path) -> None:
    detector = Detector(network(tmp_path))
    assert len(detector.find(spots(512, 1024, (3, 2), (3, 12)))) == 2
    assert len(detector.find(spots(512, 1024, (3, 2), (3, 3)))) == 1
    assert len(detector.find(spots(512, 1024))) == 0


def test_the_network_sees_a_quarter_in_red_green_blue_less_the_means() -> None:
    session = FakeSession(
        lambda feeds: {
            "offsets": np.zeros((1, len(anchors(64, 96)), 4)),
            "scores": np.zeros((1, len(anchors(64, 96)), 2)),
        }
    )
    picture = np.broadcast_to(np.array([200, 100, 50], np.uint8), (256, 384, 3))
    assert Detector(session).find(np.ascontiguousarray(picture)).shape == (0, 4)
    fed = session.fed[0]["image"]
    assert (fed.shape, fed.dtype) == ((1, 3, 64, 96), np.float32)
    np.testing.assert_array_equal(fed[0, :, 0, 0], [200 - 123, 100 - 117, 50 - 104])


def test_a_network_with_other_anchors_is_refused_and_a_tiny_picture_is_not_shown() -> None:
    session = FakeSession(lambda feeds: {"offsets": np.zeros((1, 7, 4)), "scores": np.zeros((1, 7, 2))})
    with pytest.raises(ExpertError, match="anchors"):
        Detector(session).find(spots(256, 256))
    assert Detector(session).find(spots(256, 124)).shape == (0, 4)
    assert len(session.fed) == 1


def test_only_boxes_above_nine_tenths_count_and_the_surest_come_first() -> None:
    height = width = 64
    logits = np.zeros((len(anchors(height, width)), 2), np.float32)
    offsets = np.zeros((len(logits), 4), np.float32)
    limit = float(np.log(9.0))
    logits[[0, 15, 240], 1] = limit + 1, limit - 0.01, limit + 2  # 16 pixels wide, in three corners
    found = faces(offsets, logits, height, width)
    np.testing.assert_allclose(found, [[-6, 54, 10, 70], [-6, -6, 10, 10]])


def test_what_the_first_suppression_drops_suppresses_nothing() -> None:
    """A over B by more than 0.3, B over C, A and C apart: C stays although B would have gone on suppressing it."""
    height = width = 64
    logits = np.zeros((len(anchors(height, width)), 2), np.float32)
    offsets = np.zeros((len(logits), 4), np.float32)
    logits[[5, 7, 9], 1] = 9.0, 8.0, 7.0  # 8 pixels apart, 16 wide: 1/3 shared between neighbours
    assert len(faces(offsets, logits, height, width)) == 2


def test_it_watches_whole_frames_25_times_a_second() -> None:
    view = EXPERT(FakeSource({})).view(ExpertNeed("face_clips"))
    assert (view.sampling, view.fit) == (Sampling("fps", (25,)), Fit.NATIVE)
