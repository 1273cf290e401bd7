"""Against SciPy's function, to a unit in the last place of float32."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from evaluator.experts.logits import probability


@given(st.lists(st.floats(-200, 200, width=32), min_size=1))
def test_like_scipy(values: list[float]) -> None:
    logits = np.array(values, np.float32)
    np.testing.assert_allclose(probability(logits), expit(logits), rtol=3e-7, atol=1e-37)
    assert probability(logits).dtype == np.float32


def test_far_logits_are_certain_and_raise_no_warning() -> None:
    with np.errstate(all="raise", under="ignore"):
        assert probability(np.array([-1e30, 0.0, 1e30], np.float32)).tolist() == [0.0, 0.5, 1.0]
