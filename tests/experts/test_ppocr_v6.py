"""The reader of text: the arithmetic around its networks with networks that are known, and the whole on drawn words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np
import pytest

from evaluator.errors import ExpertError, ModelMissing
from evaluator.experts.features import SpottedText
from evaluator.experts.ppocr_v6 import (
    ALPHABET,
    DETECTOR,
    EXPERT,
    LONG_SIDE,
    MOST_LINES,
    RECOGNISER,
    SHORT_SIDE,
    WIDEST,
    Reader,
    alphabet,
    detector_size,
    network_input,
    upright,
)
from evaluator.media.types import ClipInfo, FrameChunk
from evaluator.runtime.session import Array
from evaluator.runtime.store import Store
from evaluator.schema import ExpertNeed, Fit, Sampling
from tests.experts.fakes import FakeSession, FakeSource

WANT = ExpertNeed("text_spotting", sampling=Sampling("stride", (1.0, 64)))
SIGNS = ("", "x", " ")


def bright(feeds: Mapping[str, Array]) -> dict[str, Array]:
    """A detector that takes white for text."""
    return {"fetch_name_0": (feeds["x"].mean(axis=1, keepdims=True) > 0.9).astype(np.float32) * 0.95}


def counts(feeds: Mapping[str, Array]) -> dict[str, Array]:
    """A recogniser that reads one x per 48 columns."""
    steps = feeds["x"].shape[3] // 24
    rows = np.zeros((1, steps, len(SIGNS)), np.float32)
    rows[0, np.arange(steps), np.arange(steps) % 2] = 1.0
    return {"fetch_name_0": rows}


def reader() -> Reader:
    return Reader(FakeSession(bright), FakeSession(counts), SIGNS)


def bars(count: int = 1) -> np.ndarray:
    """White bars of 400 x 30 on black, 736 x 1312."""
    picture = np.zeros((736, 1312, 3), np.uint8)
    for place in range(count):
        top = 24 + 58 * (place % 12)
        left = 30 + 640 * (place // 12)
        picture[top : top + 30, left : left + 400] = 255
    return picture


@pytest.mark.parametrize("size", [(720, 1280), (1280, 720), (180, 320), (40, 1280), (4000, 64), (1, 1), (2000, 2000)])
def test_the_detectors_picture_has_sides_that_it_takes(size: tuple[int, int]) -> None:
    found = detector_size(*size)
    assert all(side % 32 == 0 and 32 <= side <= LONG_SIDE for side in found)
    scale = SHORT_SIDE / min(size)
    if 1.0 <= scale <= LONG_SIDE / max(size):
        assert found == pytest.approx([side * scale for side in size], abs=16.1)


def test_inputs_are_bgr_from_minus_one_to_one() -> None:
    picture = np.array([[[255, 0, 51]]], np.uint8)
    assert network_input(picture).ravel() == pytest.approx([51 / 127.5 - 1, -1.0, 1.0], abs=1e-6)


def test_a_line_is_found_where_it_is_and_read_at_its_own_width() -> None:
    (line,) = reader().lines(bars())
    height, width = 736, 1312
    centre = line.corners.mean(axis=0) * (width, height)
    assert centre == pytest.approx((230, 39), abs=2)
    size = (line.corners[2] - line.corners[0]) * (width, height)
    steps = max(320, math.ceil(48 * round(size[0]) / round(size[1]))) // 24
    assert line.text == "x" * (steps // 2)


def test_a_standing_line_is_laid_down() -> None:
    tall = np.zeros((200, 60, 3), np.uint8)
    tall[:, :, 0] = np.arange(200)[:, None]  # darker at the top
    corners = np.array([[0, 0], [60, 0], [60, 200], [0, 200]], np.float32)
    laid = upright(tall, corners)
    assert laid.shape[:2] == (60, 200)
    assert laid[30, 5, 0] < laid[30, 190, 0]  # its top is where reading starts


def test_many_lines_and_wide_ones_are_bounded() -> None:
    session = FakeSession(counts)
    found = Reader(FakeSession(bright), session, SIGNS).lines(bars(24))
    assert len(found) == 24
    widest = Reader(FakeSession(bright), session, SIGNS)
    widest.read(np.zeros((2, 4000, 3), np.uint8))
    assert session.fed[-1]["x"].shape == (1, 3, 48, WIDEST)
    crowd = np.zeros((736, 1312, 3), np.uint8)
    for top in range(4, 720, 40):
        for left in range(4, 1260, 110):
            crowd[top : top + 12, left : left + 60] = 255
    assert len(reader().lines(crowd)) == MOST_LINES


def test_what_is_uncertain_is_left_out() -> None:
    unsure = FakeSession(lambda feeds: {"fetch_name_0": 0.3 * counts(feeds)["fetch_name_0"] + 0.1})
    assert Reader(FakeSession(bright), unsure, SIGNS).lines(bars()) == []


def test_an_alphabet_of_another_network_is_refused() -> None:
    with pytest.raises(ExpertError, match=r"3 classes, characters\.txt has 2"):
        Reader(FakeSession(bright), FakeSession(counts), SIGNS[:2]).lines(bars())


@pytest.mark.parametrize("text", ["ab\nc\n", "", "a\n\nb\n"])
def test_a_file_that_is_no_list_of_characters_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / ALPHABET).write_text(text, encoding="utf-8")
    with pytest.raises(ExpertError, match="one character per line"):
        alphabet(tmp_path / ALPHABET)


def test_frames_are_read_as_they_pass(tmp_path: Path) -> None:
    (tmp_path / ALPHABET).write_text("x\n", encoding="utf-8")
    networks = {DETECTOR: FakeSession(bright), RECOGNISER: FakeSession(counts)}
    expert = EXPERT(FakeSource(networks, {ALPHABET: tmp_path / ALPHABET}))
    assert (expert.view(WANT).sampling, expert.view(WANT).fit) == (WANT.sampling, Fit.LONG_SIDE_MAX)
    tap = expert.tap(WANT, ClipInfo("mp4", None, None))
    pictures = np.stack([bars(2), bars(0), bars(1)])
    tap.push(FrameChunk(pictures[:2], np.array([0, 24]), np.array([0.0, 1.0])))
    tap.push(FrameChunk(pictures[2:], np.array([48]), np.array([2.0])))
    found = tap.close()
    assert isinstance(found, SpottedText)
    assert (found.row.tolist(), found.index.tolist(), found.time.tolist()) == ([0, 0, 2], [0, 24, 48], [0.0, 1.0, 2.0])
    assert found.corners.shape == (3, 4, 2)
    assert expert.tap(WANT, ClipInfo("mp4", None, None)).close().corners.shape == (0, 4, 2)


# --------------------------------------------------------------------------------------------- the published model


@pytest.fixture(scope="module")
def published() -> Reader:
    expert = EXPERT(Store.open())
    try:
        return expert._reader()
    except ModelMissing as error:
        pytest.skip(f"only prepared where asked for (python -m export build ppocr_v6): {error}")


def words() -> np.ndarray:
    picture = np.full((720, 1280, 3), (40, 80, 60), np.uint8)
    cv2.putText(picture, "THE LAST TRAIN", (200, 200), cv2.FONT_HERSHEY_DUPLEX, 2.5, (255,) * 3, 4, cv2.LINE_AA)
    cv2.putText(
        picture, "platform 9, 21:45", (400, 500), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (230, 230, 120), 2, cv2.LINE_AA
    )
    cv2.putText(picture, "left", (60, 500), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (230, 230, 120), 2, cv2.LINE_AA)
    return picture


def test_drawn_words_are_read_where_they_stand(published: Reader) -> None:
    found = published.lines(words())
    assert [line.text for line in found] == ["THE LAST TRAIN", "left", "platform 9, 21:45"]
    assert all(line.score > 0.95 for line in found)
    (width, height), _ = cv2.getTextSize("THE LAST TRAIN", cv2.FONT_HERSHEY_DUPLEX, 2.5, 4)
    low, high = found[0].corners.min(axis=0) * (1280, 720), found[0].corners.max(axis=0) * (1280, 720)
    assert low == pytest.approx((200, 200 - height), abs=15)
    assert high == pytest.approx((200 + width, 200), abs=15)


@pytest.mark.parametrize("angle", [-8.0, 15.0])
def test_turned_words_are_read(published: Reader, angle: float) -> None:
    turn = cv2.getRotationMatrix2D((640, 360), angle, 1.0)
    found = published.lines(cv2.warpAffine(words(), turn, (1280, 720)))
    assert {line.text for line in found} == {"THE LAST TRAIN", "left", "platform 9, 21:45"}


def test_blurred_words_are_lost_smallest_first(published: Reader) -> None:
    read = [
        {line.text for line in published.lines(cv2.GaussianBlur(words(), (0, 0), sigma))} for sigma in (0.5, 8.0, 24.0)
    ]
    assert "platform 9, 21:45" in read[0] - read[1]
    assert "THE LAST TRAIN" in (read[0] & read[1]) - read[2]


def test_a_picture_without_words_has_none(published: Reader) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (360, 640, 3), np.uint8)
    assert published.lines(noise) == []
    assert published.lines(np.zeros((360, 640, 3), np.uint8)) == []


def test_the_alphabet_is_that_of_the_network(published: Reader) -> None:
    assert len(published.alphabet) == len(set(published.alphabet)) == 18_710
    assert set("aZ09é漢カ ,.:?") <= set(published.alphabet)
