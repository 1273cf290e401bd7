"""Resemblyzer's GE2E voice encoder: 160 frames of 40 mel bands -> an embedding of length 1."""

from __future__ import annotations

from pathlib import Path

import torch

from export.onnx_file import export_torch, seeded
from export.recipe import Parity, Sources, compare


def build(sources: Sources, out: Path) -> list[Parity]:
    """Write resemblyzer.onnx."""
    package = sources.module("resemblyzer", "resemblyzer.voice_encoder", stubs=["resemblyzer.audio"])
    net = package.VoiceEncoder("cpu", verbose=False, weights_fpath=sources.file("pretrained.pt")).eval()
    path = out / "resemblyzer.onnx"
    free = {name: {0: "batch"} for name in ("mels", "embedding")}
    export_torch(net, (seeded(2, 160, 40, low=0.0),), path, ["mels"], ["embedding"], free)
    mels = seeded(3, 160, 40, low=0.0, high=2.0, seed=1)
    with torch.no_grad():
        embedding = net(mels)
    return compare(path, {"mels": mels.numpy()}, {"embedding": embedding}, 1e-5)
