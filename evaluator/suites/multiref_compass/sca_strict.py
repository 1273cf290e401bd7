"""Strict SCA (section 3.9): are the recognised words exactly the given lines, in their language, and no others.

1 or 0 per case, from a recogniser and not from a judge. Lower case, punctuation dropped, Chinese and Japanese compared
sign by sign. What it does not know: who spoke. A recogniser's own slips lower the rate, and a rate of its own stands
beside it (`similarity`, the share of signs in their places), so that a near miss can be told from silence.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher

from evaluator.experts.features import Transcript
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import Case, ExpertNeed
from evaluator.suites.multiref_compass.data import of

UNSPACED = ("CJK", "HIRAGANA", "KATAKANA")
"""Beginnings of the Unicode names of signs that are written without spaces."""


def normalised(text: str) -> list[str]:
    """Words in lower case without punctuation; signs of unspaced scripts one by one."""
    words: list[str] = []
    word = ""
    for sign in unicodedata.normalize("NFKC", text).lower():
        if not _written(sign):
            if sign not in "'’":
                words.append(word)
                word = ""
        elif unicodedata.name(sign, "").startswith(UNSPACED):
            words += [word, sign]
            word = ""
        else:
            word += sign
    return [one for one in (*words, word) if one]


def _written(sign: str) -> bool:
    """Letters, digits, and the marks that belong to letters (vowels of Devanagari); no punctuation of any script.

    A selector of a variant, which follows an emoji or a digit, and a frame around a digit are not said either.
    """
    variant = unicodedata.name(sign, "").startswith("VARIATION SELECTOR")
    return sign.isalnum() or (unicodedata.category(sign) in {"Mn", "Mc"} and not variant)


def same(found: Sequence[str], wanted: Sequence[str]) -> float:
    """Share of words in their places, 0..1."""
    return SequenceMatcher(None, list(found), list(wanted), autojunk=False).ratio()


def compute(case: Case, transcript: Transcript) -> Outcome:
    """1.0 if every word is there, in order, nothing added, in a language that was asked for; else 0.0."""
    lines = of(case).facts.exact_lines
    wanted = [word for line in lines for word in normalised(line.text)]
    found = normalised(transcript.text)
    languages = sorted({line.lang for line in lines})
    exact = found == wanted and transcript.language in languages
    details = {
        "recognised": transcript.text,
        "language": transcript.language,
        "languages": languages,
        "similarity": same(found, wanted),
    }
    return Outcome(float(exact), details=details)


METRIC = Metric(
    id="sca_strict",
    version=2,
    title="Strict speech content (SCA)",
    summary="Whether the recognised words are exactly the given lines, in their language, with nothing added.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="MultiRef-Compass, spec section 3.9",
    needs={"transcript": ExpertNeed("transcript")},
    compute=compute,
    reads=("data",),
)
