"""Text-audio, text-video and audio-video (section 4): how near the output is to what was asked, in a common space.

These need a model with a text side (CLAP, CLIP) or with sound and picture in one space (ImageBind). Until one is
mounted, names take its place: of what a tagger hears and of what a classifier sees, in a space of sentences. A text is
compared with them by their cosine (`named_classes`), sound with pictures by how well their names go together
(`names_together`). Both fall when the named sound or thing is replaced by one of another kind, and know neither style
nor moments. Their values share no scale with the published ones and no table cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import Alignment
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import AudioNeed, Case, ExpertNeed, Need
from evaluator.suites.avenue import matching
from evaluator.suites.avenue.choices import EMBEDDED_FRAMES
from evaluator.suites.avenue.data import AUDIO, VIDEO, of, prompt
from evaluator.suites.avenue.similarity import SECONDS, facts, require_sound


def target(case: Case, modality: str) -> str:
    """What the target prompt says of a modality; empty if nothing."""
    return (prompt(of(case).target_prompt, modality) or "").strip()


def compute_text(modality: str, case: Case, alignment: Alignment, sound: object = None) -> Outcome:
    """Mean cosine of the target prompt with the frames or with the sound, -1..1."""
    if not target(case, modality):
        raise NotApplicable("not_applicable", f"the target prompt says nothing of the {modality}")
    return mean(case, alignment, "values")


def mean(case: Case, alignment: Alignment, told: str) -> Outcome:
    """Mean of the values, which the details tell under this name. Raises NotApplicable for none."""
    if not len(alignment.cosines):
        raise NotApplicable("not_applicable", "nothing was compared")
    values = alignment.cosines.astype(np.float64)
    return Outcome(float(np.clip(values.mean(), -1.0, 1.0)), details={told: values.tolist(), **facts(case)})


def _av(case: Case, alignment: Alignment, sound: object) -> Outcome:
    require_sound(case, sound, "output")  # type: ignore[arg-type]
    return mean(case, alignment, "values")


def _ta(case: Case, alignment: Alignment, sound: object) -> Outcome:
    require_sound(case, sound, "output")  # type: ignore[arg-type]
    return compute_text(AUDIO, case, alignment)


def _tv(case: Case, alignment: Alignment) -> Outcome:
    return compute_text(VIDEO, case, alignment)


def _ta_needs(case: Case) -> Mapping[str, Need]:
    options = ((SECONDS, matching.matched(case).seconds), ("text", target(case, AUDIO)))
    return {"alignment": ExpertNeed("clap_text_audio", options=options), "sound": AudioNeed()}


def _tv_needs(case: Case) -> Mapping[str, Need]:
    sampling = matching.moments(case, EMBEDDED_FRAMES)
    return {"alignment": ExpertNeed("clip_text_image", sampling=sampling, options=(("text", target(case, VIDEO)),))}


def _named_sounds(case: Case) -> Mapping[str, Need]:
    options = ((SECONDS, matching.matched(case).seconds), ("text", target(case, AUDIO)))
    return {"alignment": ExpertNeed("text_and_sound_names", options=options), "sound": AudioNeed()}


def _named_things(case: Case) -> Mapping[str, Need]:
    sampling, options = matching.moments(case, EMBEDDED_FRAMES), (("text", target(case, VIDEO)),)
    return {"alignment": ExpertNeed("text_and_picture_names", sampling=sampling, options=options)}


def _av_needs(case: Case) -> Mapping[str, Need]:
    sampling, options = matching.moments(case, EMBEDDED_FRAMES), ((SECONDS, matching.matched(case).seconds),)
    return {"alignment": ExpertNeed("imagebind_av", sampling=sampling, options=options), "sound": AudioNeed()}


def _named_both(case: Case) -> Mapping[str, Need]:
    sampling, options = matching.moments(case, EMBEDDED_FRAMES), ((SECONDS, matching.matched(case).seconds),)
    return {
        "alignment": ExpertNeed("sound_and_picture_names", sampling=sampling, options=options),
        "sound": AudioNeed(),
    }


def _metric(
    name: str,
    title: str,
    summary: str,
    needs_of: Callable[[Case], Mapping[str, Need]],
    compute: Callable[..., Outcome],
    version: int = 1,
) -> Metric:
    return Metric(
        id=name,
        version=version,
        title=title,
        summary=summary,
        direction=Direction.HIGHER,
        range=(-1.0, 1.0),
        unit="",
        paper="AVENUE, spec section 4 (formula ours)",
        needs={},
        needs_of=needs_of,
        compute=compute,
        reads=("data",),
    )


def _by_names(metric: Metric, needs_of: Callable[[Case], Mapping[str, Need]], summary: str) -> Metric:
    """The metric, and what is measured in its place where its model is not mounted."""
    title = f"{metric.title}, by names"
    return replace(metric, instead=replace(metric, title=title, summary=summary, needs_of=needs_of))


TEXT_AUDIO = _by_names(
    _metric("text_audio", "ta", "Cosine of the target prompt and the sound, in CLAP.", _ta_needs, _ta),
    _named_sounds,
    "Cosine of the target prompt and the names of the sounds that are heard, in a space of sentences; not CLAP's.",
)
TEXT_VIDEO = _by_names(
    _metric("text_video", "tv", "Cosine of the target prompt and the frames, in CLIP.", _tv_needs, _tv, 2),
    _named_things,
    "Cosine of the target prompt and the names of the things that are seen, in a space of sentences; not CLIP's.",
)
AUDIO_VIDEO = _by_names(
    _metric("audio_video", "av", "Cosine of sound and picture of the output, in ImageBind.", _av_needs, _av, 3),
    _named_both,
    "How well the names of what is heard and of what is seen go together; 0: like any names. Not ImageBind's cosine.",
)
METRICS = (TEXT_AUDIO, TEXT_VIDEO, AUDIO_VIDEO)
