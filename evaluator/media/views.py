"""One decoded frame -> the pictures that views ask for: colour, rotation, size.

Colour follows the file's matrix and range tags as FFmpeg's default conversion does (BT.601 limited range if untagged);
the display rotation is applied; sample aspect and transfer curve are not. Knows nothing about which frames are wanted.

Sizes that keep the aspect are truncated, never below 1: `int(long * target / short)`, as torchvision and the Hugging
Face processors do. A centre crop begins at `round((size - crop) / 2)`, halves to even, as torchvision's does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import av
import cv2
import numpy as np
from PIL import Image

from evaluator.errors import MediaError
from evaluator.media.jpeg_files import JpegFiles
from evaluator.media.limits import LIMITS
from evaluator.media.swscale import Swscale
from evaluator.media.types import U8, VideoInfo
from evaluator.schema import ALL_FRAMES, Filter, Fit, View

cv2.setNumThreads(1)  # the process's workers use the cores, one clip each

FFMPEG_KERNELS = {Filter.FFMPEG_BICUBIC: "bicubic", Filter.FFMPEG_AREA: "area"}
"""Filters that scale the decoder's planes before they become RGB: the cheapest, for the full picture is never made."""

Size = tuple[int, int]
"""(width, height) in pixels."""


def target_size(view: View, width: int, height: int) -> Size:
    """(width, height) of the arrays of a view of a clip whose display picture is width x height.

    Raises ValueError for a view that does not say its target size or crops more than there is.
    """
    _check(view)
    if view.fit is Fit.SHORT_SIDE_CROP:
        return view.width, view.width
    if view.fit is Fit.LETTERBOX:
        return view.width or view.height, view.height
    return scaled_size(view, width, height)


def scaled_size(view: View, width: int, height: int) -> Size:
    """(width, height) to which the whole picture is scaled, before a crop or a border.

    Raises MediaError `too_large` for a picture so narrow that it would become larger than any that may be decoded.
    """
    if view.fit is Fit.NATIVE:
        return width, height
    if view.fit is Fit.SQUASH:
        return view.width, view.height
    if view.fit is Fit.LONG_SIDE_MAX:
        return _scaled(width, height, min(view.height, max(width, height)), max(width, height))
    if view.fit is Fit.LETTERBOX:
        box_width = view.width or view.height
        wide = width * view.height >= height * box_width
        return _scaled(width, height, *((box_width, width) if wide else (view.height, height)))
    scaled = _scaled(width, height, view.height, min(width, height))
    if math.prod(scaled) > max(LIMITS.pixels, width * height):
        sizes = f"{width} x {height} scaled to {scaled[0]} x {scaled[1]}"
        raise MediaError("too_large", f"a picture of {sizes} has more than {LIMITS.pixels} pixels; it is too narrow")
    return scaled


def _check(view: View) -> None:
    needs_width = view.fit in {Fit.SQUASH, Fit.SHORT_SIDE_CROP}
    if view.fit is not Fit.NATIVE and (view.height < 1 or (needs_width and view.width < 1)):
        raise ValueError(f"{view}: height and width must say the target size")
    if view.fit is Fit.SHORT_SIDE_CROP and view.width > view.height:
        raise ValueError(f"{view}: the crop is larger than the short side")


def _scaled(width: int, height: int, target: int, side: int) -> Size:
    """Both sides times target / side, truncated."""
    return max(1, width * target // side), max(1, height * target // side)


def transform_of(view: View) -> View:
    """The view without its sampling: equal for two views that turn one frame into the same picture."""
    return replace(view, sampling=ALL_FRAMES)


class Drawing:
    """One kind of picture of the current frame, made at most once per frame and shared by all who ask."""

    def __init__(self, view: View, clip: Size) -> None:
        self.view = view
        self.scaled, self.target = scaled_size(view, *clip), target_size(view, *clip)
        self.made: U8 | None = None


class Renderer:
    """Turns frames of one clip into pictures. Keeps one scaler per size; not thread-safe."""

    def __init__(self, video: VideoInfo) -> None:
        self.size = (video.width, video.height)
        self._turns = (-video.rotation // 90) % 4  # quarter turns counter-clockwise, as numpy counts
        self._scalers: dict[tuple[Size, Filter], Swscale] = {}
        self._frame: av.VideoFrame | None = None
        self._drawings: dict[View, Drawing] = {}
        self._rgb: U8 | None = None
        self._jpeg_files = JpegFiles(video.rate)
        self._coarse: U8 | None = None

    def drawing(self, view: View) -> Drawing:
        """What `picture` takes: the same for all views of equal transform."""
        key = transform_of(view)
        if key not in self._drawings:
            self._drawings[key] = Drawing(key, self.size)
        return self._drawings[key]

    def start(self, frame: av.VideoFrame) -> None:
        """Look at the next frame. Nothing is converted before a picture is asked for."""
        self._frame, self._rgb, self._coarse = frame, None, None
        for drawing in self._drawings.values():
            drawing.made = None

    def picture(self, drawing: Drawing) -> U8:
        """[H, W, C] of the current frame: others get the same array, do not write to it."""
        if drawing.made is None:
            drawing.made = self._render(drawing)
        return drawing.made

    def _render(self, drawing: Drawing) -> U8:
        view, size = drawing.view, drawing.scaled
        if view.filter in FFMPEG_KERNELS and view.fit is not Fit.NATIVE:
            picture = _colour(self._scale(size, view.filter), view)
        elif view.filter is Filter.FFMPEG_JPEG:
            picture = _resize(_colour(self._from_jpeg(), view), size, view)
        else:
            picture = _resize(_colour(self._full(), view), size, view)
        picture = _place(picture, drawing.target, view)
        return picture if picture.ndim == 3 else picture[..., None]

    def _full(self) -> U8:
        """[H, W, 3] RGB of the current frame at the size of the display picture."""
        if self._rgb is None:
            self._rgb = self._scale(self.size)
        return self._rgb

    def _from_jpeg(self) -> U8:
        """The same after its JPEG file; made once per frame, for the encoder remembers the frames before."""
        if self._coarse is None:
            assert self._frame is not None  # noqa: S101  (start() comes first)
            self._coarse = np.ascontiguousarray(np.rot90(self._jpeg_files(self._frame), self._turns))
        return self._coarse

    def _scale(self, size: Size, kernel: Filter = Filter.FFMPEG_BICUBIC) -> U8:
        """[H, W, 3] RGB straight from the decoder's planes; the rotation comes after the scaling."""
        assert self._frame is not None  # noqa: S101  (start() comes first)
        key = size, kernel
        if key not in self._scalers:
            width, height = size if self._turns % 2 == 0 else size[::-1]
            self._scalers[key] = Swscale(width, height, FFMPEG_KERNELS[kernel])
        picture = self._scalers[key](self._frame)
        return np.ascontiguousarray(np.rot90(picture, self._turns)) if self._turns else picture


def _colour(rgb: U8, view: View) -> U8:
    """[H, W, 3], or [H, W] for gray: OpenCV's 0.299 R + 0.587 G + 0.114 B."""
    return np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), np.uint8) if view.colour == "gray" else rgb


def _resize(picture: U8, size: Size, view: View) -> U8:
    if (picture.shape[1], picture.shape[0]) == size:
        return picture
    return _RESIZERS[view.filter, view.antialias](picture, size)


def _pillow(resample: Image.Resampling) -> Callable[[U8, Size], U8]:
    def resize(picture: U8, size: Size) -> U8:
        return np.asarray(Image.fromarray(picture).resize(size, resample))

    return resize


def _opencv(interpolation: int) -> Callable[[U8, Size], U8]:
    def resize(picture: U8, size: Size) -> U8:
        return np.asarray(cv2.resize(picture, size, interpolation=interpolation), np.uint8)

    return resize


_RESIZERS: dict[tuple[Filter, bool], Callable[[U8, Size], U8]] = {
    (Filter.BICUBIC, True): _pillow(Image.Resampling.BICUBIC),
    (Filter.BICUBIC, False): _opencv(cv2.INTER_CUBIC),
    (Filter.BILINEAR, True): _pillow(Image.Resampling.BILINEAR),
    (Filter.BILINEAR, False): _opencv(cv2.INTER_LINEAR),
    (Filter.FFMPEG_JPEG, True): _opencv(cv2.INTER_LINEAR),
    (Filter.FFMPEG_JPEG, False): _opencv(cv2.INTER_LINEAR),
    (Filter.AREA, True): _opencv(cv2.INTER_AREA),
    (Filter.AREA, False): _opencv(cv2.INTER_AREA),
}
"""By filter and antialias."""


def _place(picture: U8, size: Size, view: View) -> U8:
    """Crop or border to the final size."""
    width, height = size
    rows, columns = picture.shape[:2]
    if view.fit is Fit.SHORT_SIDE_CROP:
        top, left = round((rows - height) / 2), round((columns - width) / 2)
        return picture[top : top + height, left : left + width]
    if view.fit is Fit.LETTERBOX:
        canvas: U8 = np.zeros((height, width, *picture.shape[2:]), np.uint8)
        top, left = (height - rows) // 2, (width - columns) // 2
        canvas[top : top + rows, left : left + columns] = picture
        return canvas
    return picture
