"""The two networks of SyncNet v2, layer by layer as AVE-Compass 4.3 lists them.

A layer's position in its Sequential is its name in the published weights.
"""

from __future__ import annotations

import torch
from torch.nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv2d, Conv3d, Flatten, Linear, MaxPool2d, MaxPool3d, ReLU

from evaluator.errors import ModelCorrupt
from export.onnx_file import load_weights
from export.recipe import Sources

WEIGHTS = "syncnet_v2.model"
WIDTH, OUTPUT = 512, 1024


def sound_layers(divisor: int = 1) -> list[torch.nn.Module]:
    """[B, 1, 13, 20] -> [B, 512 / divisor, 1, 1]."""
    made: list[torch.nn.Module] = []

    def convolution(inputs: int, outputs: int, kernel: tuple[int, int] = (3, 3), padding: int = 1) -> None:
        wide = outputs // divisor
        made.extend((Conv2d(max(1, inputs // divisor), wide, kernel, padding=padding), BatchNorm2d(wide), ReLU()))

    convolution(1, 64)
    made.append(MaxPool2d((1, 1), (1, 1)))
    convolution(64, 192)
    made.append(MaxPool2d((3, 3), (1, 2)))
    convolution(192, 384)
    convolution(384, 256)
    convolution(256, 256)
    made.append(MaxPool2d((3, 3), (2, 2)))
    convolution(256, WIDTH, (5, 4), padding=0)
    return made


def lip_layers(divisor: int = 1) -> list[torch.nn.Module]:
    """[B, 3, 5, 224, 224] -> [B, 512 / divisor, 1, 1, 1]."""
    made: list[torch.nn.Module] = []

    def convolution(inputs: int, outputs: int, side: int, stride: int = 1, padding: int = 0, depth: int = 1) -> None:
        narrow_in, wide = inputs if inputs == 3 else inputs // divisor, outputs // divisor
        kernel, steps, edge = (depth, side, side), (1, stride, stride), (0, padding, padding)
        made.extend((Conv3d(narrow_in, wide, kernel, steps, edge), BatchNorm3d(wide), ReLU()))

    convolution(3, 96, 7, stride=2, depth=5)
    made.append(MaxPool3d((1, 3, 3), (1, 2, 2)))
    convolution(96, 256, 5, stride=2, padding=1)
    made.append(MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1)))
    for _ in range(3):
        convolution(256, 256, 3, padding=1)
    made.append(MaxPool3d((1, 3, 3), (1, 2, 2)))
    convolution(256, WIDTH, 6)
    return made


def whole(layers: list[torch.nn.Module], divisor: int = 1) -> torch.nn.Module:
    """The layers, and the two linear ones behind them, as `0.*` and `2.*` of one Sequential."""
    width, output = WIDTH // divisor, OUTPUT // divisor
    last = torch.nn.Sequential(Linear(width, width), BatchNorm1d(width), ReLU(), Linear(width, output))
    return torch.nn.Sequential(torch.nn.Sequential(*layers), Flatten(), last)


def load(net: torch.nn.Module, sources: Sources, side: str) -> None:
    """Put the published weights of a side, `lip` or `aud`, into a network. Raises ModelCorrupt unless all names fit."""
    names = {f"netcnn{side}.": "0.", f"netfc{side}.": "2."}
    found = {
        ours + name.removeprefix(theirs): value
        for name, value in load_weights(sources.file(WEIGHTS)).items()
        for theirs, ours in names.items()
        if name.startswith(theirs)
    }
    try:
        net.load_state_dict(found)
    except RuntimeError as error:
        raise ModelCorrupt(f"{WEIGHTS}: not the weights of SyncNet v2: {error}") from error
