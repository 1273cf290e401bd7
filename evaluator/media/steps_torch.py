"""What happens to pictures on a device, on torch tensors: the steps of a view, and what experts do before a network.

Each function is the counterpart of one on the host, and a test holds the two together. torch is loaded by whoever
brings the tensors; they stay on the device on which they are.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from evaluator.media.steps import Steps
from evaluator.media.types import I64
from evaluator.media.views import Size

LUMA = (0.299, 0.587, 0.114)
"""Weights of red, green and blue, as OpenCV's."""


def apply(frames: Any, steps: Steps) -> Any:
    """uint8 [N, H, W, 3] -> uint8 [N, h, w, C] on the same device."""
    torch = importlib.import_module("torch")
    planes = frames.permute(0, 3, 1, 2).float()  # [N, 3, H, W]
    if steps.gray:
        weights = torch.tensor(LUMA, device=planes.device).view(1, 3, 1, 1)
        planes = _whole((planes * weights).sum(1, keepdim=True))
    if steps.resizes:
        mode = "bicubic" if steps.kernel == "cubic" else "bilinear"
        how = {"mode": mode, "antialias": steps.antialias, "align_corners": False}
        planes = _whole(torch.nn.functional.interpolate(planes, steps.scaled[::-1], **how))
    width, height = steps.target
    if steps.crop:
        top, left = steps.crop
        planes = planes[..., top : top + height, left : left + width]
    if steps.border:
        top, left = steps.border
        canvas = planes.new_zeros((*planes.shape[:2], height, width))
        canvas[..., top : top + steps.scaled[1], left : left + steps.scaled[0]] = planes
        planes = canvas
    return planes.to(torch.uint8).permute(0, 2, 3, 1).contiguous()


def _whole(planes: Any) -> Any:
    """Grey levels: rounded, halves up, within 0..255."""
    return planes.add(0.5).floor().clamp(0, 255)


def resized(frames: Any, size: Size) -> Any:
    """uint8 [N, H, W, 3] at another (width, height), by an antialiased triangle, as Pillow's bilinear."""
    source = frames.shape[2], frames.shape[1]
    return apply(frames, Steps(False, source, size, "linear", True, None, None, size))


def enlarged(frame: Any, size: tuple[int, int]) -> Any:
    """uint8 [H, W, 3] at a larger (height, width), bilinear, truncated to whole levels."""
    torch = importlib.import_module("torch")
    planes = frame.permute(2, 0, 1)[None].float()
    larger = torch.nn.functional.interpolate(planes, size, mode="bilinear", align_corners=False)
    return larger[0].permute(1, 2, 0).byte()


def normalised(frames: Any, factor: np.ndarray[Any, Any], shift: np.ndarray[Any, Any]) -> Any:
    """uint8 [N, H, W, C] to float32 [N, C, H, W]: x * factor - shift per channel."""
    planes = frames.permute(0, 3, 1, 2).float()
    factors, shifts = (planes.new_tensor(values.tolist()).view(1, -1, 1, 1) for values in (factor, shift))
    return planes.mul_(factors).sub_(shifts).contiguous()


def levels(frames: Any) -> Any:
    """uint8 [N, H, W, C] to float32 [N, C, H, W], levels unchanged."""
    return frames.permute(0, 3, 1, 2).float().contiguous()


def looked_up(frames: Any, table: np.ndarray[Any, Any]) -> Any:
    """uint8 [N, H, W, C] to [N, C, H, W] of the type of a table [256], level by level."""
    torch = importlib.import_module("torch")
    return torch.from_numpy(table).to(frames.device)[frames.permute(0, 3, 1, 2).contiguous().int()]


def bordered(frames: Any, rows: tuple[int, int], columns: tuple[int, int]) -> Any:
    """[N, H, W, C] with edge pixels repeated above and below, left and right."""
    height, width = frames.shape[1:3]
    places = (
        np.clip(np.arange(-before, size + after), 0, size - 1)
        for size, (before, after) in ((height, rows), (width, columns))
    )
    down, across = places
    return frames[:, down][:, :, across]


def grey_difference(predicted: Any, real: Any) -> float:
    """Mean absolute difference in grey levels of [3, H, W] in 0..1, truncated to levels, and uint8 [H, W, 3]."""
    levels = (predicted * 255).clamp(0, 255).byte().permute(1, 2, 0)
    return float((levels.short() - real.short()).abs().double().mean())


def windows(frames: Any, length: int) -> Any:
    """uint8 RGB [n + length - 1, H, W, 3] to float32 BGR [n, 3, length, H, W], levels unchanged."""
    planes = frames.flip(-1).permute(3, 0, 1, 2).float()  # [3, n + length - 1, H, W]
    return planes.unfold(1, length, 1).permute(1, 0, 4, 2, 3).contiguous()


def mosaic(picture: Any, corners: I64, patch: int) -> Any:
    """[rows * patch, columns * patch, 3]: the square patches of [H, W, 3] at corners [rows, columns, 2] (y, x)."""
    rows, columns = corners.shape[:2]
    whole = picture.new_empty((rows * patch, columns * patch, picture.shape[2]))
    for row, column in np.ndindex(rows, columns):
        y, x = corners[row, column].tolist()
        top, left = row * patch, column * patch
        whole[top : top + patch, left : left + patch] = picture[y : y + patch, x : x + patch]
    return whole
