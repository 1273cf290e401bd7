"""Pictures: how they look and move, and where profiles differ (spec 3.3, 4.5 to 4.7).

`compat` crops what `paper` squashes, shrinks what the case's card has no memory for, and samples by the container's
count of frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evaluator.metrics import motion_smoothness, subject_consistency, video_aesthetic
from evaluator.schema import Case, ExpertNeed, Need, Sampling
from evaluator.suites.ave_compass.frame_counts import told, trusting

TEN, FIFTY = Sampling("ave_f1", (10,)), Sampling("linspace", (50,))
CROPPED = ExpertNeed("image_embedding", sampling=trusting(FIFTY), options=(("preprocess", "hf_crop"),))
"""Short side 256 and centre crop, as the reference does with the folder that it expects; `paper` squashes."""


def on_a_card(case: Case) -> Mapping[str, Need]:
    """Interpolation as on a card of the size that the case names (`data.vram_bytes`), by default the fixed 24 GiB."""
    named = case.data.get("vram_bytes")
    options = (("vram_bytes", int(named)),) if named is not None else ()
    return {"interpolation": ExpertNeed("frame_interpolation", options=options)}


AESTHETIC = told(video_aesthetic.METRIC, "video")
AESTHETIC_COMPAT = told(
    replace(video_aesthetic.METRIC, needs={"aesthetics": ExpertNeed("frame_aesthetics", sampling=trusting(TEN))}),
    "video",
)
SUBJECT = told(subject_consistency.METRIC, "video")
SUBJECT_COMPAT = told(replace(subject_consistency.METRIC, needs={"embeddings": CROPPED}), "video")
MOTION_COMPAT = replace(motion_smoothness.METRIC, needs_of=on_a_card)
MOTION_STRICT = replace(
    motion_smoothness.METRIC, needs={"interpolation": ExpertNeed("frame_interpolation", options=(("scale", 1),))}
)
