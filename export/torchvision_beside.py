"""torchvision for those who need it, and hidden from those who only look whether it is there.

transformers imports torchvision where it finds it, and no network that comes from transformers needs it, so
`export.recipes` hides it. Its Python code works beside a torch of another build too, where its own operators do not
load: it only wants their names, and no network here uses them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

UNLOADED = ("nms", "qnms")
"""Operators whose names torchvision looks up as it is imported."""


@contextmanager
def shown() -> Iterator[None]:
    """Let torchvision be imported; hide it again if it was hidden. It may also not be installed."""
    hidden = "torchvision" in sys.modules and sys.modules["torchvision"] is None
    if hidden:
        del sys.modules["torchvision"]
    _name_operators()
    try:
        yield
    finally:
        if hidden:
            sys.modules["torchvision"] = None  # type: ignore[assignment]


def _name_operators() -> None:
    """Import torchvision once; name its operators where they did not load."""
    try:
        import torchvision
    except ModuleNotFoundError:
        return
    except RuntimeError:  # operator torchvision::nms does not exist
        names = torch.library.Library("torchvision", "FRAGMENT")
        for operator in UNLOADED:
            names.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        import torchvision  # noqa: F401
