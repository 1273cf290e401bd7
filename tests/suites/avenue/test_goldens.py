"""Golden numbers of section 8 that live in the statistics: rankings with ties, and agreement of two experts."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.stats.agreement import cohen_kappa, gwet_ac1
from evaluator.stats.ranks import kendall_tau_b


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [([1, 2, 2, 4], [1, 3, 2, 4], 0.91287093), ([1, 2, 3, 4], [4, 3, 2, 1], -1), ([1, 1, 2, 3], [1, 2, 2, 3], 0.8)],
)
def test_tau_b_of_rankings(first: list[int], second: list[int], expected: float) -> None:
    found = kendall_tau_b(first, second)
    assert found is not None
    assert found[0] == pytest.approx(expected, abs=1e-8)


def test_verified_instructions() -> None:
    """Equal marginals of 0.18671395 and an agreement of 0.906: AC1 0.8650 and kappa 0.69049."""
    share, apart = 0.18671395, (1 - 0.906) / 2
    counts = np.array([[share - apart, apart], [apart, 1 - share - apart]])
    assert gwet_ac1(counts) == pytest.approx(0.8650, abs=5e-5)
    assert cohen_kappa(counts) == pytest.approx(0.69049, abs=5e-6)
