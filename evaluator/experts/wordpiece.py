"""BERT's WordPiece tokens of a short phrase, from the vocabulary file that comes with the model (uncased models).

Lower case, accents dropped, every punctuation mark a word of its own, then the longest known pieces from the left.
Written for grounding phrases: no CJK segmentation, no truncation. Knows no network.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from evaluator.errors import ModelCorrupt
from evaluator.media.types import I64

LONGEST_WORD = 100
"""Characters; a longer word is unknown, as in the original."""


def read_vocabulary(path: Path) -> Mapping[str, int]:
    """Token -> number from a file of one token per line. Raises ModelCorrupt if the special tokens are not there."""
    tokens = path.read_text(encoding="utf-8").splitlines()
    vocabulary = {token: number for number, token in enumerate(tokens)}
    if absent := [token for token in ("[CLS]", "[SEP]", "[UNK]") if token not in vocabulary]:
        raise ModelCorrupt(f"{path}: not a WordPiece vocabulary: {', '.join(absent)} is missing")
    return vocabulary


def encode(text: str, vocabulary: Mapping[str, int]) -> I64:
    """[L] token numbers between [CLS] and [SEP]."""
    pieces = [piece for word in _words(text) for piece in _pieces(word, vocabulary)]
    return np.array([vocabulary[piece] for piece in ("[CLS]", *pieces, "[SEP]")], np.int64)


def _words(text: str) -> Iterator[str]:
    """Words and punctuation marks, lower case, without accents and control characters."""
    plain = unicodedata.normalize("NFD", text.lower())
    letters = [sign for sign in plain if unicodedata.category(sign) != "Mn"]
    spaced = "".join(f" {sign} " if _is_punctuation(sign) else sign for sign in letters)
    yield from "".join(sign if unicodedata.category(sign)[0] != "C" else " " for sign in spaced).split()


def _is_punctuation(sign: str) -> bool:
    """Signs of ASCII such as $ and + count too, as in the original."""
    return unicodedata.category(sign)[0] == "P" or sign in string.punctuation


def _pieces(word: str, vocabulary: Mapping[str, int]) -> list[str]:
    """The longest known pieces from the left; ["[UNK]"] if that leads nowhere."""
    found: list[str] = []
    start = 0
    while start < len(word):
        ends = range(len(word), start, -1)
        known = (("##" if start else "") + word[start:end] for end in ends)
        piece = next((one for one in known if one in vocabulary), None)
        if piece is None or len(word) > LONGEST_WORD:
            return ["[UNK]"]
        found.append(piece)
        start += len(piece) - (2 if start else 0)
    return found
