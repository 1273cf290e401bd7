"""How many frames a container promises, and the sampling rules that believe it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluator.media.decode import picked
from evaluator.media.probe import probe
from evaluator.media.sampling import COUNTED, select
from evaluator.schema import Sampling, View


@pytest.mark.parametrize("rule", sorted(COUNTED))
@pytest.mark.parametrize("count", [1, 7, 51, 250])
def test_a_true_promise_changes_nothing(rule: str, count: int) -> None:
    times, own = np.arange(count) / 25, Sampling(COUNTED[rule], (10,))
    for promised in (count, 0):
        found = select(Sampling(rule, (10,)), times, promised=promised)
        np.testing.assert_array_equal(found, select(own, times))


def test_frames_that_are_not_there_drop_out() -> None:
    """The published list for 250 frames and ten picks, of which a clip of 125 has the first five."""
    found = select(Sampling("ave_f1_promised", (10,)), np.arange(125) / 25, promised=250)
    assert found.tolist() == [0, 28, 55, 83, 111]


def test_frames_that_were_not_promised_are_never_seen() -> None:
    found = select(Sampling("linspace_promised", (8,)), np.arange(250) / 25, promised=121)
    assert found.tolist() == [0, 17, 34, 51, 69, 86, 103, 120]


def test_a_file_that_was_cut_off_promises_what_it_had(odd: Path) -> None:
    whole, cut = (probe(odd / name).video for name in ("faststart.mp4", "truncated_faststart.mp4"))
    assert whole is not None and cut is not None  # noqa: PT018
    assert whole.promised == whole.frames == cut.promised > cut.frames
    asked = picked(View(Sampling("linspace_promised", (8,))), cut)
    assert 1 <= len(asked) < 8
    assert asked[-1] < cut.frames


def test_a_container_without_a_count_is_taken_by_its_length(odd: Path) -> None:
    video = probe(odd / "whole.mkv").video
    assert video is not None
    assert abs(video.promised - video.frames) <= 1
