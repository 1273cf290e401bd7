"""Run in the environment of the exporters: the views of `device.npz`, made by torch. Writes `torch.npz` beside it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

from evaluator.media.steps import steps
from evaluator.media.steps_torch import apply
from tests.device.views import VIEWS


def main() -> None:
    folder = Path(sys.argv[1])
    frames = np.load(folder / "device.npz")["frames"]
    height, width = frames.shape[1:3]
    made = {
        name.replace(" ", "_"): apply(torch.from_numpy(frames), steps(view, width, height)).numpy()
        for name, view in VIEWS.items()
    }
    np.savez(folder / "torch.npz", **made)


if __name__ == "__main__":
    main()
