"""SAM 2 as a tracker in two steps (Ravi et al., 2024) around the network of transformers: no session, no dictionary.

`Start` takes a frame and boxes, `Step` each further frame. What the published predictor keeps of an object between
frames is one vector here: the features of the frame that began it and of the latest ones, the pointers of both, and how
many frames ago it began. Places that are not filled yet are masked in attention, which is the same as not being there.

The memory stays in float32, where the published predictor rounds it to bfloat16; it does not fill holes of eight pixels
afterwards, which is no part of the network. Pointers that are placed in time (2.1) are placed as in a clip of at least
`max_object_pointers_in_encoder` frames.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as functional
from transformers import Sam2VideoModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.sam2_video.modeling_sam2_video import NO_OBJ_SCORE, get_1d_sine_pe

ATTENTION = "sam2_with_absent_places"
ABSENT = -1e4
"""Added to the logit of a place that is not filled: nothing is left of it, in half precision neither."""

CORNERS = {"point_labels": torch.zeros(1, 1, 2)}
"""A box is two points to the predictor, which matters for how many masks it asks for."""


class Constant(torch.nn.Module):
    """A module whose answer does not depend on what it is given."""

    def __init__(self, value: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("value", value, persistent=False)

    def forward(self, *_: Any) -> Any:
        return self.value


class Tracker(torch.nn.Module):
    """What both files have in common. K objects, C channels of the network, D of its memory, P places of a map."""

    def __init__(self, net: Sam2VideoModel) -> None:
        super().__init__()
        self.net = net
        self.side = net.backbone_feature_sizes[-1][0]
        self.places, self.kept, self.pointers = self.side**2, net.num_maskmem, net.config.max_object_pointers_in_encoder
        self.sizes = [self.kept * self.places * net.mem_dim, self.pointers * net.hidden_dim, 1]
        with torch.no_grad():
            pixels = torch.zeros(1, 3, net.image_size, net.image_size)
            rows = [side for side, _ in net.backbone_feature_sizes]
            position = self._position(net.vision_encoder.neck.position_encoding, net.hidden_dim)
            own = self._position(net.memory_encoder.position_encoding, net.mem_dim)
            self.register_buffer("grid", net.get_image_wide_positional_embeddings(), persistent=False)
            self.register_buffer("position", position.flatten(2).transpose(1, 2), persistent=False)  # [1, P, C]
            latest_last = net.memory_temporal_positional_encoding[:, :, 0].roll(
                1, 0
            )  # the first frame has the last row
            table = own.flatten(2).transpose(1, 2) + latest_last
            self.register_buffer("memory_position", table.reshape(1, -1, net.mem_dim), persistent=False)
            self.rope = net.memory_attention.rotary_emb(pixels, net.memory_attention.position_ids)
            embedded = net.vision_encoder.backbone._get_pos_embed((rows[0], rows[0]))
        net.vision_encoder.backbone._get_pos_embed = lambda *_: embedded
        net.vision_encoder.neck.position_encoding = Constant(torch.zeros(1))
        net.memory_encoder.position_encoding = Constant(torch.zeros(1))

    def _position(self, encoding: Any, channels: int) -> torch.Tensor:
        if isinstance(encoding, Constant):
            raise TypeError("a network is given to one tracker; make the other file from `shared`")
        found: torch.Tensor = encoding(torch.Size((1, channels, self.side, self.side)), "cpu", torch.float32)
        return found

    def features(self, pixels: torch.Tensor, objects: torch.Tensor) -> list[torch.Tensor]:
        """Maps of a frame [1, 3, S, S], fine to coarse, for as many objects as `objects` has rows."""
        fine, middle, coarse = self.net.vision_encoder(pixels).fpn_hidden_states
        decoder = self.net.mask_decoder
        maps = (decoder.conv_s0(fine), decoder.conv_s1(middle), coarse)
        return [one.expand(objects.shape[0], -1, -1, -1) for one in maps]

    def decoded(
        self, maps: list[torch.Tensor], conditioned: torch.Tensor, prompt: torch.Tensor, several: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logits [K, 1, S/4, S/4], pointer [K, C], and whether the object is there [K, 1, 1, 1], 0 or 1.

        With `several`, the likeliest of the masks that the decoder offers.
        """
        net, empty = self.net, self.net.prompt_encoder.no_mask_embed.weight[..., None, None]
        logits, likely, tokens, present = net.mask_decoder(
            image_embeddings=conditioned,
            image_positional_embeddings=self.grid.expand_as(conditioned),
            sparse_prompt_embeddings=prompt,
            dense_prompt_embeddings=empty.expand_as(conditioned),
            multimask_output=several,
            high_resolution_features=maps[:2],
        )
        logits, token, there = logits[:, 0], tokens[:, 0, :1], (present > 0).to(logits)  # there: [K, 1, 1]
        if several:
            best = likely[:, 0].argmax(dim=1)[:, None, None]  # [K, 1, 1]
            logits = logits.gather(1, best[..., None].expand(-1, 1, *logits.shape[2:]))
            token = tokens[:, 0].gather(1, best.expand(-1, 1, tokens.shape[3]))
        logits = torch.where(there[..., None] > 0, logits, torch.full_like(logits, NO_OBJ_SCORE))
        pointer = there * net.object_pointer_proj(token) + (1 - there) * net.no_object_pointer
        return logits, pointer[:, 0], there[..., None]

    def remembered(self, coarse: torch.Tensor, logits: torch.Tensor, there: torch.Tensor, hard: bool) -> torch.Tensor:
        """[K, P * D]: what is kept of a frame and its masks; `hard` masks are 0 or 1."""
        net, config = self.net, self.net.config
        large = functional.interpolate(logits, (net.image_size, net.image_size), mode="bilinear", align_corners=False)
        mask = (large > 0).to(large) if hard else large.sigmoid()
        scaled = mask * config.sigmoid_scale_for_mem_enc + config.sigmoid_bias_for_mem_enc
        found, _ = net.memory_encoder(coarse, scaled)  # [K, D, side, side]
        if net.occlusion_spatial_embedding_parameter is not None:
            found = found + (1 - there) * net.occlusion_spatial_embedding_parameter[..., None, None]
        return found.flatten(2).transpose(1, 2).flatten(1)


class Start(Tracker):
    """pixels [1, 3, S, S], boxes [K, 4] in pixels of the square -> masks [K, S/4, S/4] (logits), memory [K, M]."""

    def forward(self, pixels: torch.Tensor, boxes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        net, maps = self.net, self.features(pixels, boxes)
        conditioned = maps[2] + net.no_memory_embedding[0, :, :, None, None].reshape(1, -1, 1, 1)
        several = net._use_multimask(True, CORNERS)
        logits, pointer, there = self.decoded(maps, conditioned, self.corners(boxes), several)
        frame = self.remembered(maps[2], logits, there, hard=True)
        parts = [
            functional.pad(frame, (0, self.sizes[0] - frame.shape[1])),
            functional.pad(pointer, (0, self.sizes[1] - pointer.shape[1])),
            torch.ones_like(pointer[:, :1]),
        ]
        return logits[:, 0], torch.cat(parts, dim=1)

    def corners(self, boxes: torch.Tensor) -> torch.Tensor:
        """[K, 1, 3, C]: two corners, and the sign that no point follows."""
        prompts = self.net.prompt_encoder
        places = (boxes.reshape(-1, 1, 2, 2) + 0.5) / prompts.input_image_size
        found = prompts.shared_embedding(places) + prompts.point_embed.weight[2:4]
        return torch.cat([found, prompts.not_a_point_embed.weight.expand_as(found[:, :, :1])], dim=2)


class Step(Tracker):
    """pixels [1, 3, S, S] and the memory [K, M] of the frame before -> masks [K, S/4, S/4] (logits), memory [K, M]."""

    def __init__(self, net: Sam2VideoModel) -> None:
        super().__init__(net)
        self.bias = torch.zeros(1)
        net.config._attn_implementation_internal = ATTENTION
        ALL_ATTENTION_FUNCTIONS.register(ATTENTION, self._attend)

    def forward(self, pixels: torch.Tensor, memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        net, maps = self.net, self.features(pixels, memory)
        frames, pointers, age = memory.split(self.sizes, dim=1)
        conditioned = self.conditioned(maps[2], frames, pointers, age)
        several = net._use_multimask(False, None)
        logits, pointer, there = self.decoded(maps, conditioned, self.nothing(memory), several)
        frame = self.remembered(maps[2], logits, there, hard=False)
        parts = [pushed(frames, frame), pushed(pointers, pointer), age + 1]
        return logits[:, 0], torch.cat(parts, dim=1)

    def conditioned(
        self, coarse: torch.Tensor, frames: torch.Tensor, pointers: torch.Tensor, age: torch.Tensor
    ) -> torch.Tensor:
        """The coarse map [K, C, side, side] in the light of what is remembered."""
        net, split = self.net, self.net.hidden_dim // self.net.mem_dim
        tokens = [part.reshape(part.shape[0], -1, net.mem_dim) for part in (frames, pointers)]
        placed = self.memory_position.expand_as(tokens[0]), self.when(age, split)
        filled = absent(age, self.kept, self.places), absent(age, self.pointers, split)
        self.bias = torch.cat(filled, dim=1)[:, None, None]  # [K, 1, 1, N]
        found = (coarse.flatten(2).transpose(1, 2) + 0.1 * self.position)[:, None]  # [K, 1, P, C]
        for layer in net.memory_attention.layers:
            found = layer(
                queries=found,
                keys=torch.cat(tokens, dim=1)[:, None],
                key_point_embedding=torch.cat(placed, dim=1)[:, None],
                rope_position_embeddings=self.rope,
                num_k_exclude_rope=self.pointers * split,
            )
        normed: torch.Tensor = net.memory_attention.layer_norm(found)[:, 0]
        return normed.transpose(1, 2).reshape(-1, net.hidden_dim, self.side, self.side)

    def when(self, age: torch.Tensor, split: int) -> torch.Tensor:
        """[K, pointers * split, D]: how long ago each pointer was, for networks that look at it; else zeros."""
        net, earlier = self.net, torch.arange(1, self.pointers, dtype=age.dtype)
        ago = torch.cat([age, earlier.expand(age.shape[0], -1)], dim=1)
        if not net.config.enable_temporal_pos_encoding_for_object_pointers:
            return (ago * 0.0)[..., None].repeat(1, split, net.mem_dim)
        waves = get_1d_sine_pe(ago / (self.pointers - 1), dim=net.hidden_dim)
        found = net.temporal_positional_encoding_projection_layer(waves)  # [K, pointers, D]
        return found[:, :, None].expand(-1, -1, split, -1).reshape(age.shape[0], -1, net.mem_dim)

    def nothing(self, memory: torch.Tensor) -> torch.Tensor:
        """[K, 1, 2, C]: the prompt of a frame without one: a point that is none, and the sign that none follows."""
        none = self.net.prompt_encoder.not_a_point_embed.weight
        return none.expand(memory.shape[0], 1, 2, none.shape[1])

    def _attend(
        self,
        module: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        *_: Any,
        scaling: float,
        **__: Any,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attention of the memory: places that are not filled are not seen."""
        weights = query @ key.transpose(2, 3) * scaling
        weights = (weights + self.bias if module.rope_k_repeat else weights).softmax(dim=-1)
        return (weights @ value).transpose(1, 2), weights


def pushed(kept: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """[K, n * size]: the first of the kept stays the first; the new one follows, and the oldest falls out."""
    size = new.shape[1]
    return torch.cat([kept[:, :size], new, kept[:, size:-size]], dim=1)


def absent(age: torch.Tensor, kept: int, repeated: int) -> torch.Tensor:
    """[K, kept * repeated]: 0 for places that are filled after `age` frames [K, 1], else what hides them."""
    unfilled = (torch.arange(kept, dtype=age.dtype) + 0.5 > age).to(age) * ABSENT
    return unfilled[:, :, None].expand(-1, -1, repeated).reshape(age.shape[0], -1)
