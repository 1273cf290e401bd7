"""A4: the style that was asked for, and shots of one thread that look alike.

Style by the rank of the target among nine texts (CLIP, if it is mounted), looks by neighbouring pictures of each
thread's own material. Where no model compares texts with pictures, looks stand alone and the record says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from evaluator.experts.features import Alignment as Cosines
from evaluator.experts.features import Embeddings
from evaluator.media.types import F64
from evaluator.metrics.arithmetic import clip01, cosine
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import ClipNeed, ExpertNeed, Need, Sampling
from evaluator.suites.cutcraft.dimensions.card import Dimension, required
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.labels import classes
from evaluator.suites.cutcraft.merge import mean_of
from evaluator.suites.cutcraft.modes import Played
from evaluator.suites.cutcraft.scene import Scene
from evaluator.suites.cutcraft.scoring import style_decay, style_rank, thread_weights

SAMPLES = Sampling("stride", (4, 80))
LOOKS = ExpertNeed("image_embedding", sampling=SAMPLES, options=(("preprocess", "hf_crop"),))
"""DINOv2 on the middle of a picture (spec 4.4)."""


def style_sampling(defects: Defects) -> Sampling:
    """Two pictures a second; D-08: the reference takes the first sixteen, half of the clip."""
    return Sampling("stride", (2, 16)) if defects.first_half else Sampling("fps", (2.0,))


def style_needs(defects: Defects) -> Mapping[str, Need]:
    """One comparison per style."""
    return {
        f"style_{place}": ExpertNeed(
            "clip_text_image", sampling=style_sampling(defects), options=(("text", f"a {style} video"),)
        )
        for place, style in enumerate(classes("style"))
    }


def look_needs(defects: Defects) -> Mapping[str, Need]:
    """Pictures of the whole clip, of which each thread takes its own."""
    return {"looks": LOOKS, "clip": ClipNeed()}


def score(played: Played) -> Outcome:
    """Mean of both halves, or the one that there is."""
    scene = played.scene
    rank = target_rank(scene)
    style = style_decay(rank) if rank is not None else None
    looks, threads = stability(scene)
    value = required(mean_of(style, looks), played, "Neither style nor looks can be compared.")
    return Outcome(
        value,
        details={
            "style": scene.prompt.style,
            "style_rank": rank,
            "style_score": style,
            "looks_score": looks,
            "threads": threads,
        },
    )


def target_rank(scene: Scene) -> int | None:
    """Place of the script's style among all styles; None if no model compares texts with pictures."""
    found: dict[str, Cosines | None] = {
        style: scene.media.get(f"style_{place}") for place, style in enumerate(classes("style"))
    }
    cosines = {style: np.asarray(one.cosines, np.float64) for style, one in found.items() if one is not None}
    return style_rank(cosines, scene.prompt.style) if len(cosines) == len(found) else None


def stability(scene: Scene) -> tuple[float, dict[str, float]]:
    """(weighted mean over threads, thread -> mean cosine of its neighbouring pictures, 0 for one without shots).

    Of a shot in several places only these are looked at; D-23: the reference looks at what lies between them too.
    """
    embeddings: Embeddings = scene.media["looks"]
    times = sample_times(scene, embeddings)
    found: dict[str, float] = {}
    weights = thread_weights([shot.thread for shot in scene.prompt.shots])
    for thread in weights:
        own = [shot for shot, _ in scene.present if scene.prompt.shots[shot].thread == thread]
        spans = [span for shot in own for span in scene.places(shot)]
        rows = np.concatenate([np.flatnonzero((times >= a) & (times < b)) for a, b in spans] or [np.zeros(0, np.int64)])
        pairs = [cosine(embeddings.vectors[a], embeddings.vectors[b]) for a, b in pairwise(rows.astype(int).tolist())]
        found[str(thread)] = clip01(float(np.mean(pairs))) if pairs else 0.0
    return sum(weight * found[str(thread)] for thread, weight in weights.items()), found


def sample_times(scene: Scene, embeddings: Embeddings) -> F64:
    """Seconds of the embedded pictures from the first frame on."""
    clip = scene.media["clip"]
    stamps = np.asarray(clip.video.times, np.float64)
    return np.asarray(stamps[embeddings.index] - stamps[0])


DIMENSION = Dimension(
    "A4",
    "Style",
    "The target style's rank among nine, and how alike the pictures of each thread are.",
    score,
    needs=lambda defects: {**style_needs(defects), **look_needs(defects)},
    version=2,
)
LOOKS_ALONE = replace(DIMENSION, needs=look_needs)


def metric(defects: Defects) -> Metric:
    """A4 of one profile; without a model of texts and pictures, its half that looks at pictures."""
    return card(replace(DIMENSION, instead=LOOKS_ALONE), defects)
