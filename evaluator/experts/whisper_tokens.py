"""Whisper's tokens: from ids to text, and from time stamps among them to spans. Tables and arithmetic; no network.

Token texts are those of GPT-2's byte-level BPE: each byte stands as one printable character. Ids from the first time
stamp on mean times in steps of 20 ms within a window. Radford et al., "Robust Speech Recognition via Large-Scale Weak
Supervision", 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from evaluator.errors import ExpertError

WORDS = 50_257  # ids below are text
FIRST_TIME = 50_364  # <|0.00|>
SIZE = 51_865
STEP = 0.02  # seconds between time stamps


@dataclass(frozen=True, slots=True)
class Span:
    """Text tokens between two moments of a window, in seconds."""

    start: float
    end: float
    tokens: tuple[int, ...]


def spans(ids: Sequence[int], window: float) -> tuple[list[Span], float]:
    """The spans of one window of `window` seconds, and how far the window was heard.

    Whisper writes `<start> text <end><start> text <end> ...`. What comes after the last pair of stamps was cut off by
    the window's end and is left to the next window; a window that ends with one stamp, or has no pair, is heard whole.
    """
    pairs = [k for k in range(1, len(ids)) if ids[k] >= FIRST_TIME and ids[k - 1] >= FIRST_TIME]
    if not pairs:
        stamps = [_seconds(token) for token in ids if token >= FIRST_TIME]
        end = stamps[-1] if len(stamps) > 1 else window
        return _kept([Span(stamps[0] if stamps else 0.0, min(end, window), _text_ids(ids))]), window
    whole = ids[-1] >= FIRST_TIME and ids[-2] < FIRST_TIME
    cuts = [0, *pairs, *([len(ids)] if whole else [])]
    found = [_span(ids[a:b], window) for a, b in pairwise(cuts)]
    return _kept(found), window if whole else _seconds(ids[cuts[-1] - 1])


def _span(ids: Sequence[int], window: float) -> Span:
    return Span(_seconds(ids[0]), min(_seconds(ids[-1]), window), _text_ids(ids))


def _kept(found: list[Span]) -> list[Span]:
    return [span for span in found if span.tokens and span.end > span.start]


def _seconds(token: int) -> float:
    return max(0, token - FIRST_TIME) * STEP


def _text_ids(ids: Sequence[int]) -> tuple[int, ...]:
    return tuple(token for token in ids if token < WORDS)


def decoded(ids: Sequence[int], words: Sequence[bytes]) -> str:
    """The text of tokens, on one line. Half a character at a cut becomes the replacement character."""
    return " ".join(b"".join(words[token] for token in ids).decode("utf-8", "replace").split())


@lru_cache(maxsize=2)
def vocabulary(path: Path) -> tuple[bytes, ...]:
    """The bytes of each text token, by id. Raises ExpertError if the table is not the published one."""
    lines = path.read_text(encoding="utf-8").split("\n")
    if len(lines) < SIZE or lines[FIRST_TIME] != "<|0.00|>" or lines[WORDS] != "<|endoftext|>":
        raise ExpertError(f"{path.name}: not the vocabulary of multilingual Whisper ({len(lines)} lines)")
    table = _bytes_of_characters()
    return tuple(bytes(table[character] for character in line) for line in lines[:WORDS])


def _bytes_of_characters() -> dict[str, int]:
    """Printable bytes stand for themselves; the others, in order, for the characters from 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + k): byte for k, byte in enumerate(hidden)}
