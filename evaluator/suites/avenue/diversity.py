"""How varied a set of prompts is (section 6): TTR, distinct-2, unique prompts, self-BLEU, mean pairwise cosine.

Corpus-level definitions (the paper's equal TTR and distinct-1 confirm them). All of them fall as a corpus grows, so two
corpora are compared at equal numbers of tokens. The cosine is that of vectors that somebody else makes of the prompts
(a sentence embedding); `term_cosine` stands in where there is none, and its cosines are far smaller: words in common,
not meaning. Text only: knows no case and no model.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.media.types import F32, F64

STRIPPED = ".,;:!?\"'()"
SAMPLE = 1000
"""Prompts above which self-BLEU takes a sample with a fixed seed."""
SMOOTHED = 0.1
"""What a count of no common n-gram becomes."""

Tokens = list[str]
Grams = Counter[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Diversity:
    """Statistics of one corpus; None where they do not exist (no token, no bigram, fewer than two prompts)."""

    prompts: int
    tokens: int
    ttr: float | None
    distinct_2: float | None
    unique: float | None
    self_bleu: float | None
    sampled: int  # prompts that self-BLEU looked at
    cosine: float | None  # of the vectors that were given; None without them
    term_cosine: float | None  # of TF-IDF vectors


def tokens_of(prompt: str) -> Tokens:
    """Lower case, split on white space, punctuation stripped off; what is nothing but punctuation is no token."""
    return [word for raw in prompt.lower().split() if (word := raw.strip(STRIPPED))]


def diversity(prompts: Sequence[str], vectors: F32 | None = None, order: int = 4, seed: int = 0) -> Diversity:
    """All statistics of a corpus. `vectors` [N, D] are the prompts in a space of sentences, each of length 1."""
    split = [tokens_of(prompt) for prompt in prompts]
    words = [word for tokens in split for word in tokens]
    pairs = [pair for tokens in split for pair in grams(tokens, 2).elements()]
    chosen = split if len(split) <= SAMPLE else random.Random(seed).sample(split, SAMPLE)  # noqa: S311  (no secret)
    scores = self_bleu(chosen, order)
    return Diversity(
        prompts=len(prompts),
        tokens=len(words),
        ttr=len(set(words)) / len(words) if words else None,
        distinct_2=len(set(pairs)) / len(pairs) if pairs else None,
        unique=len(set(prompts)) / len(prompts) if prompts else None,
        self_bleu=sum(scores) / len(scores) if scores else None,
        sampled=len(chosen),
        cosine=None if vectors is None else mean_cosine(vectors),
        term_cosine=term_cosine(split),
    )


def mean_cosine(vectors: F32 | F64) -> float | None:
    """Mean cosine of all pairs of rows [N, D] of length 1; None for fewer than two rows."""
    return _of_sum(vectors.sum(axis=0, dtype=np.float64), len(vectors))


def term_cosine(split: Sequence[Tokens]) -> float | None:
    """The same of TF-IDF vectors: counts times ln((1 + N) / (1 + prompts with the word)) + 1, at length 1.

    A prompt without a word has no direction and no pair.
    """
    counts = [Counter(tokens) for tokens in split if tokens]
    within = Counter(word for words in counts for word in words)
    places = {word: at for at, word in enumerate(within)}
    total = np.zeros(len(places))
    for words in counts:
        row = np.array([n * (math.log((1 + len(counts)) / (1 + within[word])) + 1) for word, n in words.items()])
        total[[places[word] for word in words]] += row / np.linalg.norm(row)
    return _of_sum(total, len(counts))


def _of_sum(total: F64, count: int) -> float | None:
    """Mean cosine of the pairs of `count` unit vectors from their sum: N prompts cost N, not N squared."""
    if count < 2:
        return None
    return float(np.clip((total @ total - count) / (count * (count - 1)), -1.0, 1.0))


def grams(tokens: Tokens, size: int) -> Grams:
    """How often each run of `size` tokens occurs."""
    return Counter(tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1))


def self_bleu(split: Sequence[Tokens], order: int = 4) -> list[float]:
    """BLEU of each prompt against all others; none for fewer than two prompts."""
    if len(split) < 2:
        return []
    tops = [_two_best(split, size) for size in range(1, order + 1)]
    lengths = Counter(len(tokens) for tokens in split)
    return [_bleu(tokens, at, tops, lengths, order) for at, tokens in enumerate(split)]


Top = dict[tuple[str, ...], tuple[int, int, int]]
"""n-gram -> (largest count in any prompt, which prompt has it, largest count among the others)."""


def _two_best(split: Sequence[Tokens], size: int) -> Top:
    """So that the largest count without one prompt is known in one step: n prompts cost n, not n squared."""
    best: Top = {}
    for at, tokens in enumerate(split):
        for gram, count in grams(tokens, size).items():
            top, who, second = best.get(gram, (0, -1, 0))
            best[gram] = (count, at, top) if count > top else (top, who, max(second, count))
    return best


def _bleu(tokens: Tokens, at: int, tops: Sequence[Top], lengths: Counter[int], order: int) -> float:
    """Geometric mean of clipped precisions with the brevity penalty of the closest length (the shorter of two)."""
    if not tokens:
        return 0.0
    logs = 0.0
    for size in range(1, order + 1):
        own = grams(tokens, size)
        total = sum(own.values())
        common = sum(min(count, _elsewhere(tops[size - 1], gram, at)) for gram, count in own.items())
        logs += math.log((common or SMOOTHED) / max(total, 1))
    others = lengths - Counter([len(tokens)])
    closest = min(others, key=lambda length: (abs(length - len(tokens)), length))
    penalty = 1.0 if len(tokens) >= closest else math.exp(1 - closest / len(tokens))
    return penalty * math.exp(logs / order)


def _elsewhere(top: Top, gram: tuple[str, ...], at: int) -> int:
    largest, who, second = top[gram]
    return second if who == at else largest
