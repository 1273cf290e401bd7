"""The contract of the SAM 2 expert: which boxes are tracked, from where, and what the masks become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from evaluator.errors import ExpertError
from evaluator.experts.features import GroundedBoxes, RegionMasks
from evaluator.experts.regions import MASK_FRAMES, phrases_option
from evaluator.experts.sam2 import EXPERT, MASK_SIDE, SIDE, START, STEP, accepted, inside
from evaluator.media.types import Frames
from evaluator.runtime.session import Array
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, View
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import clip_of

PHRASES = ("car", "tree", "sky", "ghost")
OPTIONS = (phrases_option(PHRASES),)
WANT = ExpertNeed("region_masks", ("video",), options=OPTIONS)
LEFT, TOP, ALL, SMALL = [0, 0, 0.5, 1], [0, 0, 1, 0.25], [0, 0, 1, 1], [0, 0, 0.1, 0.1]
BOXES = GroundedBoxes(
    PHRASES, np.array([LEFT, TOP, ALL, SMALL], np.float32), np.array([0.9, 0.3, 0.99, 0.29]), np.array([0, 2, 0, 1])
)


def logits(boxes: Array) -> Array:
    """[K, 256, 256], 5 inside a box and -5 outside."""
    y, x = (np.mgrid[0:MASK_SIDE, 0:MASK_SIDE] + 0.5) * SIDE / MASK_SIDE
    x1, y1, x2, y2 = (boxes[:, axis, None, None] for axis in range(4))
    return np.where((x >= x1) & (x < x2) & (y >= y1) & (y < y2), 5, -5).astype(np.float32)


def start(feeds: Mapping[str, Array]) -> Mapping[str, Any]:
    return {"masks": logits(feeds["boxes"]), "memory": feeds["boxes"]}


def step(feeds: Mapping[str, Array]) -> Mapping[str, Any]:
    return {"masks": logits(feeds["past"]), "memory": feeds["past"]}


def frames(count: int = 4, height: int = 120, width: int = 160) -> Frames:
    """What the expert sees of a clip of this size."""
    data = np.zeros((count, SIDE, SIDE, 3), np.uint8)
    index = np.arange(count) * 12
    return Frames(data, index, index / 25, clip_of(100, height, width))


def run(options: tuple[tuple[str, str], ...] = (), first: FakeSession | None = None, **size: int) -> RegionMasks:
    sessions = {START: first or FakeSession(start), STEP: FakeSession(step)}
    want = ExpertNeed("region_masks", options=(*OPTIONS, *options))
    found = EXPERT(FakeSource(sessions)).run(want, {"boxes": BOXES, "frames": frames(**size)})
    assert isinstance(found, RegionMasks)
    return found


def test_asks_for_squares_at_two_a_second_and_the_boxes_of_the_same_clip() -> None:
    """The authors' predictor makes its squares by Pillow's `resize` without a filter, which is bicubic."""
    needs = EXPERT(FakeSource({})).needs(ExpertNeed("region_masks", ("source",), options=OPTIONS))
    assert needs["frames"] == FramesNeed(View(MASK_FRAMES, Fit.SQUASH, SIDE, SIDE, Filter.BICUBIC), "source")
    assert needs["boxes"] == ExpertNeed("grounded_boxes", ("source",), options=OPTIONS)


def test_boxes_must_be_likely_and_small_enough() -> None:
    assert accepted(BOXES).tolist() == [True, True, False, False]
    found = run()
    assert found.kept == ("car", "tree")
    assert found.dropped == ("sky", "ghost")


def test_objects_begin_where_they_were_found_and_masks_are_united() -> None:
    found = run()
    assert (found.height, found.width, found.index.tolist()) == (120, 160, [0, 12, 24, 36])
    left = np.zeros((120, 160), bool)
    left[:, :80] = True
    both = left.copy()
    both[:30] = True
    for row, expected in enumerate([left, left, both, both]):
        np.testing.assert_array_equal(found.mask(row), expected)


def test_known_defect_compat_begins_every_object_on_frame_0() -> None:
    """CoVEBench 10, point 8: a box that was found on frame 1 or 2 is given to frame 0."""
    found = run((("box_frame", "first"),))
    assert found.mask(0)[:30].all()
    with pytest.raises(ValueError, match="box_frame"):
        run((("box_frame", "x"),))


def test_boxes_go_in_as_pixels_and_memory_comes_back() -> None:
    first, later = FakeSession(start), FakeSession(step)
    EXPERT(FakeSource({START: first, STEP: later})).run(WANT, {"boxes": BOXES, "frames": frames()})
    assert first.fed[0]["boxes"].tolist() == [[0, 0, 512, 1024]]
    assert first.fed[0]["pixels"].shape == (1, 3, SIDE, SIDE)
    assert len(first.fed) == 2  # one for each frame on which objects begin
    assert len(later.fed) == 3 + 1
    assert "boxes" not in later.fed[0]


def test_nothing_accepted_is_an_empty_mask_and_no_network_runs() -> None:
    nothing = GroundedBoxes(PHRASES[:1], np.array([ALL], np.float32), np.array([0.9]), np.array([0]))
    found = EXPERT(FakeSource({})).run(WANT, {"boxes": nothing, "frames": frames()})
    assert found.kept == ()
    assert not any(found.mask(row).any() for row in range(4))


def test_large_clips_are_compared_at_1920() -> None:
    found = run(count=1, height=2160, width=3840)
    assert (found.height, found.width) == (1080, 1920)


def test_masks_are_enlarged_before_they_are_cut_off() -> None:
    mask = np.array([[[-1, 3]]], np.float32)  # 0 lies a quarter of the way from the first centre to the second
    assert inside(mask, 1, 8)[0].tolist() == [False, False, False, True, True, True, True, True]


def test_another_network_is_noticed() -> None:
    wrong = FakeSession(lambda feeds: {"masks": np.zeros((1, 64, 64), np.float32), "memory": [[0]]})
    with pytest.raises(ExpertError, match="256"):
        run(first=wrong)
