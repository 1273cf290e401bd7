"""Transitions over moving shots, by physics; TransNetV2's answer is written down by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.suites.cutcraft.lab.recipe import CUT, KINDS, RATE
from evaluator.suites.cutcraft.labels import Optical
from evaluator.suites.cutcraft.looks import colour_histogram, looks
from evaluator.suites.cutcraft.transitions import Transition, shots, transitions
from tests.suites.cutcraft.scenes import frames, join, pan, plane, recipe, scores

COUNT = 130
AT = round(CUT * RATE)
EFFECTS = {"hard cut": 0.0, "dissolve": 0.5, "wipe": 0.5, "flash to white": 0.4, "flash to black": 0.4, "fade": 1.0}
SEEN = {"hard cut": {AT - 1: 0.9}, "dissolve": {AT: 0.8, AT + 1: 0.6}}
"""What TransNetV2 says: sharp about cuts and dissolves, nothing about the rest (spec 15.4)."""


def find(kind: str, speeds: tuple[float, float], seed: int = 0) -> tuple[Transition, ...]:
    pictures = join(recipe(kind, EFFECTS[kind], speeds, seed), COUNT)
    return transitions(frames(pictures), scores(COUNT, SEEN.get(kind, {})))


@pytest.mark.parametrize("speed", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("kind", KINDS)
def test_class_and_time_whatever_moves(kind: str, speed: float) -> None:
    """Spec 15.5 is where the reference's classifier fails: hard cuts and wipes over pans."""
    (found,) = find(kind, (speed, speed / 2))
    assert found.optical is KINDS[kind]
    assert found.cut == pytest.approx(CUT, abs=0.1)
    assert found.end - found.start == pytest.approx(EFFECTS[kind], abs=0.2)


@pytest.mark.parametrize("seed", range(6))
def test_every_way_of_a_wipe(seed: int) -> None:
    (found,) = find("wipe", (2.0, 2.0), seed)
    assert found.optical is Optical.WIPE


def test_a_moving_shot_has_no_transition() -> None:
    assert transitions(frames(pan(plane(5, (90, 120, 90)), 4.0, COUNT)), scores(COUNT, {})) == ()


def test_a_flash_of_light_inside_a_shot_is_no_transition() -> None:
    one = pan(plane(5, (90, 120, 90)), 0.0, COUNT)
    lit = one.copy()
    lit[60:64] = 250
    assert transitions(frames(lit), scores(COUNT, {})) == ()


def test_a_weak_score_needs_a_change_of_colours() -> None:
    still = frames(pan(plane(5, (90, 120, 90)), 0.0, COUNT))
    changed = frames(join(recipe("dissolve", 0.5), COUNT))
    assert transitions(still, scores(COUNT, {AT: 0.2})) == ()
    assert [one.optical for one in transitions(changed, scores(COUNT, {AT: 0.2}))] == [Optical.DISSOLVE]


def test_two_runs_of_one_fade_are_one_transition() -> None:
    """D-24: the black in the middle is no shot."""
    pictures = join(recipe("fade", 1.0), COUNT)
    found = transitions(frames(pictures), scores(COUNT, {AT - 9: 0.6, AT + 9: 0.5}))
    assert [one.optical for one in found] == [Optical.FLASH_BLACK]


def test_a_passer_by_after_a_cut_is_no_wipe() -> None:
    pictures = join(recipe("hard cut", 0.0), COUNT)
    for step in range(20):
        x = 8 * step
        pictures[AT + 3 + step, :, max(0, x - 40) : x] = (20, 30, 200)
    found = transitions(frames(pictures), scores(COUNT, SEEN["hard cut"]))
    assert [(one.optical, one.cut) for one in found] == [(Optical.HARD_CUT, pytest.approx(AT / RATE))]


def test_brightness_does_not_change_a_class() -> None:
    pictures = join(recipe("wipe", 0.5, (1.0, 1.0)), COUNT)
    dim = (0.6 * pictures).astype(np.uint8)
    assert [one.optical for one in transitions(frames(dim), scores(COUNT, {}))] == [Optical.WIPE]


def test_shots_tile_the_clip() -> None:
    time = np.arange(COUNT) / RATE
    found = find("dissolve", (0.0, 0.0))
    assert shots(found, time, COUNT / RATE) == [(0.0, found[0].cut), (found[0].cut, COUNT / RATE)]
    assert shots((), time, COUNT / RATE) == [(0.0, COUNT / RATE)]


class TestLooks:
    def test_a_histogram_sums_to_one_and_follows_colour(self) -> None:
        red, blue = np.zeros((2, 9, 16, 3), np.uint8)
        red[..., 0], blue[..., 2] = 200, 200
        a, b = colour_histogram(red), colour_histogram(blue)
        assert a.sum() == pytest.approx(1.0)
        assert np.abs(a - b).sum() == pytest.approx(2 * 200 / 255 * 5 - 2 * 2, abs=2.0)
        assert np.abs(a - colour_histogram(red[:, ::-1])).sum() == pytest.approx(0.0, abs=1e-6)

    def test_a_little_more_light_changes_little(self) -> None:
        picture = plane(1, (90, 90, 90))
        near, far = picture + np.uint8(3), np.clip(picture.astype(int) + 60, 0, 255).astype(np.uint8)
        base = colour_histogram(picture)
        assert np.abs(base - colour_histogram(near)).sum() < 0.25 < np.abs(base - colour_histogram(far)).sum()

    def test_rate_and_sides(self) -> None:
        figures = looks(frames(join(recipe("hard cut", 0.0), COUNT)))
        assert figures.rate == pytest.approx(RATE)
        assert figures.change(AT - 1, AT, 0.2) > 0.5
        assert figures.change(20, 21, 0.2) == pytest.approx(0.0, abs=1e-6)
