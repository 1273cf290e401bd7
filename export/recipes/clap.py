"""LAION-CLAP (Wu et al., ICASSP 2023), audio tower with its projection, from transformers, with its front end.

Weights: `config.json` and `model.safetensors` of Hugging Face laion/larger_clap_general, which is not fused. Ten
seconds at 48 kHz are 1001 columns of 64 Slaney bands between 50 and 14000 Hz, in decibels.
"""

from __future__ import annotations

import torch
from transformers import ClapAudioConfig, ClapAudioModelWithProjection

from evaluator.experts.spectral import hann, mel_bank
from export.network import Network
from export.onnx_file import seeded
from export.pretrained import load, random
from export.recipe import Sources
from export.sound import Mel, decibels

RATE = 48_000
SECONDS = 10
WINDOW, HOP = 1024, 480
LOWEST, HIGHEST = 50.0, 14_000.0


class Embedding(torch.nn.Module):
    """wave [B, samples] -> embedding [B, D]."""

    def __init__(self, net: ClapAudioModelWithProjection) -> None:
        super().__init__()
        bank = mel_bank(RATE, WINDOW, net.config.num_mel_bins, LOWEST, HIGHEST, "slaney", unit_area=True)
        self.front = Mel(hann(WINDOW, WINDOW), HOP, bank, "reflect")
        self.net = net

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        columns = decibels(self.front(wave))[:, None]  # [B, 1, columns, bands]
        pooled = self.net.audio_model.audio_encoder(columns, always_partition=True).pooler_output
        embedding: torch.Tensor = self.net.audio_projection(pooled)
        return embedding


def network(net: ClapAudioModelWithProjection, samples: int) -> Network:
    """The file of a tower for waves of one length."""
    module = Embedding(net)
    examples = (seeded(2, samples),), (seeded(3, samples, seed=1) * torch.tensor([[1.0], [0.1], [0.01]]),)
    with torch.no_grad():  # fits the windows of its deepest layers to their maps, which tracing must not do
        net.audio_model.audio_encoder(decibels(module.front(examples[0][0]))[:, None])
    return Network("clap_audio.onnx", module, *examples, full=("/front/", "/Mul", "/Log", "/Clip"))


def networks(sources: Sources) -> list[Network]:
    """clap_audio.onnx with the published weights."""
    return [network(load(ClapAudioModelWithProjection, sources), SECONDS * RATE)]


def tiny() -> list[Network]:
    """Two stages on a map of 64 x 64: 16 bands, and columns that are enlarged to 256 as the real ones are to 1024."""
    config = ClapAudioConfig(
        window_size=4, num_mel_bins=16, spec_size=64, patch_embeds_hidden_size=16, depths=[2, 2],
        num_attention_heads=[2, 4], hidden_size=32, num_hidden_layers=2, projection_dim=24,
    )  # fmt: skip
    return [network(random(ClapAudioModelWithProjection, config), 250 * HOP)]
