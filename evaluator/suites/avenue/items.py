"""The items of each judged dimension (section 2): what is asked, about which modality, with or without the source.

Pure functions of a case's data, so that whoever reads the answers can rebuild the list. Wording is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.suites.avenue.data import AUDIO, EDITED, VIDEO, AvenueData, preserved


@dataclass(frozen=True, slots=True)
class Item:
    """One aspect to grade from 1 to 5. `modalities` is what must be shown of the target, and of a compared source."""

    id: str
    question: str
    modalities: tuple[str, ...]
    compared: bool = True
    elements: str | None = None  # the listed elements that this item is about


SOURCE_VIDEO = "source_video"
"""The condition (section 2.2) in which the pictures of the output are the source's own."""

_WORDS = {AUDIO: "the sound", VIDEO: "the picture"}


def edit_accuracy(data: AvenueData) -> tuple[Item, ...]:
    """One grade of the edited modality, or of both together."""
    touched = EDITED[data.scope]
    where = " and ".join(_WORDS[one] for one in touched)
    both = " A change that only one of the two shows is partly made." if len(touched) > 1 else ""
    question = f"The edit in {where}: are the listed changes there, and are the listed elements intact?{both}"
    return (Item("edit", question, touched),)


VISUAL = (
    ("subject", "The subject: who or what is seen, identity, shape, number."),
    ("motion", "Motion: what moves, how, how fast, and what the camera does."),
    ("background", "The background and everything around the subject."),
    ("artifacts", "Freedom from new visual artifacts: flicker, warping, blur, seams that the source does not have."),
    ("style", "Colour, light and style."),
)
AUDIBLE = (
    ("events", "Sound events: which sounds are heard, and how many."),
    ("loudness_timing", "Loudness and timing of the sounds."),
    ("timbre_voice", "Timbre and voices."),
    ("ambience", "Background sound and ambience."),
    ("audio_artifacts", "Freedom from new audible artifacts: noise, gaps, distortion that the source does not have."),
)
_LISTED = {
    AUDIO: "The listed sounds, which had to stay: was any of them altered, and how much?",
    VIDEO: "The listed visual elements, which had to stay: was any of them altered, and how much?",
}


def selectivity(data: AvenueData) -> tuple[Item, ...]:
    """What had to stay in the other modality, and the listed elements of the edited one. None for coupled edits.

    Of a null edit, which edits neither, all of it in both directions (section 2.3).
    """
    if data.null_edit:
        return tuple(item for one in (VIDEO, AUDIO) for item in (*_checklist(one), *_listed(data, one, f"_{one}")))
    if data.scope == "C":
        return ()
    edited, kept = (AUDIO, VIDEO) if data.scope == "A" else (VIDEO, AUDIO)
    bypassed = kept == VIDEO and data.condition == SOURCE_VIDEO  # the very same pictures: nothing to score (2.4)
    return (*(() if bypassed else _checklist(kept)), *_listed(data, edited))


def _listed(data: AvenueData, modality: str, suffix: str = "") -> tuple[Item, ...]:
    """The item about the listed elements of a modality; none if nothing is listed."""
    elements = preserved(data, modality)
    return (Item(f"elements{suffix}", _LISTED[modality], (modality,), elements=elements),) if elements else ()


def _checklist(modality: str) -> tuple[Item, ...]:
    aspects = VISUAL if modality == VIDEO else AUDIBLE
    return tuple(Item(name, question, (modality,)) for name, question in aspects)


def quality(data: AvenueData) -> tuple[Item, ...]:
    """Technical quality of the edited modality, or of both together, without the source."""
    where = " and ".join(_WORDS[one] for one in EDITED[data.scope])
    return (Item("quality", f"The technical quality of {where}.", EDITED[data.scope], compared=False),)


def consistency(data: AvenueData) -> tuple[Item, ...]:
    """Picture and sound of a coupled edit, together."""
    if data.scope != "C":
        return ()
    return (Item("consistency", "Do picture and sound belong together?", (VIDEO, AUDIO), compared=False),)


def timing(data: AvenueData) -> tuple[Item, ...]:
    """CMTG: the edited modality against the trigger in the other one, so both are shown."""
    if data.trigger is None:
        return ()
    return (Item("timing", "Is the change timed to its trigger?", (VIDEO, AUDIO)),)
