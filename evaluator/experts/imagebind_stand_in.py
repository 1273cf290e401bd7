"""In place of ImageBind: whether the names of what a classifier sees go with the names of what a tagger hears.

Pictures speak through ImageNet's thousand names and one more, "a person talking", where a face is found; sound through
the 521 names of AudioSet. `names_together` says how well both go together. It tells kinds apart (an animal, an
instrument, an engine, a voice), not one voice from another, and not when anything sounds. What it was measured on, and
how far it got, is in `evaluator list avenue` under audio_video. Its values are no cosines of ImageBind: it answers a
capability of its own, so that no threshold for ImageBind ever meets them.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts import minilm
from evaluator.experts.clap_stand_in import patches_within
from evaluator.experts.clap_text_stand_in import SAID
from evaluator.experts.clip_text_stand_in import SEEN, class_names, classified, frames_need
from evaluator.experts.composed import Composed
from evaluator.experts.features import Alignment, AudioTags, FaceTrack
from evaluator.experts.names_together import agreement, lifts
from evaluator.media.types import F64, Frames
from evaluator.runtime.session import SessionSource
from evaluator.schema import ALL_FRAMES, ExpertNeed, Need

PERSON = "person talking"
"""ImageNet has no class for people; what is a face to a detector is this name's."""

_making = threading.Lock()  # embedding all names takes many seconds, which threads must not spend side by side


class ImageBindStandIn(Composed):
    """capability `sound_and_picture_names`: one value -1..1 per sampled frame. Option `seconds`: hear only so much."""

    id = "imagebind_stand_in"
    capability = "sound_and_picture_names"
    stands_in_for = "ImageBind"
    weights = ("efficientnet_lite0", minilm.ID)

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {
            "frames": frames_need(want),
            "faces": ExpertNeed("faces", want.roles[:1], ALL_FRAMES),
            "tags": ExpertNeed("audio_tags", want.roles[:1]),
        }

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Alignment:
        frames: Frames = inputs["frames"]
        tags: AudioTags = inputs["tags"]
        options: dict[str, Any] = dict(want.options)
        seen = with_persons(classified(self.sessions, frames), faces_at(frames, inputs["faces"]))
        heard = profile(tags, options.get("seconds"))
        with _making:
            table = _table(self.sessions, tags.names)  # type: ignore[arg-type]
        return Alignment(agreement(seen, heard, table))


def with_persons(things: F64, faces: F64) -> F64:
    """Probabilities [N, 1001] of things [N, 1000] and a person; a frame with a face [N] is half a person's."""
    person = faces[:, None] / 2
    return np.hstack([things * (1 - person), person])


def faces_at(frames: Frames, faces: FaceTrack) -> F64:
    """[N] 1 where a face was found in that frame, else 0."""
    return np.isin(frames.index, faces.index[faces.count > 0]).astype(np.float64)


def profile(tags: AudioTags, seconds: float | None) -> F64:
    """Shares [S] of the classes in what is heard. Raises NotApplicable if no class is."""
    mean = tags.probability[: patches_within(seconds, tags)].mean(axis=0, dtype=np.float64)
    if not mean.sum():
        raise NotApplicable("not_applicable", "no class of sounds is heard")
    return np.asarray(mean / mean.sum())


@lru_cache(maxsize=2)
def _table(sessions: SessionSource, sounds: tuple[str, ...]) -> F64:
    """Lifts [1001, 521], read-only; its 1,522 names are embedded once per process."""
    seen = (*class_names(sessions.path(minilm.ID, "imagenet_names.json")), PERSON)
    pictures = minilm.embed(sessions, [SEEN.format(name) for name in seen])
    found = lifts(pictures, minilm.embed(sessions, [SAID.format(name) for name in sounds]))
    found.flags.writeable = False
    return found


EXPERT = ImageBindStandIn
