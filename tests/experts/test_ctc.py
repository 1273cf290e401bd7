"""Best path decoding against ten lines that do it step by step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.experts.ctc import BLANK, best_path

ALPHABET = ("", "a", "b", " ")


def one_hot(path: list[int], share: float = 1.0) -> np.ndarray:
    """[T, 4]: `share` on the path's class at each step, the rest on the next one."""
    rows = np.zeros((len(path), len(ALPHABET)), np.float32)
    for step, place in enumerate(path):
        rows[step, place], rows[step, (place + 1) % len(ALPHABET)] = share, 1.0 - share
    return rows


def by_steps(probability: np.ndarray) -> tuple[str, float]:
    text, shares, before = "", [], BLANK
    for row in probability:
        place = max(range(len(row)), key=lambda k: row[k])
        if place not in (BLANK, before):
            text += ALPHABET[place]
            shares.append(float(row[place]))
        before = place
    return text, sum(shares) / len(shares) if shares else 0.0


@given(st.lists(st.integers(0, 3), max_size=20), st.integers(0, 2**32 - 1))
def test_it_reads_as_a_walk_along_the_steps(path: list[int], seed: int) -> None:
    noise = np.random.default_rng(seed).dirichlet(np.ones(4), len(path)).astype(np.float32).reshape(-1, 4)
    for probability in (one_hot(path), 0.5 * one_hot(path) + 0.5 * noise, noise):
        text, share = best_path(probability, ALPHABET)
        assert (text, share) == (by_steps(probability)[0], pytest.approx(by_steps(probability)[1]))


@pytest.mark.parametrize(
    ("path", "text"), [([0, 1, 1, 0, 1, 2, 2], "aab"), ([1, 3, 2], "a b"), ([0, 0], ""), ([], ""), ([1, 1, 1], "a")]
)
def test_repeats_are_one_and_blanks_nothing(path: list[int], text: str) -> None:
    assert best_path(one_hot(path), ALPHABET)[0] == text


def test_confidence_is_that_of_the_first_step_of_each_character() -> None:
    rows = np.concatenate([one_hot([1], 0.9), one_hot([1], 0.6), one_hot([0], 1.0), one_hot([2], 0.7)])
    assert best_path(rows, ALPHABET) == ("ab", pytest.approx(0.8))
