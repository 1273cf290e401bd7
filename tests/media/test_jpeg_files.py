"""Frames that went through JPEG files, against the files that the ffmpeg binary writes."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from evaluator.media.decode import CollectTap, decode
from evaluator.media.jpeg_files import frame_format
from evaluator.media.probe import probe
from evaluator.media.source_route import views_not_for_dali
from evaluator.media.types import U8
from evaluator.schema import ALL_FRAMES, Filter, Fit, View
from tests.runner.clips import clip

JPEG = View(ALL_FRAMES, Fit.NATIVE, filter=Filter.FFMPEG_JPEG)
PLAIN = replace(JPEG, filter=Filter.BILINEAR, antialias=False)


def pictures(path: Path, *views: View) -> list[U8]:
    info = probe(path)
    taps = [(view, CollectTap(info)) for view in views]
    decode(path, info, taps, [])
    return [tap.close().data for _, tap in taps]


@pytest.fixture(scope="module")
def noise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clip(tmp_path_factory.mktemp("jpeg") / "noise.mp4", frames=40)


def test_frames_are_those_of_the_binarys_files(noise: Path, tmp_path: Path) -> None:
    """Two versions of FFmpeg round chroma differently, by half a level; the coding itself changes these by twenty."""
    if shutil.which("ffmpeg") is None:
        pytest.skip("no ffmpeg binary to compare with")
    asked = ["ffmpeg", "-v", "error", "-i", str(noise), "-threads", "1", "-f", "image2", str(tmp_path / "%03d.jpg")]
    subprocess.run(asked, check=True)
    files = [np.asarray(cv2.imread(str(path)))[..., ::-1] for path in sorted(tmp_path.glob("*.jpg"))]
    coarse, plain = pictures(noise, JPEG, PLAIN)
    assert len(files) == len(coarse) == 40
    apart = np.abs(coarse.astype(int) - np.stack(files)).mean(axis=(1, 2, 3))
    lost = np.abs(coarse.astype(int) - plain).mean(axis=(1, 2, 3))
    assert apart.mean() < 0.2 * lost.mean(), (apart, lost)
    assert apart.max() < 2.5


def test_a_frame_depends_on_those_before_it_and_on_nothing_else(noise: Path) -> None:
    """The rate control goes on from frame to frame; two views of one clip get one coding."""
    small = View(ALL_FRAMES, Fit.SQUASH, 24, 32, Filter.FFMPEG_JPEG)
    whole, squashed = pictures(noise, JPEG, small)
    np.testing.assert_array_equal(squashed, [cv2.resize(one, (32, 24)) for one in whole])
    np.testing.assert_array_equal(pictures(noise, JPEG)[0], whole)


@pytest.mark.parametrize(
    ("name", "is_rgb", "chosen"),
    [
        ("yuv420p", False, "yuvj420p"),
        ("yuv420p10le", False, "yuvj420p"),
        ("yuv422p", False, "yuvj422p"),
        ("yuvj444p", False, "yuvj444p"),
        ("gray", False, "yuvj420p"),
        ("gbrp", True, "yuvj444p"),
    ],
)
def test_chroma_is_kept_as_far_as_jpeg_has_it(name: str, is_rgb: bool, chosen: str) -> None:
    assert frame_format(name, is_rgb) == chosen


def test_a_still_has_a_file_too(odd: Path) -> None:
    coarse, plain = pictures(odd / "one.mp4", JPEG, PLAIN)
    assert coarse.shape == plain.shape
    assert 0 < np.abs(coarse.astype(int) - plain).mean() < 30


def test_a_rotated_clip_stands_upright(odd: Path) -> None:
    coarse, plain = pictures(odd / "turned90.mp4", JPEG, PLAIN)
    assert coarse.shape == plain.shape
    assert np.corrcoef(coarse.ravel(), plain.ravel())[0, 1] > 0.9


def test_no_other_decoder_makes_them() -> None:
    assert views_not_for_dali([PLAIN]) == ""
    assert "JPEG" in views_not_for_dali([PLAIN, JPEG])
