"""Batches that may lie in host or in device memory: the few things that are done to one without knowing where it is.

On the host a batch is a numpy array. On a device it is a tensor with DLPack and torch's methods; nothing here imports
torch, for a tensor brings its library with it. `U8`, `F32` and the like in the signature of an expert that says
`on_device` name the numbers, wherever they are. What happens to a host array is what numpy does, to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.runtime import traffic

Array = npt.NDArray[Any]


def is_host(array: object) -> bool:
    """Whether an array lies in host memory."""
    return isinstance(array, np.ndarray)


def to_host(array: Any) -> Array:
    """The same numbers in host memory, counted as traffic if they were not there."""
    if isinstance(array, np.ndarray):
        return array
    copy: Array = array.cpu().numpy()
    traffic.came_down(copy.nbytes)
    return copy


def is_finite(array: Any) -> bool:
    """Whether an array of any type holds neither NaN nor infinity."""
    if is_host(array):
        return array.dtype.kind != "f" or bool(np.isfinite(array).all())
    return bool(array.isfinite().all())


def joined(parts: Sequence[Any]) -> Any:
    """Batches of one place one after the other, along their first axis. Empty ones may lie anywhere."""
    full = [part for part in parts if len(part)] or parts[:1]
    if is_host(full[0]):
        return np.concatenate(full)
    whole = full[0].new_empty((sum(map(len, full)), *full[0].shape[1:]))
    place = 0
    for part in full:
        whole[place : place + len(part)] = part
        place += len(part)
    return whole


def filled_up(batch: Any, size: int) -> Any:
    """A batch [n, ...] with rows of zeros behind it, `size` in all; the batch itself if it is full."""
    if len(batch) == size:
        return batch
    return joined([batch, blank(batch, (size - len(batch), *batch.shape[1:]))])


def blank(like: Any, shape: tuple[int, ...]) -> Any:
    """Zeros where `like` lies, of its type."""
    return np.zeros(shape, like.dtype) if is_host(like) else like.new_zeros(shape)


def moved(array: Any, *axes: int) -> Any:
    """The axes in another order, contiguous."""
    return np.ascontiguousarray(array.transpose(axes)) if is_host(array) else array.permute(axes).contiguous()
