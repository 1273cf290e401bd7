"""CLIP ViT-L/14, text tower with its projection, from transformers.

Weights: `config.json` and `model.safetensors` of Hugging Face openai/clip-vit-large-patch14, of which this tower is
read. The vector is taken at the first end sign; what follows it is never looked at, since attention is causal.
"""

from __future__ import annotations

import torch
from transformers import CLIPTextConfig, CLIPTextModelWithProjection

from export.network import Network
from export.pretrained import load, random
from export.recipe import Sources

LENGTH = 77


class Embedding(torch.nn.Module):
    """tokens [B, 77] -> embedding [B, D]."""

    def __init__(self, net: CLIPTextModelWithProjection) -> None:
        super().__init__()
        self.net = net

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        embedding: torch.Tensor = self.net(tokens).text_embeds
        return embedding


def network(net: CLIPTextModelWithProjection) -> Network:
    """The file of a tower."""
    end = net.config.vocab_size - 1
    return Network("clip_text.onnx", Embedding(net), (sentences(end, 2, 7),), (sentences(end, 3, 20, 75),))


def sentences(end: int, *words: int) -> torch.Tensor:
    """[len(words), 77]: a start sign, so many words, and end signs."""
    rows = torch.full((len(words), LENGTH), end)
    for row, count in enumerate(words):
        rows[row, 0] = end - 1
        rows[row, 1 : 1 + count] = torch.randint(0, end - 1, (count,), generator=torch.Generator().manual_seed(row))
    return rows


def networks(sources: Sources) -> list[Network]:
    """clip_text.onnx with the published weights."""
    return [network(load(CLIPTextModelWithProjection, sources))]


def tiny() -> list[Network]:
    """Two layers of 32 and a vocabulary of 100."""
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = CLIPTextConfig(**sizes, vocab_size=100, projection_dim=24, bos_token_id=98, eos_token_id=99)
    return [network(random(CLIPTextModelWithProjection, config))]
