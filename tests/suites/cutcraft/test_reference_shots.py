"""The reference's classifier and repairs, with the failures that the spec measured (15.4, 15.5)."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from evaluator.experts.features import Embeddings, ShotScores
from evaluator.media.types import ClipInfo, Frames
from evaluator.suites.cutcraft.lab.recipe import CUT, RATE
from evaluator.suites.cutcraft.labels import Optical
from evaluator.suites.cutcraft.prepare import frames_apart
from evaluator.suites.cutcraft.reference_optical import optical_class
from evaluator.suites.cutcraft.reference_shots import (
    Detection,
    Found,
    add_until_counted,
    detect,
    merge_dense,
    merge_flashes,
    second_look,
)
from tests.suites.cutcraft.scenes import join, recipe

AT = round(CUT * RATE)
COUNT = 130
H, D, W = Optical.HARD_CUT, Optical.DISSOLVE, Optical.FLASH_WHITE


def gray(pictures: np.ndarray) -> np.ndarray:
    small = [cv2.cvtColor(cv2.resize(one, (320, 180)), cv2.COLOR_RGB2GRAY) for one in pictures]
    return np.stack(small)


@pytest.mark.parametrize(
    ("kind", "speed", "wanted"),
    [
        ("hard cut", 0.0, H),
        ("dissolve", 0.0, D),
        ("dissolve", 4.0, D),
        ("flash to white", 1.0, W),
        ("flash to black", 1.0, Optical.FLASH_BLACK),
        ("hard cut", 8.0, D),  # D-17
        ("wipe", 8.0, D),  # D-17
    ],
)
def test_classes_and_failures_over_motion(kind: str, speed: float, wanted: Optical) -> None:
    effect = 0.0 if kind == "hard cut" else 0.4
    pictures = gray(join(recipe(kind, effect, (speed, speed)), COUNT))
    assert optical_class(pictures, AT - 1, AT, RATE) is wanted


def test_a_rate_a_hair_below_a_whole_one_is_no_frame_short() -> None:
    """Mean rates come out of floats, and the reference cuts fractions off: int(0.25 x 23.999...) is 5 and not 6."""
    for rate, frames in ((24.0, 6), (24_000 / 1001, 5), (30.0, 7), (30_000 / 1001, 7), (16.0, 4), (10.0, 4), (23.2, 5)):
        for blur in (0.0, -1e-15, -1e-4, 1e-4):
            assert frames_apart(rate * (1 + blur)) == frames, (rate, blur)
    scenes = [detect(*two_flashes(), ShotScores(peaks(), np.arange(96) / 24.0, rate)) for rate in (24.0, 24.0 - 4e-15)]
    assert scenes[0] == scenes[1]
    assert [(one.first, one.last) for one in scenes[0].transitions] == [(30, 56)]


def two_flashes() -> tuple[Frames, Frames]:
    """Pictures of two scenes with white from frame 31 to 55."""
    draw = np.random.RandomState(0)
    shown = np.repeat(draw.randint(20, 120, (2, 18, 32)).astype(np.uint8), 48, axis=0)
    shown[31:56] = 250
    return tuple(wrap(np.stack([cv2.resize(one, size) for one in shown])) for size in ((320, 180), (160, 90)))  # type: ignore[return-value]


def peaks() -> np.ndarray:
    """A transition into white and, as many frames later as a second has, one out of it."""
    found = np.zeros(96, np.float32)
    found[[30, 31, 55, 56]] = 0.9
    return found


def test_few_frames_go_by_the_length_of_the_run() -> None:
    few = np.zeros((4, 180, 320), np.uint8)
    assert optical_class(few, 1, 3, 24.0) is H
    assert optical_class(few, 0, 3, 24.0) is D


def test_measured_transitions(shared: Path) -> None:
    """Spec 15.4: four transitions with the reference's windows, the last of which is not there."""
    golden = json.loads((shared / "data/cutcraft/golden/transnetv2_synthetic_predictions.json").read_text())
    data = np.load(shared / "data/cutcraft/golden/transnetv2_synthetic_frames.npz")
    pictures = data[data.files[0]]
    probability = np.array(golden["reference_windows"], np.float32)
    small = np.stack([cv2.cvtColor(cv2.resize(one, (160, 90)), cv2.COLOR_RGB2GRAY) for one in pictures])
    scores = ShotScores(probability, np.arange(len(probability)) / 24.0, 24.0)
    found = detect(wrap(gray(pictures)), wrap(small), scores)
    assert [(one.first, one.last, one.optical.value) for one in found.transitions] == [
        (59, 59, "hard_cut"),
        (159, 160, "dissolve"),
        (258, 270, "flash_white"),
        (348, 348, "dissolve"),
    ]


def wrap(pictures: np.ndarray) -> Frames:
    return Frames(
        pictures[..., None], np.arange(len(pictures)), np.arange(len(pictures)) / 24.0, ClipInfo("", None, None)
    )


def test_flashes_of_one_colour_merge() -> None:
    found = [Found(10, 12, W, 0.5), Found(30, 31, W, 0.8), Found(33, 33, H, 0.9), Found(70, 71, W, 0.6)]
    merged = merge_flashes(found, 24)
    assert merged[0] == Found(10, 31, W, 0.8)
    assert [one.first for one in merged] == [10, 33, 70]


def test_dense_cuts_become_the_most_confident_one() -> None:
    small = np.zeros((120, 90, 160), np.uint8)
    small[60:] = 90
    found = [Found(50, 50, H, 0.5), Found(55, 55, H, 0.9), Found(65, 65, H, 0.6)]
    kept, shots = merge_dense(found, [(0, 119)], small, 24.0)
    assert kept == [found[1]]
    assert shots == [(0, 54), (56, 119)]
    assert merge_dense(found, [(0, 119)], np.zeros_like(small), 24.0) == ([], [(0, 119)])


def test_a_weak_run_splits_a_long_shot() -> None:
    probability = np.zeros(120, np.float32)
    probability[60:62] = 0.2, 0.3
    found, shots = second_look([], [(0, 119)], probability, 24.0, lambda a, b: H)
    assert (found[0].first, found[0].last, found[0].confidence) == (60, 61, 0.3)
    assert shots == [(0, 61), (62, 119)]


def test_the_count_that_was_asked_for_makes_cuts() -> None:
    """D-04."""
    vectors = np.zeros((20, 2), np.float32)
    vectors[:10, 0] = vectors[10:, 1] = 1.0
    embeddings = Embeddings(vectors, np.arange(0, 120, 6))
    bare = Detection((), ((0, 119),), 24.0)
    asked = add_until_counted(bare, embeddings, 2, lambda a, b: H)
    assert [one.first for one in asked.transitions] == [60 - 7]
    assert len(asked.shots) == 2
    assert add_until_counted(bare, embeddings, 1, lambda a, b: H) == bare
