"""The synthetic clips are what their recipes say, and are made once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from evaluator.bench.clips import Recipe, make
from evaluator.bench.workload import BRIEF, LONG, QUICK, SHORT, SUITE, TINY, alone, edits, write_manifest
from evaluator.manifest import read
from evaluator.media.probe import probe
from evaluator.suites import suites

SMALL = Recipe("small", 160, 96, 24, 1.5, 12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clips")


@pytest.mark.parametrize("recipe", [SMALL, replace(SMALL, name="slow", gop=250), replace(SMALL, rate=30)])
def test_size_rate_length_sound_and_key_frames(folder: Path, recipe: Recipe) -> None:
    path = make(recipe, folder)
    found = probe(path)
    assert found.video is not None
    assert (found.video.width, found.video.height, found.video.frames) == (160, 96, recipe.rate * 1.5)
    assert found.video.rate == pytest.approx(recipe.rate)
    assert found.audio is not None
    assert found.audio.duration == pytest.approx(1.5, abs=0.1)
    with av.open(path) as container:
        keys = [number for number, packet in enumerate(container.demux(video=0)) if packet.is_keyframe]
    assert keys == list(range(0, found.video.frames, recipe.gop))


def test_a_variable_rate_has_gaps_and_keeps_the_other_times(folder: Path) -> None:
    steady, variable = (probe(make(replace(SMALL, variable=flag), folder)).video for flag in (False, True))
    assert steady is not None
    assert variable is not None
    assert variable.frames == len(set(np.round(steady.times, 6)) & set(np.round(variable.times, 6)))
    assert len(set(np.round(np.diff(variable.times), 6))) > 1


def test_pictures_move_and_are_cut_in_the_middle(folder: Path) -> None:
    with av.open(make(SMALL, folder)) as container:
        gray = [frame.to_ndarray(format="gray").astype(float) for frame in container.decode(video=0)]
    change = np.array([np.abs(a - b).mean() for a, b in pairwise(gray)])
    cut = len(gray) // 2 - 1
    assert change.argmax() == cut
    assert 0.5 < np.median(change) < change[cut] / 2


def test_a_clip_is_made_once(folder: Path) -> None:
    stamp = make(SMALL, folder).stat().st_mtime_ns
    assert make(SMALL, folder).stat().st_mtime_ns == stamp


def test_every_recipe_has_a_file_of_its_own() -> None:
    recipes = [*SHORT, *QUICK, LONG, TINY, BRIEF]
    assert len({recipe.file for recipe in recipes}) == len(recipes)


def test_manifests_can_be_read(folder: Path, tmp_path: Path) -> None:
    clips = [make(SMALL, folder), make(replace(SMALL, rate=30), folder)]
    manifest = write_manifest([*edits(clips), *alone(clips[1], 2)], tmp_path / "m.jsonl")
    cases = read(manifest, folder, suites={SUITE: suites()[SUITE].data}).cases
    assert [case.source for case in cases] == [None, clips[0].resolve(), None, None]
