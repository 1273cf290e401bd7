"""The steps of a view on torch tensors, on whatever device they are. torch is loaded by whoever brings the tensors.

For machines that have a GPU and no DALI, and as the counterpart that the DALI version is compared with.
"""

from __future__ import annotations

import importlib
from typing import Any

from evaluator.media.steps import Steps

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
