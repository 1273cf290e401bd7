"""CutCraft's labels in both languages, normalised by a table (labels.json): another word for a class is one line there.

A label that the table does not know is an error that names the nearest known one; nothing falls back to a class. The
reference code's normalisers, which look for words inside a label and so lose some (CutCraft spec D-01, D-11), are here
under their own names for the profile `compat`. The Chinese words are the usual terms of the trade: the published twin
files could not be read.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from enum import StrEnum
from functools import cache
from pathlib import Path

import orjson

from evaluator.errors import UsageError

TABLE = Path(__file__).with_name("labels.json")


class Optical(StrEnum):
    """How one picture gives way to the next (spec 4.2)."""

    HARD_CUT = "hard_cut"
    DISSOLVE = "dissolve"
    WIPE = "wipe"
    FLASH_WHITE = "flash_white"
    FLASH_BLACK = "flash_black"


class Relation(StrEnum):
    """What the sound does at a cut of the pictures (spec 8)."""

    J_CUT = "j-cut"  # the next shot is heard before it is seen
    L_CUT = "l-cut"  # the previous shot is still heard when it is no longer seen
    STRAIGHT = "straight"


FLASHES = frozenset({Optical.FLASH_WHITE, Optical.FLASH_BLACK})


@cache
def vocabulary(field: str) -> dict[str, str]:
    """Known spelling -> class, for one field of the table ("optical", "relation", "motion", ...). Raises KeyError."""
    table: dict[str, list[str]] = orjson.loads(TABLE.read_bytes())[field]
    return {key(word): name for name, words in table.items() for word in words}


@cache
def classes(field: str) -> tuple[str, ...]:
    """The classes of a field, in the table's order."""
    return tuple(orjson.loads(TABLE.read_bytes())[field])


def key(label: str) -> str:
    """The form in which labels are compared: width, letter case, typographic marks and spaces do not count."""
    plain = unicodedata.normalize("NFKC", label).casefold().replace("’", "'")
    plain = re.sub(r"[‐‑‒–—−]", "-", plain)
    return re.sub(r"\s+", " ", re.sub(r"\s*([()/])\s*", r" \1 ", plain)).strip(" .。")


def normalise(field: str, label: str) -> str:
    """The class of a label. Text in brackets may be left out. Raises UsageError for an unknown label."""
    known = vocabulary(field)
    for form in (key(label), key(re.sub(r"\(.*?\)", "", unicodedata.normalize("NFKC", label)))):
        if form in known:
            return known[form]
    near = difflib.get_close_matches(key(label), known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"{field}: {label!r} is none of CutCraft's labels {', '.join(classes(field))}{hint}")


def optical(label: str) -> Optical:
    """Class of an `optical_effect`. Raises UsageError."""
    return Optical(normalise("optical", label))


def relation(label: str) -> Relation:
    """Class of an `audio_visual_relation`. Raises UsageError."""
    return Relation(normalise("relation", label))


# ------------------------------------------------------------------------------------ the reference code's rules


def optical_by_words(label: str) -> Optical:
    """Spec 7, D2: the first class one of whose words is in the label, else hard cut (so both flash-to-* are lost)."""
    text = label.lower()
    return next((name for name, words in _OPTICAL_WORDS if any(word in text for word in words)), Optical.HARD_CUT)


_OPTICAL_WORDS: tuple[tuple[Optical, tuple[str, ...]], ...] = (
    (Optical.HARD_CUT, ("hard cut", "straight cut")),
    (Optical.FLASH_WHITE, ("flash white", "flash-white", "white flash")),
    (
        Optical.FLASH_BLACK,
        ("flash black", "flash-black", "black flash", "fade to black", "fade-to-black", "fade black"),
    ),
    (Optical.WIPE, ("wipe", "iris")),
    (Optical.DISSOLVE, ("dissolve", "fade", "blend", "morph", "crossfade")),
)


def relation_by_words(label: str) -> str:
    """Spec 8.2: a relation, "overlap-unclear" or "unclear"."""
    text = label.lower()
    if "cut" in text and "j" in text:
        return Relation.J_CUT
    if "cut" in text and "l" in text and not any(word in text for word in ("straight", "sync", "hard")):
        return Relation.L_CUT
    if any(word in text for word in ("straight", "sync", "hard")):
        return Relation.STRAIGHT
    if "overlap" in text and "unclear" in text:
        return "overlap-unclear"
    if any(word in text for word in ("next", "incoming")):
        return Relation.J_CUT
    return Relation.L_CUT if any(word in text for word in ("previous", "outgoing")) else "unclear"


def camera_by_substring(field: str, label: str) -> str:
    """Spec 15.2: the first class whose key is inside the label. Raises UsageError where the reference has no key."""
    text = label.lower()
    for word, name in _CAMERA_WORDS[field]:
        if word in text:
            return name
    raise UsageError(f"{field}: the reference code has no key inside {label!r}")


_CAMERA_WORDS: dict[str, tuple[tuple[str, str], ...]] = {
    "motion": (
        ("static", "Static"),
        ("pan", "Pan"),
        ("tilt", "Tilt"),
        ("roll", "Roll"),
        ("dolly-in", "Dolly-In"),
        ("dolly-out", "Dolly-Out"),
        ("tracking", "Tracking"),  # before truck: "Truck (Lateral Tracking)" becomes Tracking (D-11)
        ("truck", "Truck"),
        ("arc", "Arc"),
        ("crane", "Crane"),
        ("handheld", "Handheld"),
        ("steadicam", "Steadicam"),
        ("zoom", "Zoom"),  # before dolly zoom, which is so never found
    ),
    "scale": (
        ("els", "ELS"),
        ("ls", "LS"),
        ("fs", "FS"),
        ("mcu", "MCU"),
        ("ms", "MS"),
        ("cu", "CU"),  # before ecu, which is so never found
    ),
}
