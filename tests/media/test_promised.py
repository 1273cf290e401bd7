"""How many frames a container promises, and the sampling rules that believe it."""

from __future__ import annotations

import struct
from pathlib import Path

import av
import numpy as np
import pytest

from evaluator.media.decode import picked
from evaluator.media.probe import MOST_PROMISED, probe
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


@pytest.mark.parametrize("rule", sorted(COUNTED))
def test_a_promise_of_any_size_takes_no_memory(rule: str) -> None:
    found = select(Sampling(rule, (10,)), np.arange(125) / 25, promised=MOST_PROMISED)
    assert found.tolist() == [0]


def test_what_a_header_claims_is_cut_to_what_a_count_can_be(tmp_path: Path) -> None:
    path = tmp_path / "a.avi"
    with av.open(path, "w") as container:
        stream = container.add_stream("mpeg4", 25)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        for level in range(10):
            picture = np.full((32, 32, 3), level, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "rgb24")))
        container.mux(stream.encode(None))
    data = bytearray(path.read_bytes())
    at = data.index(b"strh") + 40  # the header's number of frames
    assert struct.unpack_from("<I", data, at) == (10,)
    struct.pack_into("<I", data, at, 0xFFFFFFFF)
    path.write_bytes(data)
    video = probe(path).video
    assert video is not None
    assert (video.frames, 0 <= video.promised <= MOST_PROMISED) == (10, True)
    assert picked(View(Sampling("linspace_promised", (8,))), video)[0] == 0


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
