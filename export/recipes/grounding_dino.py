"""Grounding DINO (Liu et al., 2023) from transformers: where the phrases of a text are in a picture of any size.

Weights: `config.json` and `model.safetensors` of Hugging Face IDEA-Research/grounding-dino-base. transformers' layers
are used; what is between them is written here for one picture without padding, because their own way fixes the size of
the picture and the number of tokens when it is traced. As in their post-processing, the score of a query is its largest
sigmoid over all tokens.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
import torch.nn.functional as functional
from transformers import BertConfig, GroundingDinoConfig, GroundingDinoForObjectDetection, SwinConfig
from transformers.models.swin.modeling_swin import SwinPatchEmbeddings

from export.network import Network
from export.onnx_file import seeded
from export.pretrained import load, random
from export.recipe import Sources
from export.recipes.object_detector import likeliest

EPSILON = 1e-5
ANCHOR = 0.05
EDGE = 0.01

Sizes = list[tuple[Any, Any]]
"""Height and width of each feature map: numbers that are traced."""


class Grounding(torch.nn.Module):
    """pixels [1, 3, H, W], input_ids [1, L] -> score [1, Q], boxes [1, Q, 4] as fractions x, y, width, height."""

    def __init__(self, net: GroundingDinoForObjectDetection) -> None:
        super().__init__()
        self.net = net
        net.model.encoder.get_reference_points = lambda sizes, ratios, device: places(sizes)[:, :, None].expand(
            -1, -1, len(sizes), -1
        )
        for layer in (*net.model.encoder.layers, *net.model.decoder.layers):
            deformable = layer.deformable_layer.self_attn if hasattr(layer, "deformable_layer") else layer.encoder_attn
            deformable.attn.forward = sampled
        for part in net.model.backbone.modules():
            if isinstance(part, SwinPatchEmbeddings):
                part.maybe_pad = partial(whole, part.patch_size)

    def text(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Features [1, L, D], who attends to whom [1, L, L], and positions [1, L] inside a phrase."""
        attends, positions = phrases(ids, self.net.model.special_tokens)
        found = self.net.model.text_backbone(ids, attends[:, None], torch.zeros_like(ids), positions)
        return self.net.model.text_projection(found.last_hidden_state), attends, positions

    def maps(self, pixels: torch.Tensor) -> list[torch.Tensor]:
        """Feature maps [1, D, h, w]: those of the backbone, and coarser ones made of the last."""
        model = self.net.model
        seen = list(model.backbone.conv_encoder.model(pixels).feature_maps)
        found = [project(one) for project, one in zip(model.input_proj_vision, seen, strict=False)]
        for project in model.input_proj_vision[len(seen) :]:
            found.append(project(seen[-1] if len(found) == len(seen) else found[-1]))
        return found

    def forward(self, pixels: torch.Tensor, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        model = self.net.model
        text, attends, positions = self.text(ids)
        maps = self.maps(pixels)
        sizes: Sizes = [(one.shape[2], one.shape[3]) for one in maps]
        shapes = torch.stack([torch._shape_as_tensor(one)[2:] for one in maps])  # [levels, 2]
        tokens = torch.cat([one.flatten(2).transpose(1, 2) for one in maps], dim=1)  # [1, N, D]
        shared: dict[str, Any] = {
            "spatial_shapes": shapes,
            "spatial_shapes_list": sizes,
            "level_start_index": None,
            "valid_ratios": torch.ones(1, len(maps), 2),
        }
        nothing = torch.zeros_like(ids, dtype=torch.bool)
        encoded = model.encoder(
            vision_features=tokens,
            vision_attention_mask=torch.zeros_like(tokens[..., 0], dtype=torch.bool),
            vision_position_embedding=self.positions(maps),
            text_features=text,
            text_attention_mask=nothing,
            text_self_attention_masks=~attends,
            text_position_ids=positions,
            **shared,
        )
        vision, text = encoded.last_hidden_state_vision, encoded.last_hidden_state_text
        decoded = model.decoder(
            inputs_embeds=model.query_position_embeddings.weight[None],
            vision_encoder_hidden_states=vision,
            vision_encoder_attention_mask=torch.ones_like(vision[..., 0], dtype=torch.bool),
            text_encoder_hidden_states=text,
            text_encoder_attention_mask=nothing,
            reference_points=self.chosen(vision, text, sizes),
            **shared,
        )
        last = decoded.intermediate_hidden_states[:, -1]
        reference = decoded.intermediate_reference_points[:, -2]
        boxes = (self.net.bbox_embed[-1](last) + logit(reference)).sigmoid()
        return (last @ text.transpose(1, 2)).amax(dim=2).sigmoid(), boxes

    def positions(self, maps: list[torch.Tensor]) -> torch.Tensor:
        """Where each token [1, N, D] is, and on which level."""
        model = self.net.model
        found = []
        for one, level in zip(maps, model.level_embed, strict=True):
            place = model.backbone.position_embedding(one, torch.ones_like(one[:, 0], dtype=torch.bool))
            found.append(place.flatten(2).transpose(1, 2) + level)
        return torch.cat(found, dim=1)

    def chosen(self, vision: torch.Tensor, text: torch.Tensor, sizes: Sizes) -> torch.Tensor:
        """Boxes [1, Q, 4] of the tokens of the picture that answer to the text best."""
        model = self.net.model
        around = [
            torch.full((1, height * width, 2), ANCHOR * 2.0**level) for level, (height, width) in enumerate(sizes)
        ]
        anchors = torch.cat([places(sizes), torch.cat(around, dim=1)], dim=2)  # [1, N, 4]
        inside = ((anchors > EDGE) & (anchors < 1 - EDGE)).all(dim=2, keepdim=True)
        queries = model.enc_output_norm(model.enc_output(vision * inside))
        deltas = model.encoder_output_bbox_embed(queries)
        likely = (queries @ text.transpose(1, 2)).amax(dim=2)
        best = likely.topk(model.config.num_queries, dim=1).indices[..., None].expand(-1, -1, 4)
        proposed = torch.where(inside, deltas + torch.log(anchors / (1 - anchors)), torch.inf)
        return proposed.gather(1, best).sigmoid()


def whole(cell: tuple[int, int], pixels: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """A picture with zeros below and on the right, up to whole cells; nothing where it has them."""
    down, right = (cell[0] - height % cell[0]) % cell[0], (cell[1] - width % cell[1]) % cell[1]
    return functional.pad(pixels, (0, right, 0, down))


def logit(share: torch.Tensor) -> torch.Tensor:
    """Inverse of the sigmoid, a little away from its ends."""
    share = share.clamp(EPSILON, 1 - EPSILON)
    return torch.log(share / (1 - share))


def phrases(ids: torch.Tensor, signs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens up to and with the same sign attend to each other [1, L, L]; position [1, L] inside such a group.

    The first sign and the last group belong to nobody: there, a token attends to itself and is at position 0.
    """
    is_sign = (ids[..., None] == signs).any(dim=2).long()
    group = is_sign.cumsum(dim=1) - is_sign  # signs before
    together = (group[:, :, None] == group[:, None]) & ((group > 0) & (group < group[:, -1:]))[:, None]
    place = torch.arange(ids.shape[1])
    positions = (together & (place[:, None] > place)).sum(dim=2)
    return together | (place[:, None] == place), positions


def places(sizes: Sizes) -> torch.Tensor:
    """Centres [1, N, 2] of all cells of all maps, x and y as fractions."""
    found = []
    for height, width in sizes:
        y = ((torch.arange(height) + 0.5) / height)[:, None].expand(height, width)
        x = ((torch.arange(width) + 0.5) / width).expand(height, width)
        found.append(torch.stack([x, y], dim=2).flatten(0, 1))
    return torch.cat(found)[None]


def sampled(
    value: torch.Tensor, shapes: Any, sizes: Sizes, starts: Any, where: torch.Tensor, weights: torch.Tensor, step: int
) -> torch.Tensor:
    """value [1, N, heads, d] at places [1, Q, heads, levels, points, 2], weighted [1, Q, heads, levels, points].

    The result is [1, Q, heads * d].
    """
    start: Any = 0
    found = []
    for level, (height, width) in enumerate(sizes):
        plane = (
            value[0, start : start + height * width].permute(1, 2, 0).unflatten(2, (height, width))
        )  # [heads, d, h, w]
        grid = 2 * where[0, :, :, level].transpose(0, 1) - 1  # [heads, Q, points, 2]
        seen = functional.grid_sample(plane, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
        found.append((seen * weights[0, :, :, level].transpose(0, 1)[:, None]).sum(dim=3))  # [heads, d, Q]
        start = start + height * width
    return torch.stack(found).sum(dim=0).permute(2, 0, 1).flatten(1)[None]


def network(net: GroundingDinoForObjectDetection, sizes: tuple[tuple[int, int], tuple[int, int]]) -> Network:
    """The file of a detector, traced on a picture of the first size.

    Its layers pad maps of odd sides and maps that are no whole number of windows. A picture on which every one of them
    does so gives a file that takes any other, since it pads by nothing there.
    """
    signs = [101, 1012, 102] if net.config.text_config.vocab_size > 2000 else [1, 2, 3]
    start, stop, end = signs
    texts = [start, 7, 8, stop, end], [start, 9, 6, 5, 4, 7, stop, end]
    traced, compared = (
        (seeded(1, 3, *size, seed=seed), torch.tensor([text]))
        for seed, (size, text) in enumerate(zip(sizes, texts, strict=True))
    )
    return Network("grounding_dino.onnx", Grounding(net), traced, compared, settle=first_best, half=0.1)


def first_best(outputs: Any) -> dict[str, Any]:
    """Outputs of the best query only."""
    found = likeliest({"scores": outputs["score"], **outputs})
    return {name: found[name] for name in ("score", "boxes")}


def networks(sources: Sources) -> list[Network]:
    """grounding_dino.onnx with the published weights."""
    return [network(load(GroundingDinoForObjectDetection, sources), ((771, 834), (800, 1088)))]


def tiny() -> list[Network]:
    """A Swin of five layers and windows of 3, a BERT of one layer, one layer of encoder and two of decoder."""
    backbone = SwinConfig(
        embed_dim=16, depths=[1, 1, 2, 1], num_heads=[1, 2, 2, 2], window_size=3, image_size=64, patch_size=4,
        out_features=["stage4"],
    )  # fmt: skip
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = GroundingDinoConfig(
        backbone_config=backbone, text_config=BertConfig(**sizes, vocab_size=30), d_model=32, encoder_layers=1,
        encoder_ffn_dim=48, encoder_attention_heads=2, decoder_layers=2, decoder_ffn_dim=48, decoder_attention_heads=2,
        num_queries=10, max_text_len=16, num_feature_levels=2,
    )  # fmt: skip
    net = random(GroundingDinoForObjectDetection, config)
    net.model.special_tokens = torch.tensor([1, 2, 3])
    return [network(net, ((131, 163), (160, 128)))]
