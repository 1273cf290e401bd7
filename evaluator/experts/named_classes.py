"""A clip in the space of sentences, by the names of what a classifier sees or hears in it.

ConSE (Norouzi et al., "Zero-shot learning by convex combination of semantic embeddings", ICLR 2014): the vectors of the
ten likeliest classes' names, weighted by their probabilities, are the vector of the picture or the sound. Its cosine
with a sentence says how near the sentence is to those names. It knows what has a class and nothing else: no counts, no
attributes, no actions between things. Every sentence has a level of its own, so that values compare clips about the
same sentence and never sentences with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evaluator.experts.pixels import unit_rows
from evaluator.media.types import F32, F64

CLASSES = 10
"""Likeliest classes that have a say."""

Embed = Callable[[Sequence[str]], F32]
"""Texts -> unit vectors [N, D]."""


def named(probability: F32 | F64, names: Sequence[str], embed: Embed) -> F32:
    """Unit vectors [N, D] of rows of probabilities [N, C]. Equal probabilities go to the class that is named first."""
    order = np.argsort(-probability, axis=1, kind="stable")[:, :CLASSES]  # [N, 10]
    return unit_rows(
        np.stack([row[best] @ embed([names[at] for at in best]) for row, best in zip(probability, order, strict=True)])
    )


def cosines(rows: F32, text: F32) -> F32:
    """Cosines [N] of unit vectors [N, D] and one [D], -1..1."""
    return np.asarray(np.clip(rows.astype(np.float64) @ text.astype(np.float64), -1.0, 1.0), np.float32)
