"""Experts without weights of their own: they stand in for a published model with what other experts already have.

A composed expert is one module `evaluator/experts/<id>.py` like any other, without an entry in the model lock. It
names the models whose files it opens (`weights`; their digests become its own) and the published model in whose place
it answers (`stands_in_for`), which every record then says. `STAND_INS` says for which capability it steps in while no
reference model is mounted; with --require-reference it never does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from evaluator.experts.base import Expert


class Composed(Expert):
    """Base class of stand-ins that are made of other models."""

    weights: ClassVar[tuple[str, ...]] = ()
    """Lock entries whose files it opens itself. Models that it reaches through `needs` are found without this."""
    stands_in_for: ClassVar[str]
    """The published model; empty where the mounted models are the published ones themselves."""


STAND_INS: Mapping[str, str] = {
    "clip_image": "clip_stand_in",
    "clap_audio": "clap_stand_in",
    "speaker_verification": "ecapa_stand_in",
    "entity_cues": "entity_cues",
    "face_lip_embedding": "face_lips",
    "face_clips": "face_clips_stand_in",
    "text_and_picture_names": "clip_text_stand_in",
    "text_and_sound_names": "clap_text_stand_in",
    "sound_and_picture_names": "imagebind_stand_in",
    "voices_apart": "voices_apart",
    "stem_tags": "stem_tags",
    "vocals_transcript": "vocals_transcript",
}
"""Capability -> composed expert."""
