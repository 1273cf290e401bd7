"""V-CLIP, LPIPS and CLAP (section 4): how far the output is from its source, by published embeddings, without a judge.

Formulas are ours (the paper names the metrics). Until the published models are mounted, stand-ins answer and every
record says so. All three look at the common duration only; V-CLIP and LPIPS at the same moments of both clips.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import Embeddings, FrameDistance
from evaluator.media.types import Audio
from evaluator.metrics.arithmetic import cosine
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.levels import is_silent
from evaluator.schema import AudioNeed, Case, ExpertNeed, Need
from evaluator.suites.avenue import matching
from evaluator.suites.avenue.choices import EMBEDDED_FRAMES

SECONDS = "seconds"
"""Option of audio experts: embed only this much of the sound."""


def facts(case: Case) -> dict[str, object]:
    """What a record says of the matching."""
    common = matching.matched(case)
    return {"seconds": common.seconds, "systems": common.systems}


def compute_v_clip(case: Case, output: Embeddings, source: Embeddings) -> Outcome:
    """Mean over moments of the cosine of both frames, -1..1."""
    count = min(len(output.vectors), len(source.vectors))
    if not count:
        raise NotApplicable("not_applicable", "a clip has no frame")
    pairs = zip(output.vectors[:count], source.vectors[:count], strict=True)
    per_frame = [cosine(one, other) for one, other in pairs]
    return Outcome(float(np.mean(per_frame)), details={"per_frame": per_frame, **facts(case)})


def compute_lpips(case: Case, distance: FrameDistance) -> Outcome:
    """Mean distance over moments, 0 = equal pictures."""
    if not len(distance.values):
        raise NotApplicable("not_applicable", "a clip has no frame")
    values = distance.values.astype(np.float64)
    return Outcome(float(values.mean()), details={"per_frame": values.tolist(), **facts(case)})


def compute_clap(
    case: Case, output: Embeddings, source: Embeddings, output_sound: Audio, source_sound: Audio
) -> Outcome:
    """Cosine of both sounds, -1..1. Raises NotApplicable where one of them is silent: it has no direction."""
    require_sound(case, output_sound, "output")
    require_sound(case, source_sound, "source")
    return Outcome(cosine(output.vectors[0], source.vectors[0]), details=facts(case))


def require_sound(case: Case, sound: Audio, name: str) -> None:
    """Raise NotApplicable if the common duration of a clip is silent."""
    if is_silent(matching.cut(sound, case)):
        raise NotApplicable("not_applicable", f"the {name} is silent, and silence has no embedding")


def _v_clip_needs(case: Case) -> Mapping[str, Need]:
    sampling = matching.moments(case, EMBEDDED_FRAMES)
    return {name: ExpertNeed("clip_image", (role,), sampling) for name, role in _ROLES}


def _lpips_needs(case: Case) -> Mapping[str, Need]:
    """The source comes first: pictures of two shapes are compared at the source's (section 1.3)."""
    return {"distance": ExpertNeed("frame_distance", ("source", "video"), matching.moments(case, EMBEDDED_FRAMES))}


def _clap_needs(case: Case) -> Mapping[str, Need]:
    options = ((SECONDS, matching.matched(case).seconds),)
    embeddings: dict[str, Need] = {name: ExpertNeed("clap_audio", (role,), options=options) for name, role in _ROLES}
    return {**embeddings, **{f"{name}_sound": AudioNeed(role=role) for name, role in _ROLES}}


_ROLES = (("output", "video"), ("source", "source"))


def _metric(
    name: str,
    title: str,
    summary: str,
    needs_of: Callable[[Case], Mapping[str, Need]],
    compute: Callable[..., Outcome],
    direction: Direction = Direction.HIGHER,
    bounds: tuple[float | None, float | None] = (-1.0, 1.0),
    version: int = 1,
) -> Metric:
    return Metric(
        id=name,
        version=version,
        title=title,
        summary=summary,
        direction=direction,
        range=bounds,
        unit="",
        paper="AVENUE, spec section 4 (formula ours)",
        needs={},
        needs_of=needs_of,
        compute=compute,
        reads=("data",),
    )


V_CLIP = _metric(
    "v_clip",
    "V-CLIP",
    "Cosine of output and source frames at equal moments, in CLIP.",
    _v_clip_needs,
    compute_v_clip,
    version=2,
)
LPIPS = _metric(
    "lpips",
    "LPIPS",
    "Perceptual distance of output and source frames at equal moments.",
    _lpips_needs,
    compute_lpips,
    Direction.LOWER,
    (0.0, None),
    version=2,
)
CLAP = _metric("clap", "CLAP", "Cosine of the sounds of output and source, in CLAP.", _clap_needs, compute_clap)
METRICS = (V_CLIP, LPIPS, CLAP)
