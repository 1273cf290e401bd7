"""AudioBox Aesthetics (Tjandra et al., 2025): WavLM-Base from transformers, and four heads (AVE-Compass 4.1).

Weights: `checkpoint.pt` of Hugging Face facebook/audiobox-aesthetics, which also says how the heads are made and what
their outputs are scaled by. Its WavLM has the names of its authors' code; NAMES is the way to those of transformers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
import torch.nn.functional as functional
from torch.nn.utils.parametrize import remove_parametrizations
from transformers import WavLMConfig, WavLMModel
from transformers.models.wavlm.modeling_wavlm import WavLMAttention

from evaluator.errors import ModelCorrupt
from export.network import Network
from export.onnx_file import load_weights, seeded
from export.pretrained import random
from export.recipe import Sources
from export.shaken import shaken

WEIGHTS = "checkpoint.pt"
SAMPLES = 160_000
STEP = 320  # samples per column
AXES = ("CE", "CU", "PC", "PQ")

NAMES = (
    (r"^feature_extractor\.conv_layers\.(\d+)\.0\.", r"feature_extractor.conv_layers.\1.conv."),
    (r"^feature_extractor\.conv_layers\.(\d+)\.2\.", r"feature_extractor.conv_layers.\1.layer_norm."),
    (r"^layer_norm\.", "feature_projection.layer_norm."),
    (r"^post_extract_proj\.", "feature_projection.projection."),
    (r"^encoder\.pos_conv\.0\.bias$", "encoder.pos_conv_embed.conv.bias"),
    (r"^encoder\.pos_conv\.0\.weight_g$", "encoder.pos_conv_embed.conv.parametrizations.weight.original0"),
    (r"^encoder\.pos_conv\.0\.weight_v$", "encoder.pos_conv_embed.conv.parametrizations.weight.original1"),
    (r"\.self_attn\.relative_attention_bias\.", ".attention.rel_attn_embed."),
    (r"\.self_attn\.grep_linear\.", ".attention.gru_rel_pos_linear."),
    (r"\.self_attn\.grep_a$", ".attention.gru_rel_pos_const"),
    (r"\.self_attn\.(.)_proj\.", r".attention.\1_proj."),
    (r"\.self_attn\.out_proj\.", ".attention.out_proj."),
    (r"\.self_attn_layer_norm\.", ".layer_norm."),
    (r"\.fc1\.", ".feed_forward.intermediate_dense."),
    (r"\.fc2\.", ".feed_forward.output_dense."),
    (r"^mask_emb$", "masked_spec_embed"),
)


class Axes(torch.nn.Module):
    """wave [B, samples], mask [B, samples] -> CE, CU, PC, PQ [B] each."""

    def __init__(
        self, encoder: WavLMModel, model: Mapping[str, Any], scales: Mapping[str, Mapping[str, float]]
    ) -> None:
        super().__init__()
        self.encoder = encoder
        width, layers = encoder.config.hidden_size, encoder.config.num_hidden_layers
        self.unit = bool(model["normalize_embed"])
        self.layer_weights = torch.nn.ParameterDict({axis: torch.zeros(layers + 1) for axis in AXES})
        self.proj_layer = torch.nn.ModuleDict({axis: head(width, model) for axis in AXES})
        self.scales = {axis: (float(scales[axis]["mean"]), float(scales[axis]["std"])) for axis in AXES}

    def states(self, wave: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """[layers + 1, B, columns, D]: the input of the encoder, and what each layer makes of it."""
        net = self.encoder
        features = net.feature_extractor(wave).transpose(1, 2)
        x = net.feature_projection(features)[0] * real[..., None]
        x = net.encoder.layer_norm(x + net.encoder.pos_conv_embed(x))
        found, bias = [x], None
        for place, layer in enumerate(net.encoder.layers):
            x, bias = layer(x, attention_mask=real.long(), position_bias=bias, index=place)
            found.append(x)
        return torch.stack(found)

    def forward(self, wave: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, ...]:
        columns = (wave.shape[1] - STEP - 80) // STEP + 1  # seven convolutions see 400 samples
        real = mask[:, : columns * STEP].unflatten(1, (columns, STEP)).float().amax(dim=2)  # [B, columns]
        states = self.states(wave, real)
        share = (real / real.sum(dim=1, keepdim=True).clamp(min=1.0))[..., None]
        means = (states * share).sum(dim=2)  # [layers + 1, B, D]: means and weighted sums of layers change places
        return tuple(self.axis(means, axis) for axis in AXES)

    def axis(self, means: torch.Tensor, axis: str) -> torch.Tensor:
        """One score [B]."""
        embedding = (means * self.layer_weights[axis].softmax(dim=0)[:, None, None]).sum(dim=0)
        embedding = functional.normalize(embedding, dim=1) if self.unit else embedding
        mean, deviation = self.scales[axis]
        score: torch.Tensor = self.proj_layer[axis](embedding)[:, 0] * deviation + mean
        return score


def head(width: int, model: Mapping[str, Any]) -> torch.nn.Sequential:
    """Linear layers with what lies between them, at the positions that the weights have."""
    made: list[torch.nn.Module] = []
    for _ in range(model["proj_num_layer"] - 1):
        made += [torch.nn.Linear(width, width)]
        made += [torch.nn.LayerNorm(width)] if model["proj_ln"] else []
        made += [torch.nn.GELU()]
        made += [torch.nn.Dropout(model["proj_dropout"])] if model["proj_dropout"] else []
    return torch.nn.Sequential(*made, torch.nn.Linear(width, model["output_dim"]))


def renamed(name: str) -> str:
    """A name of the checkpoint as this module has it."""
    name = name.removeprefix("model.")
    if not name.startswith("wavlm_model."):
        return name
    name = name.removeprefix("wavlm_model.")
    for pattern, ours in NAMES:
        name = re.sub(pattern, ours, name)
    return f"encoder.{name}"


def attended(
    layer: WavLMAttention, x: torch.Tensor, real: torch.Tensor, bias: torch.Tensor
) -> tuple[torch.Tensor, None]:
    """Attention of x [B, T, D] with a bias [B * heads, T, T]. transformers' own freezes the batch when it is traced."""
    query, key, value = (
        projection(x).unflatten(2, (layer.num_heads, layer.head_dim)).transpose(1, 2)
        for projection in (layer.q_proj, layer.k_proj, layer.v_proj)
    )  # [B, heads, T, d]
    scores = query * layer.scaling @ key.transpose(2, 3) + bias.unflatten(0, (x.shape[0], layer.num_heads))
    weights = scores.masked_fill(real[:, None, None] == 0, -torch.inf).softmax(dim=3)
    return layer.out_proj((weights @ value).transpose(1, 2).flatten(2)), None


def settled(axes: Axes) -> Axes:
    """The same with attention that can be traced, and the weight of its convolution over positions written out."""
    encoder = axes.encoder.encoder
    remove_parametrizations(encoder.pos_conv_embed.conv, "weight")
    for layer in encoder.layers:
        layer.attention.torch_multi_head_self_attention = partial(attended, layer.attention)
    return axes.eval()


def network(axes: Axes, samples: int) -> Network:
    """The file for waves of one length."""
    real = torch.arange(samples) < torch.tensor([[samples], [samples // 3], [samples // 2 + 7]])
    wave = seeded(3, samples, seed=1) * real
    return Network("audiobox.onnx", settled(axes), (wave[:2], real[:2]), (wave, real), opset=17)


def networks(sources: Sources) -> list[Network]:
    """audiobox.onnx with the published weights. Raises ModelCorrupt for another kind of model or unknown names."""
    found = load_weights(sources.file(WEIGHTS))
    model = found["model_cfg"]
    if not model["use_weighted_layer_sum"] or model["nth_layer"] != 13 or model.get("proj_act_fn", "gelu") != "gelu":
        raise ModelCorrupt(f"{WEIGHTS}: another kind of head: {model}")
    axes = Axes(random(WavLMModel, WavLMConfig()), model, found["target_transform"])
    try:
        axes.load_state_dict({renamed(name): value for name, value in found["state_dict"].items()})
    except RuntimeError as error:
        raise ModelCorrupt(f"{WEIGHTS}: not the weights of AudioBox Aesthetics: {error}") from error
    return [network(axes, SAMPLES)]


def tiny() -> list[Network]:
    """Two layers of 32; the seven convolutions have their strides and 16 channels."""
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = WavLMConfig(**sizes, conv_dim=[16] * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)
    model = {"proj_num_layer": 3, "proj_ln": True, "proj_dropout": 0.1, "output_dim": 1, "normalize_embed": True}
    scales = {axis: {"mean": 5.0, "std": 1.5} for axis in AXES}
    return [network(shaken(Axes(random(WavLMModel, config), model, scales)), 8000)]
