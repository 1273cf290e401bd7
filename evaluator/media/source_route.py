"""Which decoder may take a clip, decided from its facts before anything is decoded.

PyAV takes everything that `probe` lets through. DALI decodes on a GPU (NVDEC) and, for a few codecs, on a CPU; what it
would get wrong silently, or refuse, goes to PyAV with the reason. Decodes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluator.media.types import ClipInfo
from evaluator.schema import Filter, View

ON_GPU = frozenset({"h264", "hevc", "vp8", "vp9", "av1", "mjpeg", "mpeg4"})
ON_CPU = frozenset({"vp8", "vp9", "mjpeg"})
"""DALI 2.4: its CPU build has no decoder for H.264 and HEVC."""

EIGHT_BIT = frozenset({"yuv420p", "yuvj420p"})
TEN_BIT = frozenset({"yuv420p10le", "p010le"})
CONTAINERS = frozenset({"mov", "mp4", "matroska", "webm"})
"""Containers in which DALI's frame numbers were measured to be ours."""

MATRICES = frozenset({"bt601", "bt709"})


def not_for_dali(info: ClipInfo, device: str) -> str:
    """Why DALI must not decode the pictures of a clip on `device` ("gpu" or "cpu"); empty if it may."""
    video = info.video
    if video is None:
        return "no pictures"
    codecs = ON_GPU if device == "gpu" else ON_CPU
    depths = EIGHT_BIT if video.codec == "h264" else EIGHT_BIT | TEN_BIT
    refusals = {
        f"codec {video.codec}": video.codec not in codecs,
        f"pixel format {video.pixel_format}": video.pixel_format not in depths,
        f"container {info.container}": not CONTAINERS & set(info.container.split(",")),
        "frame times are not in the packets": video.indexed_by != "packets",
        "an edit list hides frames": video.hidden > 0,
        "interlaced": video.interlaced,
        "rotated": video.rotation != 0,
        f"colour matrix {video.matrix}": video.matrix not in MATRICES,
        "damaged": bool(info.notes or info.damaged),
    }
    return next((reason for reason, applies in refusals.items() if applies), "")


def views_not_for_dali(views: Iterable[View]) -> str:
    """Why pictures for these views must come from the CPU's decoder; empty if they need not."""
    if any(view.filter is Filter.FFMPEG_JPEG for view in views):
        return "a view goes through JPEG files"
    return ""
