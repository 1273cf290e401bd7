"""What AVE-Compass counts: operations, difficulty labels and their published totals (spec 1.1, 1.8).

Folds the spellings of labels to the published ones. Knows nothing about files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

CASES = 196
"""Instructions, so cases per system, of the published set."""

OPERATIONS: Mapping[str, str] = {
    "A1.1": "ambience or room tone",
    "A1.2": "off-screen source removal",
    "A1.3": "background music or score",
    "A2.1": "loudness and dynamics",
    "J1.1": "new source insertion",
    "J1.2": "visual effect with sound",
    "J2.1": "source erasure",
    "J3.1": "material or texture shift",
    "J4.1": "identity swap",
    "J5.1": "movement change",
    "J5.2": "intensity change",
    "J6.1": "visible weather",
    "J6.2": "scene migration",
    "J7.1": "slow motion",
    "J7.2": "speed or frequency change",
    "J7.3": "time-lapse",
    "J7.4": "reverse",
    "S1.1": "sentence rewrite",
    "S1.2": "sentence deletion",
    "S1.3": "sentence insertion",
    "S2.1": "speaker change",
    "V1.1": "style transfer",
    "V2.1": "colour change",
    "V2.2": "crop and zoom",
    "V2.3": "position shift",
    "V2.4": "object removal",
    "V3.1": "camera angle",
    "V3.2": "camera motion",
}

DURATION_EDGES = (0.0, 4.0, 5.0, 6.0, 8.0, 9.0, 10.0)
"""Seconds of the source; each bin without its upper edge, the last one with it."""
DURATION_BINS = ("[0,4)", "[4,5)", "[5,6)", "[6,8)", "[8,9)", "[9,10]")
SLACK = 0.1
"""Seconds above ten that still count: containers round to whole frames and audio packets."""

STRATA: Mapping[str, tuple[str, ...]] = {
    "localisation": ("easy", "hard"),
    "complexity": ("simple", "moderate", "complex"),
    "linkage": ("explicit", "implicit", "others"),
    "aspect": ("content", "identity", "others", "scene", "timbre", "intensity", "temporal"),
    "duration": DURATION_BINS,
}
"""Axis (a key of a case's `labels`) -> its strata. A label outside its axis is kept and belongs to no stratum."""

PUBLISHED: Mapping[str, Mapping[str, int]] = {
    "localisation": {"easy": 34, "hard": 162},
    "complexity": {"simple": 75, "moderate": 51, "complex": 70},
    "linkage": {"explicit": 153, "implicit": 25, "others": 18},
    "duration": dict(zip(DURATION_BINS, (14, 24, 34, 52, 22, 50), strict=True)),
}
"""How many of the 196 instructions lie in each stratum."""

_AXES = (
    ("localisation", re.compile("locali")),
    ("complexity", re.compile("complex")),
    ("linkage", re.compile("linkage")),
    ("aspect", re.compile("aspect|audio_edit_type")),
)
_OTHER = {"other": "others"}


def duration_bin(seconds: float) -> str | None:
    """The stratum of a source of this length; None for one that is longer than the published ten seconds."""
    if not 0.0 <= seconds <= DURATION_EDGES[-1] + SLACK:
        return None
    above = sum(seconds >= edge for edge in DURATION_EDGES[1:-1])
    return DURATION_BINS[above]


def labels_of(tree: Mapping[str, Any]) -> dict[str, str]:
    """Axis -> stratum from whatever keys an instruction uses: flat, nested, or under `difficulty` or `labels`.

    Of several keys for one axis the first counts. A value outside the axis is kept as it is.
    """
    found: dict[str, str] = {}
    for key, value in _leaves(tree):
        axis = next((axis for axis, pattern in _AXES if pattern.search(key.lower())), None)
        if axis is not None and value.strip():
            found.setdefault(axis, _folded(value, axis))
    return found


def _leaves(tree: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, str):
            yield key, value
    for name in ("difficulty", "labels", "instruction"):
        inner = tree.get(name)
        if isinstance(inner, Mapping):
            yield from _leaves(inner)


def _folded(value: str, axis: str) -> str:
    word = value.strip().lower()
    word = _OTHER.get(word, word)
    return word if word in STRATA[axis] else value


def unlike_published(labels: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """(axis, published totals, totals found) where the labels of all 196 cases do not add up as published.

    An axis that no case has a label on is not there to be wrong.
    """
    cases = list(labels)
    for axis, expected in PUBLISHED.items():
        found = Counter(str(case[axis]) for case in cases if axis in case)
        if found and dict(found) != dict(expected):
            yield axis, _listed(expected), _listed(found)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
