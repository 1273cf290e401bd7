"""Byte-pair tokens of the text towers of CLIP and CLAP, from the vocabulary and merge files that come with them.

Sennrich, Haddow and Birch, ACL 2016, over bytes as GPT-2 has it: every byte has a printable sign, words are cut by a
pattern, and the pair that was merged first in training is merged first here. CLIP lowers case and marks the end of a
word; RoBERTa (CLAP) marks its beginning by the sign of the space. Python's `re` knows letters and digits of Unicode
less finely than the published pattern (marks such as combining accents count as punctuation).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from evaluator.errors import ExpertError
from evaluator.media.types import I64

_CLIP = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d|[^\W\d_]+|\d|(?:[^\s\w]|_)+")
_ROBERTA = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


@dataclass(frozen=True)
class BytePairs:
    """One vocabulary. `clip` chooses between the two conventions."""

    ids: Mapping[str, int]
    ranks: Mapping[tuple[str, str], int]
    clip: bool

    def encode(self, text: str, length: int) -> I64:
        """Ids [length]: start, the text, end, padding. A longer text is cut, as both towers were trained.

        Raises ExpertError for a sign that the vocabulary lacks.
        """
        start, end, padding = _SPECIAL[self.clip]
        found = [self._id(piece) for word in self._words(text) for piece in self._pieces(word)][: length - 2]
        row = [self._id(start), *found, self._id(end)]
        return np.array(row + [self._id(padding)] * (length - len(row)), np.int64)

    def _words(self, text: str) -> Iterator[list[str]]:
        """Words as lists of signs, one per byte; the last one marked in CLIP's convention."""
        cleaned = " ".join(text.split()).lower() if self.clip else text
        for word in (_CLIP if self.clip else _ROBERTA).findall(cleaned):
            signs = [byte_signs()[value] for value in word.encode()]
            yield [*signs[:-1], signs[-1] + "</w>"] if self.clip else signs

    def _pieces(self, signs: Sequence[str]) -> list[str]:
        """Merge the pair of the lowest rank, everywhere in the word, until no known pair is left."""
        pieces = list(signs)
        while len(pieces) > 1:
            best = min(pairwise(pieces), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            pieces = _merged(pieces, best)
        return pieces

    def _id(self, piece: str) -> int:
        if piece not in self.ids:
            raise ExpertError(f"the vocabulary has no {piece!r}; vocabulary and merges do not belong together")
        return self.ids[piece]


_SPECIAL = {True: ("<|startoftext|>", "<|endoftext|>", "<|endoftext|>"), False: ("<s>", "</s>", "<pad>")}


def _merged(pieces: Sequence[str], pair: tuple[str, str]) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(pieces):
        joined = tuple(pieces[at : at + 2]) == pair
        found.append("".join(pair) if joined else pieces[at])
        at += 2 if joined else 1
    return found


@cache
def byte_signs() -> tuple[str, ...]:
    """Byte -> its printable sign: itself where it is one, else the next free sign from U+0100 on."""
    kept = {*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return tuple(chr(value if value in kept else next(others)) for value in range(256))


@cache
def read(vocabulary: Path, merges: Path, clip: bool) -> BytePairs:
    """The vocabulary of two mounted files: vocab.json and merges.txt. Raises ExpertError for files of another form."""
    try:
        ids = json.loads(vocabulary.read_text(encoding="utf-8"))
        lines = merges.read_text(encoding="utf-8").splitlines()
    except (ValueError, OSError) as error:
        raise ExpertError(f"{vocabulary.name}, {merges.name}: not a vocabulary ({error})") from error
    pairs = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
    if not isinstance(ids, dict) or any(len(pair) != 2 for pair in pairs):
        raise ExpertError(f"{merges.name}: expected two pieces on each line")
    ranks: dict[tuple[str, str], int] = {(first, second): rank for rank, (first, second) in enumerate(pairs)}
    return BytePairs(ids, ranks, clip)
