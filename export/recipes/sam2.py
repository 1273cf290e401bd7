"""SAM 2 hiera-large as a tracker, from transformers, in two files (`export.sam2`).

Weights: `config.json` and `model.safetensors` of Hugging Face facebook/sam2-hiera-large.
"""

from __future__ import annotations

from copy import deepcopy

import torch
from transformers import Sam2HieraDetConfig, Sam2VideoConfig, Sam2VideoModel, Sam2VisionConfig

from export.network import Network
from export.onnx_file import seeded
from export.pretrained import load, random
from export.recipe import Sources
from export.sam2 import Start, Step

FLIPPED = 0.15
"""Of the largest number in a memory: what one pixel does whose logit is so near 0 that half precision turns it over."""


def files(net: Sam2VideoModel) -> list[Network]:
    """Both files of a network."""
    start, step, side = Start(deepcopy(net)), Step(net), net.image_size
    first, later = seeded(1, 3, side, side), seeded(1, 3, side, side, seed=1)
    with torch.no_grad():
        memories = [start(first, boxes(objects, side))[1] for objects in (2, 3)]
        memories = [step(later, memory)[1] for memory in memories]  # one place filled, others not
    return [
        Network("sam2_start.onnx", start, (first, boxes(2, side)), (later, boxes(3, side)), 1e-3, half=FLIPPED),
        Network("sam2_step.onnx", step, (first, memories[0]), (first, memories[1]), 1e-3, half=5e-2),
    ]


def boxes(objects: int, side: int) -> torch.Tensor:
    """[objects, 4]: boxes of half the square, each a little further along the diagonal."""
    corner = torch.linspace(0.05, 0.45, objects)[:, None] * side
    return torch.cat([corner, corner, corner + side / 2, corner + side / 2], dim=1)


def networks(sources: Sources) -> list[Network]:
    """Both files with the published weights."""
    return files(load(Sam2VideoModel, sources))


def tiny() -> list[Network]:
    """Five blocks on a picture of 128 x 128; a memory of three frames and four pointers."""
    return files(tracking(later=True))


def tracking(later: bool) -> Sam2VideoModel:
    """A random network that takes its objects to be there: of one that is not, nothing else could be compared."""
    net = random(Sam2VideoModel, config(later))
    torch.nn.init.constant_(net.mask_decoder.pred_obj_score_head.proj_out.bias, 4.0)
    return net


def config(later: bool) -> Sam2VideoConfig:
    """Of a tiny network, with what `later` versions (2.1) added or as it was published first.

    The memory has the 64 channels that transformers fixes, and a pointer is two of its tokens.
    """
    backbone = Sam2HieraDetConfig(
        hidden_size=16, num_attention_heads=1, image_size=[128, 128], blocks_per_stage=[1, 1, 2, 1],
        embed_dim_per_stage=[16, 32, 64, 128], window_size_per_stage=[8, 4, 4, 4], global_attention_blocks=[3],
    )  # fmt: skip
    vision = Sam2VisionConfig(
        backbone_config=backbone, backbone_channel_list=[128, 64, 32, 16], fpn_hidden_size=128,
        backbone_feature_sizes=[[32, 32], [16, 16], [8, 8]],
    )  # fmt: skip
    decoder = {"hidden_size": 128, "mlp_dim": 64, "num_attention_heads": 2, "iou_head_hidden_dim": 32}
    return Sam2VideoConfig(
        vision_config=vision, prompt_encoder_config={"hidden_size": 128, "image_size": 128},
        mask_decoder_config=decoder, image_size=128, num_maskmem=3, max_object_pointers_in_encoder=4,
        memory_attention_hidden_size=128, memory_attention_num_layers=2, memory_attention_feed_forward_hidden_size=64,
        memory_attention_rope_feat_sizes=[8, 8], memory_encoder_hidden_size=128, mask_downsampler_embed_dim=128,
        memory_fuser_embed_dim=128, memory_fuser_intermediate_dim=64, memory_encoder_output_channels=64,
        enable_temporal_pos_encoding_for_object_pointers=later, enable_occlusion_spatial_embedding=later,
    )  # fmt: skip
