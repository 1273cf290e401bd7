"""AES_kf: half key frames, half sampled frames; and which frames of a real clip those are."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import FrameAesthetics
from evaluator.media.decode import picked
from evaluator.media.probe import probe
from evaluator.media.sampling import select
from evaluator.metrics.base import Outcome
from evaluator.schema import Sampling, View
from evaluator.suites.covebench import aes, aes_kf
from tests.metrics.build import plain


def rated(*values: float) -> FrameAesthetics:
    return FrameAesthetics(np.array(values, np.float32), np.arange(len(values)) * 5)


def score(keys: FrameAesthetics, sampled: FrameAesthetics) -> Outcome:
    return aes_kf.METRIC.compute(key_frames=keys, sampled=sampled)


def test_it_is_the_mean_of_two_means_and_not_of_all_frames() -> None:
    found = score(rated(8.0), rated(2.0, 3.0, 4.0))
    assert found.value == 5.5
    assert found.details["key_frames"] == {"mean": 8.0, "index": [0], "per_frame": [8.0]}
    assert found.details["sampled"]["index"] == [0, 5, 10]
    assert plain(dict(found.details))


@given(st.lists(st.floats(1, 10, width=32), min_size=1, max_size=10))
def test_equal_frames_give_the_plain_score(values: list[float]) -> None:
    same = rated(*values)
    assert score(same, same).value == pytest.approx(aes.METRIC.compute(aesthetics=same).value)


def test_without_key_frames_there_is_no_score() -> None:
    for keys, sampled in ((rated(), rated(5.0)), (rated(5.0), rated())):
        with pytest.raises(NotApplicable) as caught:
            score(keys, sampled)
        assert caught.value.reason == "not_applicable"


def write(path: Path, frames: int, keys: set[int], codec: str = "libx264") -> Path:
    """A clip whose key frames are these. Other frames reach both ways, so that storage order is not show order."""
    with av.open(path, "w") as container:
        stream = container.add_stream(codec, 25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        options = {
            "libx264": {"bf": "2", "sc_threshold": "0", "g": "250"},
            "mpeg4": {"g": "250", "sc_threshold": "1000000000"},
        }
        stream.options = options[codec]
        noise = np.random.default_rng(0)
        for index in range(frames):
            picture = np.full((48, 64, 3), index * 3 % 256, np.uint8)
            picture[:8] = noise.integers(0, 256, (8, 64, 3))
            frame = av.VideoFrame.from_ndarray(picture, "rgb24")
            frame.pict_type = av.video.frame.PictureType.I if index in keys else av.video.frame.PictureType.NONE
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(("name", "codec"), [("a.mp4", "libx264"), ("a.mkv", "libx264"), ("a.avi", "mpeg4")])
def test_key_frames_are_those_of_the_container(tmp_path: Path, name: str, codec: str) -> None:
    """By packets, and (AVI has no times) by decoding."""
    video = probe(write(tmp_path / name, 40, {0, 7, 21}, codec)).video
    assert video is not None
    assert video.indexed_by == ("decode" if name.endswith("avi") else "packets")
    assert video.keys.tolist() == [0, 7, 21]
    assert picked(View(aes_kf.KEY_FRAMES), video).tolist() == [0, 7, 21]


def test_of_many_key_frames_ten_are_taken_at_equal_distances() -> None:
    keys = np.arange(0, 200, 8)  # 25 of them: the golden list of 25 and 10
    found = select(aes_kf.KEY_FRAMES, np.arange(200) / 25, keys=keys)
    assert found.tolist() == [8 * place for place in (0, 3, 5, 8, 11, 13, 16, 19, 21, 24)]


@pytest.mark.parametrize("keys", [None, np.empty(0, np.int64)])
def test_no_key_frames_are_no_frames(keys: np.ndarray[tuple[int], np.dtype[np.int64]] | None) -> None:
    assert select(Sampling("key_frames", (10,)), np.arange(9) / 25, keys=keys).tolist() == []
