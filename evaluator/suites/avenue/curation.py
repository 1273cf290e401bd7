"""Curation filters (section 1.2): which source clips are worth editing, as measurements with thresholds.

Active in profile `curation` only, on the source of a case. Thresholds are the paper's; how each is computed is ours.
The limit on persons is ours altogether, and static content was sorted out by hand. A measurement whose model is not
mounted decides nothing: the clip is undecided, neither kept nor dropped.

The filters use models that the metrics use again (CLIP, CLAP, ImageBind): clips that pass look better on those metrics.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import Alignment, Detections, Embeddings
from evaluator.media.types import Frames
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.ssim import ssim
from evaluator.metrics.subject_consistency import adjacent_cosine
from evaluator.metrics.views import GRAY_224, TEN_FRAMES
from evaluator.schema import Case, ExpertNeed, FramesNeed, Need
from evaluator.suites.avenue.data import AUDIO, of, prompt
from evaluator.suites.bounds import Bound

PROFILE = "curation"
SOURCE = ("source",)
PERSON = "person"


def compute_correspondence(alignment: Alignment) -> Outcome:
    """ImageBind's cosine of sound and picture."""
    return Outcome(float(np.clip(alignment.cosines[0], -1.0, 1.0)))


def compute_language(alignment: Alignment, case: Case) -> Outcome:
    """CLAP's cosine of the sound and its caption."""
    if not caption(case):
        raise NotApplicable("not_applicable", "the source prompt says nothing of the sound")
    return Outcome(float(np.clip(alignment.cosines.mean(), -1.0, 1.0)))


def caption(case: Case) -> str:
    """What the source prompt says of the sound."""
    return (prompt(of(case).source_prompt, AUDIO) or "").strip()


def _language_needs(case: Case) -> Mapping[str, Need]:
    return {"alignment": ExpertNeed("clap_text_audio", SOURCE, options=(("text", caption(case)),))}


def compute_scene(images: Embeddings) -> Outcome:
    """Mean CLIP cosine of neighbours among ten frames."""
    if len(images.vectors) < 2:
        raise NotApplicable("not_applicable", "a clip of one frame has no neighbours")
    return Outcome(float(np.clip(adjacent_cosine(images.vectors.astype(np.float64)), -1.0, 1.0)))


def compute_subject(found: Detections) -> Outcome:
    """Frames out of ten that show the dominant class: the one with the largest summed box area over all frames."""
    areas: Counter[str] = Counter()
    frames: dict[str, set[int]] = defaultdict(set)
    for row, box, name in zip(found.row.tolist(), found.box.astype(np.float64), found.name, strict=True):
        areas[name] += float((box[2] - box[0]) * (box[3] - box[1]))  # type: ignore[assignment]
        frames[name].add(row)
    if not areas:
        return Outcome(0.0, details={"dominant": None, "frames": len(found.index)})
    dominant = max(sorted(areas), key=lambda name: areas[name])
    share = len(frames[dominant]) / len(found.index)
    return Outcome(10.0 * share, details={"dominant": dominant, "frames": len(found.index)})


def compute_persons(found: Detections) -> Outcome:
    """Mean number of persons per frame."""
    return Outcome(sum(name == PERSON for name in found.name) / len(found.index))


def compute_dynamics(frames: Frames) -> Outcome:
    """Mean SSIM of neighbours among ten gray frames: the higher, the less happens."""
    gray = frames.data[..., 0]
    if len(gray) < 2:
        raise NotApplicable("not_applicable", "a clip of one frame has no neighbours")
    values = [ssim(one, other) for one, other in pairwise(gray)]
    return Outcome(float(np.mean(values)), details={"per_pair": values})


def _metric(
    name: str,
    summary: str,
    compute: Callable[..., Outcome],
    needs: Mapping[str, Need],
    bounds: tuple[float | None, float | None] = (-1.0, 1.0),
) -> Metric:
    return Metric(
        id=f"curation_{name}",
        version=1,
        title=f"Curation: {name.replace('_', ' ')}",
        summary=summary,
        direction=Direction.NONE,
        range=bounds,
        unit="",
        paper="AVENUE, spec section 1.2",
        needs=needs,
        needs_of=_language_needs if name == "audio_language" else None,
        compute=compute,
        reads=("data",) if name == "audio_language" else (),
    )


OBJECTS = {"found": ExpertNeed("object_detections", SOURCE, TEN_FRAMES)}
AV = _metric(
    "av_correspondence",
    "ImageBind's cosine of sound and picture of the source.",
    compute_correspondence,
    {"alignment": ExpertNeed("imagebind_av", SOURCE)},
)
LANGUAGE = _metric("audio_language", "CLAP's cosine of the source's sound and its caption.", compute_language, {})
SCENE = _metric(
    "scene_consistency",
    "Mean CLIP cosine of neighbours among ten frames of the source.",
    compute_scene,
    {"images": ExpertNeed("clip_image", SOURCE, TEN_FRAMES)},
)
SUBJECT = _metric(
    "coherent_subject", "Frames of ten that show the source's dominant object class.", compute_subject, OBJECTS, (0, 10)
)
PERSONS = _metric("persons", "Mean persons per frame of the source.", compute_persons, OBJECTS, (0, None))
DYNAMICS = _metric(
    "dynamics",
    "Mean SSIM of neighbours among ten frames of the source.",
    compute_dynamics,
    {"frames": FramesNeed(GRAY_224, "source")},
)
METRICS = (AV, LANGUAGE, SCENE, SUBJECT, PERSONS, DYNAMICS)


BOUNDS = (
    Bound(AV.id, low=0.3, strict=True),
    Bound(LANGUAGE.id, low=0.3, strict=True),
    Bound(SCENE.id, low=0.75),
    Bound(SUBJECT.id, low=9.0),
    Bound(PERSONS.id, high=3.0),
    Bound(DYNAMICS.id, high=0.85),
)
