"""Faces that are followed while frames pass: against the same rules carried out on the whole clip at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.ndimage import median_filter

from evaluator.errors import MediaError
from evaluator.experts.content_cuts import ContentCuts
from evaluator.experts.face_tape import DELAY, FaceTape
from evaluator.experts.face_tracks import lip_crop
from evaluator.experts.features import FaceClips
from evaluator.media.limits import Limits
from evaluator.media.types import F32, U8, FrameChunk

HEIGHT, WIDTH = 120, 300
Boxes = Sequence[Sequence[float]]


def pictures(count: int, cut_at: int | None = None) -> U8:
    """Smooth pictures whose number can be read in a corner; from `cut_at` on in another colour."""
    ramp = np.linspace(20, 60, WIDTH).astype(np.uint8)
    data = np.repeat(np.broadcast_to(ramp[None, :, None], (HEIGHT, WIDTH, 3))[None], count, axis=0).copy()
    if cut_at is not None:
        data[cut_at:] = 255 - data[cut_at:]
    data[:, 0, 0, 0] = np.arange(count)
    return data


def follow(data: U8, at: Callable[[int], Boxes], chunk: int = 32) -> FaceClips:
    def find(picture: U8) -> F32:
        return np.array(at(int(picture[0, 0, 0])), np.float32).reshape(-1, 4)

    tape = FaceTape(find)
    for start in range(0, len(data), chunk):
        part = data[start : start + chunk]
        index = np.arange(start, start + len(part))
        tape.push(FrameChunk(part, index, index / 25))
    return tape.close()


def moving(slot: int) -> list[float]:
    """A face of 104 x 110 pixels that moves right and shakes."""
    x = 20 + slot * 0.7 + 3 * np.sin(slot)
    return [x, 5, x + 104, 115]


@pytest.mark.parametrize("chunk", [1, 7, 32])
def test_crops_are_those_of_the_whole_clip_at_once(chunk: int) -> None:
    """Gaps filled in, smoothed by a median over 13, cut from the frame itself: as with every frame in memory."""
    data, seen = pictures(90), [slot for slot in range(4, 86) if slot % 9 and not 40 <= slot < 60]
    (track,) = follow(data, lambda slot: [moving(slot)] if slot in seen else [], chunk).tracks
    slots = np.arange(seen[0], seen[-1] + 1)
    known = np.array([moving(slot) for slot in seen], np.float32).astype(np.float64)
    box = np.stack([np.interp(slots, seen, known[:, side]) for side in range(4)], axis=1)
    half = (box[:, 2:] - box[:, :2]).max(axis=1) / 2
    places = np.column_stack([half, (box[:, :2] + box[:, 2:]) / 2])
    places = median_filter(places, size=(13, 1), mode="nearest")
    expected = [lip_crop(data[slot], *place) for slot, place in zip(slots, places.tolist(), strict=True)]
    assert (track.first, track.detections) == (seen[0], len(seen))
    np.testing.assert_array_equal(track.crops, expected)


def box(x: float, width: float = 110) -> list[float]:
    return [x, 5, x + width, 5 + width]


def test_two_faces_are_two_tracks_in_the_order_of_their_beginning() -> None:
    found = follow(pictures(70), lambda slot: [box(180), box(0)] if slot >= 5 else [box(0)])
    assert [(track.first, len(track.crops)) for track in found.tracks] == [(0, 70), (5, 65)]
    assert found.started == 2


@pytest.mark.parametrize(("detections", "kept"), [(50, 0), (51, 1)])
def test_more_than_fifty_detections(detections: int, kept: int) -> None:
    found = follow(pictures(60), lambda slot: [box(20)] if slot < detections else [])
    assert (len(found.tracks), found.started) == (kept, 1)


@pytest.mark.parametrize(("side", "kept"), [(100.0, 0), (101.0, 1)])
def test_a_mean_side_above_a_hundred_pixels(side: float, kept: int) -> None:
    assert len(follow(pictures(60), lambda _: [box(20, side)]).tracks) == kept


@pytest.mark.parametrize(("gap", "tracks"), [(24, 1), (25, 2)])
def test_a_track_outlives_25_slots_from_one_detection_to_the_next(gap: int, tracks: int) -> None:
    data = pictures(51 + gap + 51)
    found = follow(data, lambda slot: [] if 51 <= slot < 51 + gap else [box(20)])
    assert len(found.tracks) == tracks


def test_half_an_overlap_is_too_little() -> None:
    there = lambda slot: [box(20 if slot < 60 else 20 + 110 / 3 + 1)]  # noqa: E731  (intersection over union below 1/2)
    assert len(follow(pictures(120), there).tracks) == 2
    near = lambda slot: [box(20 if slot < 60 else 20 + 110 / 3 - 2)]  # noqa: E731
    assert len(follow(pictures(120), near).tracks) == 1


def test_a_cut_ends_every_track() -> None:
    data = pictures(130, cut_at=65)
    found = follow(data, lambda _: [box(20)])
    assert [(track.first, len(track.crops)) for track in found.tracks] == [(0, 65), (65, 65)]
    assert len(follow(pictures(130), lambda _: [box(20)]).tracks) == 1


def test_no_more_pictures_are_held_than_a_crop_has_to_wait_for() -> None:
    tape = FaceTape(lambda _: np.array([box(20)], np.float32))
    for start in range(80):
        tape.push(FrameChunk(pictures(1), np.array([start]), np.array([start / 25])))
        assert len(tape._held) <= DELAY


def test_a_track_that_ended_costs_nothing_any_more() -> None:
    """Twelve faces one after the other: two are looked after at any time, and all twelve are handed out."""
    tape, busy, count = FaceTape(lambda picture: np.array([box(20 + 130 * (tape._slot // 60 % 2))], np.float32)), 0, 720
    for slot in range(count):
        tape.push(FrameChunk(pictures(1), np.array([slot]), np.array([slot / 25])))
        busy = max(busy, len(tape._tracks))
    assert busy == 2
    assert [(one.first, len(one.crops)) for one in tape.close().tracks] == [(60 * k, 60) for k in range(12)]


def test_crops_are_bounded() -> None:
    tape = FaceTape(lambda _: np.array([box(20)], np.float32), Limits(held_bytes=20 * 224 * 224 * 3))
    chunk = FrameChunk(pictures(80), np.arange(80), np.arange(80) / 25)
    with pytest.raises(MediaError) as caught:
        tape.push(chunk)
    assert caught.value.code == "too_large"


def test_cuts_are_changes_of_colour_at_least_15_frames_apart() -> None:
    dark, light = np.full((40, 60, 3), 10, np.uint8), np.full((40, 60, 3), 200, np.uint8)
    flashing = [dark] * 5 + [light] * 5 + [dark] * 20
    cuts = ContentCuts()
    assert not any(cuts.begins_shot(picture) for picture in flashing)
    assert [cuts.begins_shot(picture) for picture in (light, dark, light)] == [True, False, False]


def test_a_change_below_the_threshold_is_no_cut() -> None:
    """Gray levels change value only, so that the mean over hue, saturation and value is a third of the step."""
    for step, cut in ((80, False), (81, True)):
        cuts = ContentCuts()
        for _ in range(20):
            cuts.begins_shot(np.full((8, 8, 3), 50, np.uint8))
        assert cuts.begins_shot(np.full((8, 8, 3), 50 + step, np.uint8)) is cut
