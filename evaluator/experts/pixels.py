"""What image models share: uint8 pictures to normalised float32 arrays, and vectors to unit length.

Pictures on a device stay there (`evaluator.media.steps_torch` has the same arithmetic). Knows nothing about models;
resizing belongs to views.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.errors import ExpertError
from evaluator.media import steps_torch
from evaluator.media.types import F32, U8
from evaluator.runtime.arrays import is_host
from evaluator.schema import ExpertNeed, Sampling


@dataclass(frozen=True, slots=True)
class Normalisation:
    """(x / 255 - mean) / std per channel, R, G, B."""

    mean: tuple[float, float, float]
    std: tuple[float, float, float]


UNIT = Normalisation((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
"""0..1."""
SYMMETRIC = Normalisation((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
"""-1..1, the same as x / 127.5 - 1."""
IMAGENET = Normalisation((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def normalise(frames: U8, how: Normalisation) -> F32:
    """uint8 [N, H, W, 3] to float32 [N, 3, H, W]."""
    mean, std = np.asarray(how.mean, np.float32), np.asarray(how.std, np.float32)
    factor, shift = 1 / (255 * std), mean / std  # float32 throughout
    if not is_host(frames):
        on_device: F32 = steps_torch.normalised(frames, factor, shift)
        return on_device
    scaled = np.empty((len(frames), frames.shape[3], *frames.shape[1:3]), np.float32)
    for channel in range(frames.shape[3]):  # channel by channel: no second array, and the inner loop is long
        np.multiply(frames[..., channel], factor[channel], out=scaled[:, channel])
        scaled[:, channel] -= shift[channel]
    return scaled


def levels(frames: U8) -> F32:
    """uint8 [N, H, W, C] to float32 [N, C, H, W], levels 0..255 unchanged."""
    if is_host(frames):
        return frames.transpose(0, 3, 1, 2).astype(np.float32)
    on_device: F32 = steps_torch.levels(frames)
    return on_device


def unit_rows(vectors: F32) -> F32:
    """[N, D] with each row divided by its length. Raises ExpertError for a row of zeros."""
    length = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not (length > 0).all():
        raise ExpertError("an embedding has length zero, so it points nowhere")
    unit: F32 = (vectors / length).astype(np.float32)
    return unit


def sampling_of(want: ExpertNeed) -> Sampling:
    """The frames that a request names. Raises ValueError if it names none: that is a mistake of a metric."""
    if want.sampling is None:
        raise ValueError(f"a request for {want.capability} must say which frames (`sampling`)")
    return want.sampling
