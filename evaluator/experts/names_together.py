"""How much likelier the names of what is seen and of what is heard go together than names drawn at random.

In a space of sentences some names lie near everything and others near nothing, which drowns what a pair of names has to
say. The table of lifts has no such hubs: exp(cosine / TEMPERATURE), balanced until every name has the same weight on
either side. That is the joint distribution of entropic transport between two uniform sets of names (Cuturi, "Sinkhorn
distances", NeurIPS 2013), over the product of its margins. It knows names: how many things there are, what they do and
when, it does not.
"""

from __future__ import annotations

import numpy as np

from evaluator.media.types import F32, F64

TEMPERATURE = 0.07
"""Of cosines; CLIP's value before it is trained."""
ROUNDS = 50
"""Of balancing; after as many, all means are 1 but for rounding."""


def lifts(pictures: F32, sounds: F32) -> F64:
    """Lifts [P, S] >= 0 of unit vectors [P, D] and [S, D]; 1 where a pair says nothing; rows and columns mean 1."""
    table: F64 = np.exp((pictures.astype(np.float64) @ sounds.astype(np.float64).T - 1.0) / TEMPERATURE)
    for _ in range(ROUNDS):
        table /= table.mean(axis=1, keepdims=True)
        table /= table.mean(axis=0, keepdims=True)
    return table


def agreement(seen: F64, heard: F64, table: F64) -> F32:
    """-1..1 for each picture: (r - 1) / (r + 1), where r is the expected lift of a name seen and a name heard.

    `seen` [N, P] and `heard` [S] sum to 1 per row. 0: like names drawn at random; 0.5: three times as likely.
    """
    ratio = seen @ (table @ heard)  # [N]
    return np.asarray((ratio - 1.0) / (ratio + 1.0), np.float32)
