"""In place of CLIP with its text side: how near a text is to the names of the things that a classifier sees.

Each frame's thousand ImageNet classes go into the space of sentences by `named_classes`. Cosines of another space than
CLIP's, and of things only: ImageNet has 120 breeds of dogs and no word for a person, a style, a mood or the weather. It
answers a capability of its own, so that nobody takes it for `clip_text_image`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from evaluator.errors import ModelCorrupt
from evaluator.experts import efficientnet_lite0 as classifier
from evaluator.experts import minilm
from evaluator.experts.clap_text_stand_in import asked
from evaluator.experts.composed import Composed
from evaluator.experts.features import Alignment
from evaluator.experts.named_classes import cosines, named
from evaluator.experts.pixels import SYMMETRIC, normalise, sampling_of
from evaluator.media.types import F32, F64, Frames
from evaluator.runtime.session import SessionSource, run_padded
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

SEEN = "a photo of a {}"
CLASSES = 1000


class ClipTextStandIn(Composed):
    """capability `text_and_picture_names`: one cosine per sampled frame. Option: `text`."""

    id = "clip_text_stand_in"
    capability = "text_and_picture_names"
    stands_in_for = "CLIP ViT-L/14 with text"
    weights = ("efficientnet_lite0", minilm.ID)

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"frames": frames_need(want)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Alignment:
        text = minilm.embed(self.sessions, [asked(dict(want.options))])[0]
        seen = classified(self.sessions, inputs["frames"])
        names = [SEEN.format(name) for name in class_names(self.sessions.path(minilm.ID, "imagenet_names.json"))]
        return Alignment(cosines(named(seen, names, partial(minilm.embed, self.sessions)), text))


def frames_need(want: ExpertNeed) -> FramesNeed:
    """The frames of a request, as the classifier looks at them."""
    size = classifier.SIZE
    return FramesNeed(View(sampling_of(want), Fit.SQUASH, size, size, Filter.FFMPEG_BICUBIC), want.roles[0])


def classified(sessions: SessionSource, frames: Frames) -> F64:
    """Probabilities [N, 1000] of ImageNet's classes."""
    session = sessions.session("efficientnet_lite0", "efficientnet_lite0.onnx")
    return softmax(run_padded(session, "pixels", normalise(frames.data, SYMMETRIC), classifier.BATCH)["logits"])


def softmax(logits: F32) -> F64:
    """Probabilities [N, C] of logits [N, C]."""
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@lru_cache(maxsize=2)
def class_names(path: Path) -> tuple[str, ...]:
    """Names in the order of the logits. Raises ModelCorrupt if they are not a thousand words."""
    names = orjson.loads(path.read_bytes())
    if not isinstance(names, list) or len(names) != CLASSES or not all(isinstance(name, str) for name in names):
        raise ModelCorrupt(f"{path}: expected the {CLASSES} class names of ImageNet")
    return tuple(names)


EXPERT = ClipTextStandIn
