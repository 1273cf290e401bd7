"""Sizes, colours and resizes of one frame, against Pillow, OpenCV, numpy and the ffmpeg binary."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from evaluator.errors import MediaError
from evaluator.media.decode import CollectTap, decode
from evaluator.media.limits import LIMITS
from evaluator.media.probe import probe
from evaluator.media.types import Frames
from evaluator.media.views import target_size
from evaluator.schema import Filter, Fit, Sampling, View
from tests.media.oddfiles import COLOURS, HEIGHT, WIDTH, Clip, picture, read_colours, read_index

FIRST = Sampling("ranges", (((0, 1),),))


def frames(path: Path, view: View) -> Frames:
    info = probe(path)
    tap = CollectTap(info)
    decode(path, info, [(view, tap)], [])
    return tap.close()


def first(path: Path, **wishes: object) -> np.ndarray:
    """[H, W, C] of the first frame."""
    return frames(path, View(FIRST, **wishes)).data[0]


@pytest.mark.parametrize(
    ("fit", "height", "width", "size", "expected"),
    [
        (Fit.NATIVE, 0, 0, (1920, 1080), (1920, 1080)),
        (Fit.SQUASH, 27, 48, (1920, 1080), (48, 27)),
        (Fit.SHORT_SIDE, 256, 0, (1920, 1080), (455, 256)),  # 455.1
        (Fit.SHORT_SIDE, 256, 0, (1080, 1920), (256, 455)),
        (Fit.SHORT_SIDE, 256, 0, (100, 50), (512, 256)),
        (Fit.LONG_SIDE_MAX, 768, 0, (1920, 1080), (768, 432)),
        (Fit.LONG_SIDE_MAX, 768, 0, (640, 480), (640, 480)),
        (Fit.LONG_SIDE_MAX, 10, 0, (4000, 3), (10, 1)),
        (Fit.SHORT_SIDE_CROP, 256, 224, (1920, 1080), (224, 224)),
        (Fit.LETTERBOX, 288, 512, (100, 100), (512, 288)),
        (Fit.LETTERBOX, 224, 0, (1920, 1080), (224, 224)),
    ],
)
def test_target_size(fit: Fit, height: int, width: int, size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert target_size(View(fit=fit, height=height, width=width), *size) == expected


@example(width=1, height=5000, side=1000)
@given(width=st.integers(1, 5000), height=st.integers(1, 5000), side=st.integers(1, 1000))
def test_aspect_is_kept_to_a_pixel(width: int, height: int, side: int) -> None:
    longer = max(width, height) * side // min(width, height)
    if longer * side > max(LIMITS.pixels, width * height):
        with pytest.raises(MediaError, match="it is too narrow"):
            target_size(View(fit=Fit.SHORT_SIDE, height=side), width, height)
    else:
        short = target_size(View(fit=Fit.SHORT_SIDE, height=side), width, height)
        assert (min(short), max(short)) == (side, longer)
    bounded = target_size(View(fit=Fit.LONG_SIDE_MAX, height=side), width, height)
    assert max(bounded) == min(side, max(width, height))
    assert min(bounded) >= 1


@pytest.mark.parametrize(
    "view",
    [
        View(fit=Fit.SQUASH, height=10),
        View(fit=Fit.SHORT_SIDE),
        View(fit=Fit.SHORT_SIDE_CROP, height=100, width=101),
        View(fit=Fit.LETTERBOX, width=10),
    ],
)
def test_impossible_sizes_are_refused(odd: Path, view: View) -> None:
    with pytest.raises(ValueError, match="View"):
        frames(odd / "one.mp4", view)


PILLOW = {Filter.BICUBIC: Image.Resampling.BICUBIC, Filter.BILINEAR: Image.Resampling.BILINEAR}
OPENCV = {Filter.BICUBIC: cv2.INTER_CUBIC, Filter.BILINEAR: cv2.INTER_LINEAR, Filter.AREA: cv2.INTER_AREA}


@pytest.mark.parametrize("size", [(24, 32), (50, 20), (130, 200)])
@pytest.mark.parametrize("resample", PILLOW)
def test_pillow(odd: Path, resample: Filter, size: tuple[int, int]) -> None:
    native = first(odd / "plain.mp4")
    expected = np.asarray(Image.fromarray(native).resize(size[::-1], PILLOW[resample]))
    found = first(odd / "plain.mp4", fit=Fit.SQUASH, height=size[0], width=size[1], filter=resample)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("size", [(24, 32), (50, 20), (130, 200)])
@pytest.mark.parametrize("interpolation", OPENCV)
@pytest.mark.parametrize("colour", ["rgb", "gray"])
def test_opencv(odd: Path, interpolation: Filter, size: tuple[int, int], colour: str) -> None:
    native = first(odd / "plain.mp4")
    if colour == "gray":
        native = cv2.cvtColor(native, cv2.COLOR_RGB2GRAY)
    expected = cv2.resize(native, size[::-1], interpolation=OPENCV[interpolation])
    wish = {"fit": Fit.SQUASH, "height": size[0], "width": size[1], "filter": interpolation, "antialias": False}
    found = first(odd / "plain.mp4", colour=colour, **wish)
    assert np.array_equal(found, expected.reshape(*size, -1))


def test_gray_is_one_channel(odd: Path) -> None:
    native = first(odd / "plain.mp4").astype(float)
    gray = first(odd / "plain.mp4", colour="gray")
    assert gray.shape == (HEIGHT, WIDTH, 1)
    assert np.abs(native @ [0.299, 0.587, 0.114] - gray[..., 0]).max() <= 1


def test_short_side_crop_is_the_middle(odd: Path) -> None:
    whole = first(odd / "plain.mp4", fit=Fit.SHORT_SIDE, height=40)
    crop = first(odd / "plain.mp4", fit=Fit.SHORT_SIDE_CROP, height=40, width=30)
    assert whole.shape == (40, 60, 3)
    assert np.array_equal(crop, whole[5:35, 15:45])


def test_crop_offset_rounds_half_to_even(odd: Path) -> None:
    whole = first(odd / "plain.mp4", fit=Fit.SHORT_SIDE, height=40)
    crop = first(odd / "plain.mp4", fit=Fit.SHORT_SIDE_CROP, height=40, width=35)
    assert np.array_equal(crop, whole[2:37, 12:47])  # 2.5 -> 2, 12.5 -> 12


def test_letterbox_is_centred_on_black(odd: Path) -> None:
    boxed = first(odd / "plain.mp4", fit=Fit.LETTERBOX, height=60, width=60)
    inner = first(odd / "plain.mp4", fit=Fit.SQUASH, height=40, width=60)
    assert np.array_equal(boxed[10:50], inner)
    assert not boxed[:10].any()
    assert not boxed[50:].any()


@pytest.mark.parametrize(("turn", "quarters"), [(90, 1), (180, 2), (270, 3)])
@pytest.mark.parametrize("kind", [Filter.BICUBIC, Filter.FFMPEG_BICUBIC])
def test_rotation(odd: Path, turn: int, quarters: int, kind: Filter) -> None:
    lying = frames(odd / "plain.mp4", View())
    upright = frames(odd / f"turned{turn}.mp4", View())
    assert np.array_equal(upright.data, np.rot90(lying.data, quarters, axes=(1, 2)))
    small = first(odd / f"turned{turn}.mp4", fit=Fit.SHORT_SIDE, height=32, filter=kind)
    assert small.shape == ((32, 48, 3) if turn == 180 else (48, 32, 3))
    assert [read_index(np.rot90(image, -quarters)) for image in upright.data] == list(range(50))
    expected = first(odd / "plain.mp4", fit=Fit.SHORT_SIDE, height=32, filter=kind)
    assert np.abs(small.astype(int) - np.rot90(expected, quarters)).mean() < 1


@pytest.mark.parametrize(
    "name",
    ["plain.mp4", "bt709.mp4", "bt709_full.mp4", "bt601_full.mp4", "tenbit.mp4", "full_chroma.mp4", "interlaced.mp4"],
)
@pytest.mark.parametrize("wish", [{}, {"fit": Fit.SQUASH, "height": 48, "width": 80, "filter": Filter.FFMPEG_BICUBIC}])
def test_matrix_and_range_are_honoured(odd: Path, name: str, wish: dict[str, object]) -> None:
    assert np.abs(read_colours(first(odd / name, **wish)) - COLOURS).max() <= 4


def test_a_wrong_matrix_would_be_seen(odd: Path) -> None:
    path = odd / "bt709.mp4"
    image = first(path)
    luma = cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb)  # BT.601
    assert np.abs(read_colours(luma) - read_colours(cv2.cvtColor(picture(0), cv2.COLOR_RGB2YCrCb))).max() <= 4
    assert np.abs(read_colours(first(path)) - read_colours(first(odd / "plain.mp4"))).max() <= 4


def test_pictures_that_change_size_keep_the_size_of_the_first(tmp_path: Path) -> None:
    pieces = [Clip(f"{width}.ts", frames=10, width=width, options={"crf": "12", "bf": "0"}) for width in (96, 128)]
    data = b"".join(piece.write(tmp_path).read_bytes() for piece in pieces)
    (tmp_path / "both.ts").write_bytes(data)
    found = frames(tmp_path / "both.ts", View())
    assert found.data.shape[1:] == (HEIGHT, 96, 3)
    assert [read_index(image) for image in found.data] == [*range(10), *range(10)]


FFMPEG_FILES = [
    "plain.mp4",
    "tenbit.mp4",
    "full_chroma.mp4",
    "odd_size.mp4",
    "interlaced.mp4",
    "bt709_full.mp4",
    "vp9.webm",
]


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg binary to compare with")
@pytest.mark.parametrize("name", FFMPEG_FILES)
@pytest.mark.parametrize("size", [(27, 48), (64, 96), (101, 203)])
def test_swscale_is_that_of_the_ffmpeg_binary(odd: Path, name: str, size: tuple[int, int]) -> None:
    height, width = size
    args = ["ffmpeg", "-v", "error", "-i", odd / name, "-vf", f"scale={width}:{height}", "-frames:v", "4"]
    raw = subprocess.run([*args, "-pix_fmt", "rgb24", "-f", "rawvideo", "-"], capture_output=True, check=True).stdout
    expected = np.frombuffer(raw, np.uint8).reshape(4, height, width, 3)
    view = View(Sampling("ranges", (((0, 4),),)), Fit.SQUASH, height, width, Filter.FFMPEG_BICUBIC)
    assert np.array_equal(frames(odd / name, view).data, expected)
