"""Faces of real clips, and of pictures made from them."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from evaluator.experts.blazeface import EXPERT, LONG_SIDE
from evaluator.experts.features import FaceTrack
from evaluator.media.types import U8
from evaluator.runtime.session import SessionSource
from evaluator.schema import ALL_FRAMES, ExpertNeed, Filter, Fit, Sampling, View
from tests.experts.fakes import FakeSource
from tests.experts.pictures import RATE, chunks, clip_of, feature_of, view_of, watch

WANT = ExpertNeed("faces", sampling=ALL_FRAMES)


@pytest.fixture(scope="module")
def carphone(clips: Path) -> U8:
    """A man who talks in a car, [120, 144, 176, 3]; his face spans about x 52..104, y 46..94."""
    return view_of(clips / "carphone_pristine.mp4", View(ALL_FRAMES)).data


def test_a_talking_face_is_followed_and_its_mouth_moves(clips: Path, models: SessionSource) -> None:
    track = feature_of(EXPERT(models), WANT, clips / "carphone_pristine.mp4")
    assert isinstance(track, FaceTrack)
    assert len(track.index) == len(track.time) == 120
    assert np.mean(track.score > 0.8) > 0.95
    assert set(track.detector) == {"blazeface"}
    opening = track.mouth_opening[np.isfinite(track.mouth_opening)]
    assert len(opening) > 114
    assert opening.min() < 0.03
    assert opening.max() > 0.12
    np.testing.assert_allclose(np.median(track.box, axis=0), [0.30, 0.32, 0.59, 0.65], atol=0.03)


def test_a_closed_mouth_opens_less_than_an_open_one(carphone: U8, models: SessionSource) -> None:
    track = watch(EXPERT(models), WANT, carphone)
    order = np.argsort(track.mouth_opening)

    def dark(frame: int) -> float:
        """Share of dark pixels in the lower middle of the face: the inside of an open mouth."""
        x1, y1, x2, y2 = track.box[frame] * np.array([176, 144, 176, 144])
        mouth = carphone[
            frame, int(y2 - 0.35 * (y2 - y1)) : int(y2), int(x1 + 0.3 * (x2 - x1)) : int(x2 - 0.3 * (x2 - x1))
        ]
        return float((mouth.mean(axis=-1) < 60).mean())

    assert np.mean([dark(k) for k in order[-10:]]) > 2 * np.mean([dark(k) for k in order[:10]]) + 0.02


def test_faces_of_bikes_are_where_people_are(clips: Path, models: SessionSource) -> None:
    """A man walks through frames 30 to 45, a cyclist stands in 76 to 136; the rest is traffic."""
    view = View(Sampling("ranges", (((0, 60), (136, 200)),)), Fit.LONG_SIDE_MAX, LONG_SIDE, filter=Filter.AREA)
    track = watch(EXPERT(models), WANT, view_of(clips / "bikes.mp4", view).data)
    seen = np.flatnonzero(track.score > 0)
    assert len(seen) >= 8
    assert set(seen.tolist()) <= set(range(29, 47))


def test_noise_has_no_face(models: SessionSource) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (13, 360, 640, 3), dtype=np.uint8)
    track = watch(EXPERT(models), WANT, noise)
    assert track.score.tolist() == track.count.tolist() == [0] * 13
    assert np.isnan(track.box).all()
    assert np.isnan(track.mouth_opening).all()
    assert track.detector == ("",) * 13


def test_a_small_face_in_a_large_frame_is_found_by_mtcnn_and_followed(carphone: U8, models: SessionSource) -> None:
    """Sixty pixels wide in 1280 x 720, so thirty in the frame that is watched."""
    zoom = 60 / 52
    film = np.full((14, 720, 1280, 3), 90, np.uint8)
    for frame, picture in zip(film, carphone, strict=False):
        inset = cv2.resize(picture, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_CUBIC)
        frame[400 : 400 + inset.shape[0], 900 : 900 + inset.shape[1]] = inset
    watched = np.stack([cv2.resize(frame, (640, 360), interpolation=cv2.INTER_AREA) for frame in film])
    track = watch(EXPERT(models), WANT, watched)
    assert track.detector[0] == "mtcnn"
    assert set(track.detector[1:]) == {"blazeface"}
    assert np.isfinite(track.mouth_opening).all()
    x1, y1, x2, y2 = (np.array([900, 400, 900, 400]) + zoom * np.array([52, 46, 104, 94])) / np.array([1280, 720] * 2)
    assert (np.abs(track.box - [x1, y1, x2, y2]) < 0.02).all()


def test_rows_do_not_depend_on_chunks(carphone: U8, models: SessionSource) -> None:
    one, many = (watch(EXPERT(models), WANT, carphone[:12], size) for size in (1, 12))
    np.testing.assert_array_equal(one.mouth_opening, many.mouth_opening)
    np.testing.assert_array_equal(one.box, many.box)
    np.testing.assert_array_equal(one.time, np.arange(12) / RATE)


def test_clips_do_not_see_each_other(carphone: U8, models: SessionSource) -> None:
    expert = EXPERT(models)
    alone = watch(expert, WANT, carphone[:6])
    first, second = expert.tap(WANT, clip_of(6)), expert.tap(WANT, clip_of(6))
    for here, there in zip(chunks(carphone[:6], 2), chunks(carphone[60:66], 2), strict=True):
        first.push(here)
        second.push(there)
    np.testing.assert_array_equal(first.close().box, alone.box)
    np.testing.assert_array_equal(second.close().box, watch(expert, WANT, carphone[60:66]).box)


def test_a_clip_without_frames_is_an_empty_track(models: SessionSource) -> None:
    track = EXPERT(models).tap(WANT, clip_of(0)).close()
    assert len(track.index) == len(track.detector) == 0
    assert track.box.shape == (0, 4)


def test_watches_every_frame_and_never_enlarges() -> None:
    view = EXPERT(FakeSource({})).view(WANT)
    assert (view.sampling, view.fit, view.height, view.colour) == (ALL_FRAMES, Fit.LONG_SIDE_MAX, LONG_SIDE, "rgb")


def test_a_person_who_talks_to_the_camera(shared: Path, models: SessionSource) -> None:
    view = View(Sampling("ranges", (((0, 50),),)), Fit.LONG_SIDE_MAX, LONG_SIDE, filter=Filter.AREA)
    track = watch(EXPERT(models), WANT, view_of(shared / "data" / "clips" / "talking1.mp4", view).data)
    assert np.mean(np.isfinite(track.mouth_opening)) > 0.95
    assert track.count.max() == 1
    assert np.nanmax(track.mouth_opening) > 4 * np.nanmin(track.mouth_opening)
    middle = (track.box[:, :2] + track.box[:, 2:]) / 2
    assert np.abs(np.diff(middle, axis=0)).max() < 0.05  # one head, no jumps
