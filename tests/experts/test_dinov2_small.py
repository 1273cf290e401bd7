"""What is cut out of two clips and compared: goldens of the crop, frames that do not count, frames that miss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import ExpertError
from evaluator.experts.dinov2_small import DIMENSIONS, EXPERT, FILE, SIZE, crop_box, cut, prepared
from evaluator.experts.features import RegionMasks, RegionSimilarity
from evaluator.experts.regions import MASK_FRAMES, STRIDE_FRAMES, phrases_option, picture_view
from evaluator.media.types import U8, Bool
from evaluator.schema import ExpertNeed, FramesNeed
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import frames_of

OPTIONS = (phrases_option(["car"]),)
ROLES = ("source", "video")
HEIGHT, WIDTH = 60, 80


def masks(boxes: list[tuple[int, int, int, int] | None], size: tuple[int, int] = (HEIGHT, WIDTH)) -> RegionMasks:
    """One box (top, bottom, left, right) per frame, or nothing."""
    union = np.zeros((len(boxes), *size), bool)
    for row, box in enumerate(boxes):
        if box:
            union[row, box[0] : box[1], box[2] : box[3]] = True
    kept = ("car",) if any(boxes) else ()
    bits = np.packbits(union.reshape(len(boxes), -1), axis=1)
    return RegionMasks(bits, *size, kept, (), np.arange(len(boxes)))


def mean_colour() -> FakeSession:
    """A network that sees the mean of each channel and of a corner."""
    matrix = np.random.default_rng(0).standard_normal((6, DIMENSIONS)).astype(np.float32)

    def embed(feeds: Any) -> Any:
        pixels = feeds["pixels"]
        features = np.concatenate([pixels.mean(axis=(2, 3)), pixels[:, :, :112, :112].mean(axis=(2, 3))], axis=1)
        return {"embedding": features @ matrix}

    return FakeSession(embed, ["embedding"])


def compare(first: U8, second: U8, ours: RegionMasks, theirs: RegionMasks, session: FakeSession | None = None) -> Any:
    expert = EXPERT(FakeSource({FILE: session or mean_colour()}))
    inputs = {"first": frames_of(first), "second": frames_of(second), "first_masks": ours, "second_masks": theirs}
    return expert.run(ExpertNeed("region_similarity", ROLES, options=OPTIONS), inputs)


def film(count: int = 4, seed: int = 0, height: int = HEIGHT, width: int = WIDTH) -> U8:
    return np.random.default_rng(seed).integers(0, 256, (count, height, width, 3), dtype=np.uint8)


def test_the_pictures_are_those_of_the_masks_or_in_compat_a_stride() -> None:
    """CoVEBench 10, point 8: the reference pairs masks at 2 fps with frames a whole number of frames apart."""
    expert = EXPERT(FakeSource({}))
    for pictures, sampling in (("masked", MASK_FRAMES), ("stride", STRIDE_FRAMES)):
        options = (*OPTIONS, ("pictures", pictures))
        needs = expert.needs(ExpertNeed("region_similarity", ROLES, options=options))
        assert needs["first"] == FramesNeed(picture_view(sampling), "source")
        assert needs["second"] == FramesNeed(picture_view(sampling), "video")
        assert needs["second_masks"] == ExpertNeed("region_masks", ("video",), options=OPTIONS)
    with pytest.raises(ValueError, match="stride"):
        expert.needs(ExpertNeed("region_similarity", ROLES, options=(("pictures", "x"),)))


def mask_of(rows: slice, columns: slice) -> Bool:
    mask = np.zeros((100, 200), bool)
    mask[rows, columns] = True
    return mask


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (mask_of(slice(40, 60), slice(50, 90)), (44, 37, 96, 63)),
        (mask_of(slice(0, 10), slice(190, 200)), (188, 0, 200, 12)),
    ],
)
def test_goldens_of_the_crop(mask: Bool, expected: tuple[int, int, int, int]) -> None:
    assert crop_box(mask) == expected


@given(st.integers(0, 99), st.integers(0, 199), st.integers(1, 100), st.integers(1, 200))
def test_a_crop_holds_the_mask_and_stays_in_the_picture(top: int, left: int, height: int, width: int) -> None:
    x1, y1, x2, y2 = crop_box(mask_of(slice(top, top + height), slice(left, left + width)))
    assert 0 <= x1 <= left < min(200, left + width) <= x2 <= 200
    assert 0 <= y1 <= top < min(100, top + height) <= y2 <= 100


def test_outside_the_mask_is_black() -> None:
    picture = np.full((100, 200, 3), 200, np.uint8)
    found = cut(picture, mask_of(slice(40, 60), slice(50, 90)))
    assert found.shape == (26, 52, 3)
    assert (found[3:23, 6:46] == 200).all()
    assert found.sum() == 20 * 40 * 3 * 200


@pytest.mark.parametrize("size", [(26, 52), (300, 10), (1, 1), (500, 500)])
def test_a_crop_becomes_the_middle_of_256(size: tuple[int, int]) -> None:
    assert prepared(np.full((*size, 3), 7, np.uint8)).shape == (SIZE, SIZE, 3)


BOX = (10, 40, 20, 60)


def test_a_clip_beside_itself_is_alike() -> None:
    found = compare(film(), film(), masks([BOX] * 4), masks([BOX] * 4))
    assert isinstance(found, RegionSimilarity)
    np.testing.assert_allclose(found.cosine, 1, atol=1e-5)
    assert not found.missing.any()
    assert (found.kept, found.compared) == ((("car",), ("car",)), 4)


def test_what_lies_outside_the_masks_does_not_matter() -> None:
    changed = np.array(film(seed=5))
    changed[:, 10:40, 20:60] = film()[:, 10:40, 20:60]
    found = compare(film(), changed, masks([BOX] * 4), masks([BOX] * 4))
    np.testing.assert_allclose(found.cosine, 1, atol=1e-5)
    assert compare(film(), 255 - film() // 2, masks([BOX] * 4), masks([BOX] * 4)).cosine.max() < 0.999


def test_small_masks_of_the_source_do_not_count_and_small_ones_of_the_edit_are_missing() -> None:
    ours = masks([BOX, (0, 7, 0, 9), None, BOX])  # 63 pixels on frame 1
    theirs = masks([BOX, BOX, BOX, (0, 7, 0, 9)])
    found = compare(film(), film(), ours, theirs)
    assert found.missing.tolist() == [False, True]
    np.testing.assert_allclose(found.cosine, [1, -1], atol=1e-5)
    assert found.compared == 4
    assert not compare(film(1), film(1), masks([(0, 8, 0, 8)]), masks([(0, 8, 0, 8)])).missing.any()  # 64 count


def test_the_edit_is_brought_to_the_size_of_the_source() -> None:
    large = film().repeat(2, axis=1).repeat(2, axis=2)
    theirs = masks([(20, 80, 40, 120)] * 4, (2 * HEIGHT, 2 * WIDTH))
    found = compare(film(), large, masks([BOX] * 4), theirs)
    np.testing.assert_allclose(found.cosine, 1, atol=1e-5)


def test_lists_are_cut_to_the_shorter_one() -> None:
    assert compare(film(4), film(2), masks([BOX] * 3), masks([BOX] * 4)).compared == 2


def test_a_picture_of_the_edit_behind_its_last_mask_is_missing_and_one_of_the_source_does_not_count() -> None:
    """In compat a clip of 25 fps and 5 s has eleven pictures and ten masks; the reference reads the last as empty."""
    edit = compare(film(4), film(4), masks([BOX] * 4), masks([BOX] * 3))
    assert edit.missing.tolist() == [False, False, False, True]
    source = compare(film(4), film(4), masks([BOX] * 3), masks([BOX] * 4))
    assert source.missing.tolist() == [False, False, False]
    assert edit.compared == source.compared == 4


def test_an_edit_in_which_nothing_is_found_runs_no_network() -> None:
    found = compare(film(), film(), masks([BOX] * 4), masks([None] * 4), FakeSession(lambda feeds: {}))
    assert found.missing.all()
    assert found.kept == (("car",), ())


def test_another_network_is_noticed() -> None:
    wide = FakeSession(lambda feeds: {"embedding": np.ones((8, 768), np.float32)}, ["embedding"])
    with pytest.raises(ExpertError, match="384"):
        compare(film(), film(), masks([BOX] * 4), masks([BOX] * 4), wide)
