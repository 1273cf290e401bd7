"""Runs and scenes against the literal walk of CutCraft 4.1."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.metrics.shots import runs_above, scenes, shot_table, transition_table
from tests.metrics.build import shot_scores


def walk(ones: list[int]) -> list[tuple[int, int]]:
    """The scene rule frame by frame."""
    found, start, before = [], 0, 0
    for i, now in enumerate(ones):
        if before == 1 and now == 0:
            start = i
        if before == 0 and now == 1 and i != 0:
            found.append((start, i))
        before = now
    if ones[-1] == 0:
        found.append((start, len(ones) - 1))
    return found or [(0, len(ones) - 1)]


@given(st.lists(st.integers(0, 1), min_size=1, max_size=40))
def test_equals_the_walk(ones: list[int]) -> None:
    assert scenes(len(ones), runs_above(np.array(ones, np.float32))) == walk(ones)


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=60))
def test_shots_are_ordered_and_inside_the_clip(probability: list[float]) -> None:
    shots = shot_table(shot_scores(probability))
    edges = [edge for shot in shots for edge in (shot["start_frame"], shot["end_frame"])]
    assert edges == sorted(edges)
    assert edges[0] >= 0
    assert edges[-1] < len(probability)


def test_the_threshold_is_strict() -> None:
    assert runs_above(np.array([0.5, 0.51, 0.5], np.float32)) == [(1, 1)]


def test_times_are_time_stamps() -> None:
    scores = shot_scores([0, 0, 0, 0.7, 0.9, 0, 0], rate=10.0, start=3.0)
    (transition,) = transition_table(scores)
    assert (transition["start_sec"], transition["end_sec"]) == (3.3, 3.4)
    assert (transition["peak_frame"], round(transition["peak"], 6), round(transition["mean"], 6)) == (4, 0.9, 0.8)
    assert [(shot["start_sec"], shot["end_sec"]) for shot in shot_table(scores)] == [(3.0, 3.3), (3.5, 3.6)]


@pytest.mark.parametrize("windows", ["reference", "official"])
def test_scenes_of_measured_scores(shared: Path, windows: str) -> None:
    golden = json.loads((shared / "data/cutcraft/golden/transnetv2_synthetic_predictions.json").read_text())
    probability = np.array(golden[f"{windows}_windows"], np.float32)
    found = scenes(len(probability), runs_above(probability, golden["threshold"]))
    assert [list(scene) for scene in found] == golden[f"{windows}_scenes"]
