"""EfficientNet-Lite0: 224 x 224 RGB -> pooled features (the embedding) and ImageNet logits."""

from __future__ import annotations

from pathlib import Path

import torch

from export.half import Half
from export.onnx_file import export_torch, load_weights, seeded
from export.recipe import Parity, Sources, compare

HALF = {"efficientnet_lite0.onnx": Half(tolerance=1e-2)}  # fifty layers in a row round; logits are 0.7 % off


class Pooled(torch.nn.Module):
    """pixels [B, 3, 224, 224] -> embedding [B, 1280], logits [B, 1000]."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        embedding = self.net.extract_features(pixels).mean(dim=(2, 3))
        return embedding, self.net._fc(embedding)


def build(sources: Sources, out: Path) -> list[Parity]:
    """Write efficientnet_lite0.onnx."""
    package = sources.module("efficientnet-lite-pytorch", "efficientnet_lite_pytorch")
    net = package.EfficientNet.from_name("efficientnet-lite0")
    net.load_state_dict(load_weights(sources.file("efficientnet-lite0-57934424.pth")))
    pooled = Pooled(net.eval())
    path = out / "efficientnet_lite0.onnx"
    free = {name: {0: "batch"} for name in ("pixels", "embedding", "logits")}
    export_torch(pooled, (seeded(2, 3, 224, 224),), path, ["pixels"], ["embedding", "logits"], free)
    pixels = seeded(3, 3, 224, 224, seed=1)
    with torch.no_grad():
        embedding, _ = pooled(pixels)
        logits = net(pixels)  # the package's own path, pooling and dropout included
    return compare(path, {"pixels": pixels.numpy()}, {"embedding": embedding, "logits": logits}, 1e-4)
