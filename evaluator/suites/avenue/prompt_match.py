"""Text-audio, text-video and audio-video (section 4): how near the output is to what was asked, in a common space.

These need a model with a text side (CLAP, CLIP) or with sound and picture in one space (ImageBind). Until CLAP or CLIP
is mounted, text is compared with the names of what a tagger hears or a classifier sees (`named_classes`), in a space of
sentences: it falls when the named sound or thing is replaced, and knows neither people nor style. Its cosines share no
scale with the published ones and no table cell.

Audio-video has no stand-in. The same construction on both sides was measured on seven clips with sound: a clip's own
picture was no nearer to its sound than other clips' pictures (a talking face: own 0.08, a rabbit's meadow 0.11). Onsets
against motion would answer another question under ImageBind's name. So it stays unavailable.
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
    return mean_cosine(case, alignment)


def mean_cosine(case: Case, alignment: Alignment) -> Outcome:
    """Mean of the cosines. Raises NotApplicable for none."""
    if not len(alignment.cosines):
        raise NotApplicable("not_applicable", "nothing was compared")
    values = alignment.cosines.astype(np.float64)
    return Outcome(float(np.clip(values.mean(), -1.0, 1.0)), details={"cosines": values.tolist(), **facts(case)})


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
    options = ((SECONDS, matching.matched(case).seconds),)
    return {"alignment": ExpertNeed("imagebind_av", options=options)}


def _metric(
    name: str,
    title: str,
    summary: str,
    needs_of: Callable[[Case], Mapping[str, Need]],
    compute: Callable[..., Outcome],
) -> Metric:
    return Metric(
        id=name,
        version=1,
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


def _by_names(metric: Metric, needs_of: Callable[[Case], Mapping[str, Need]], what: str) -> Metric:
    """The metric, and what is measured in its place where its model is not mounted."""
    summary = f"Cosine of the target prompt and the names of the {what}, in a space of sentences; not CLAP's or CLIP's."
    title = f"{metric.title}, by names"
    return replace(metric, instead=replace(metric, title=title, summary=summary, needs_of=needs_of))


TEXT_AUDIO = _by_names(
    _metric("text_audio", "ta", "Cosine of the target prompt and the sound, in CLAP.", _ta_needs, _ta),
    _named_sounds,
    "sounds that are heard",
)
TEXT_VIDEO = _by_names(
    _metric("text_video", "tv", "Cosine of the target prompt and the frames, in CLIP.", _tv_needs, _tv),
    _named_things,
    "things that are seen",
)
AUDIO_VIDEO = _metric(
    "audio_video", "av", "Cosine of sound and picture of the output, in ImageBind.", _av_needs, mean_cosine
)
METRICS = (TEXT_AUDIO, TEXT_VIDEO, AUDIO_VIDEO)
