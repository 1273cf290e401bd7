"""B3 of CutCraft, the half that needs no judge: does the mood of the music fit the words of the prompt? (spec 7)

Words vote for moods, tags of the sound say which moods are heard. AudioSet has the seven moods as classes 276 to 282.
Knows no clip.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import orjson

from evaluator.metrics.arithmetic import clip01

TABLE = Path(__file__).with_name("moods.json")
MOST = 3  # moods that a prompt may ask for
NOTHING_HEARD = 0.001
NO_MUSIC = 0.2


@cache
def _table() -> Mapping[str, Mapping[str, list[str]]]:
    table: Mapping[str, Mapping[str, list[str]]] = orjson.loads(TABLE.read_bytes())
    return table


def expected_moods(text: str) -> tuple[str, ...]:
    """At most three moods with at least half of the top votes, by votes, ties in the table's order.

    A word votes once for each of its moods, however often it occurs; whole words only.
    """
    words = set(re.findall(r"\w+", text.lower()))
    votes: Counter[str] = Counter()
    for word, moods in _table()["words"].items():
        if word in words:
            votes.update(moods)
    if not votes:
        return ()
    top = max(votes.values())
    return tuple([mood for mood, count in votes.most_common() if 2 * count >= top][:MOST])


def mood_score(expected: tuple[str, ...], heard: Mapping[str, float]) -> float | None:
    """0..1 from the probabilities of the moods; None if none is asked for or heard (the reference says 0.5 then)."""
    total = sum(heard.values())
    if not expected or total < NOTHING_HEARD:
        return None
    against = {mood for wanted in expected for mood in _table()["conflicts"][wanted]} - set(expected)
    raw = sum(heard.get(mood, 0.0) for mood in expected) - 0.5 * sum(heard.get(mood, 0.0) for mood in sorted(against))
    return clip01(2.0 * raw / (total + 1e-8) + 0.3)
