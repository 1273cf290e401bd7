"""LAION-CLAP, text tower with its projection, from transformers.

Weights: `config.json` and `model.safetensors` of Hugging Face laion/larger_clap_general, of which this tower is read.
Padding is recognised by its sign and not attended to.
"""

from __future__ import annotations

import torch
from transformers import ClapTextConfig, ClapTextModelWithProjection

from export.network import Network
from export.pretrained import load, random
from export.recipe import Sources

LENGTH = 77


class Embedding(torch.nn.Module):
    """tokens [B, 77] -> embedding [B, D]."""

    def __init__(self, net: ClapTextModelWithProjection) -> None:
        super().__init__()
        self.net = net
        self.padding = net.config.pad_token_id

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        real = tokens.ne(self.padding).long()
        positions = real.cumsum(dim=1) * real + self.padding
        found = self.net(tokens, attention_mask=real, position_ids=positions)
        embedding: torch.Tensor = found.text_embeds
        return embedding


def network(net: ClapTextModelWithProjection) -> Network:
    """The file of a tower."""
    return Network("clap_text.onnx", Embedding(net), (sentences(net, 2, 7),), (sentences(net, 3, 20, 75),))


def sentences(net: ClapTextModelWithProjection, *words: int) -> torch.Tensor:
    """[len(words), 77]: a start sign, so many words, an end sign, padding."""
    rows = torch.full((len(words), LENGTH), net.config.pad_token_id)
    for row, count in enumerate(words):
        drawn = torch.randint(3, net.config.vocab_size, (count,), generator=torch.Generator().manual_seed(row))
        rows[row, : count + 2] = torch.tensor([0, *drawn.tolist(), 2])
    return rows


def networks(sources: Sources) -> list[Network]:
    """clap_text.onnx with the published weights."""
    return [network(load(ClapTextModelWithProjection, sources))]


def tiny() -> list[Network]:
    """Two layers of 32 and a vocabulary of 100."""
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = ClapTextConfig(**sizes, vocab_size=100, projection_dim=24, max_position_embeddings=LENGTH + 2)
    return [network(random(ClapTextModelWithProjection, config))]
