"""Pictures where profiles differ: what the reference crops, and what it shrinks on a small card (spec 4.6, 4.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evaluator.metrics import motion_smoothness, subject_consistency
from evaluator.schema import Case, ExpertNeed, Need, Sampling

CROPPED = ExpertNeed("image_embedding", sampling=Sampling("linspace", (50,)), options=(("preprocess", "hf_crop"),))
"""Short side 256 and centre crop, as the reference does with the folder that it expects; `paper` squashes."""


def on_a_card(case: Case) -> Mapping[str, Need]:
    """Interpolation as on a card of the size that the case names (`data.vram_bytes`), by default the fixed 24 GiB."""
    named = case.data.get("vram_bytes")
    options = (("vram_bytes", int(named)),) if named is not None else ()
    return {"interpolation": ExpertNeed("frame_interpolation", options=options)}


SUBJECT_COMPAT = replace(subject_consistency.METRIC, needs={"embeddings": CROPPED})
MOTION_COMPAT = replace(motion_smoothness.METRIC, needs_of=on_a_card)
MOTION_STRICT = replace(
    motion_smoothness.METRIC, needs={"interpolation": ExpertNeed("frame_interpolation", options=(("scale", 1),))}
)
