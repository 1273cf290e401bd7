"""The cosines of prompt diversity, against every pair in plain numpy, and who made the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.experts.minilm import embed
from evaluator.media.types import F32
from evaluator.runtime.session import SessionSource
from evaluator.schema import Case
from evaluator.suites.avenue import prompts
from evaluator.suites.avenue.diversity import diversity, mean_cosine, term_cosine, tokens_of
from tests.suites.avenue.cases import case


def every_pair(texts: Sequence[str]) -> float:
    """TF-IDF cosines, pair by pair."""
    split = [tokens for text in texts if (tokens := tokens_of(text))]
    words = sorted({word for tokens in split for word in tokens})
    counts = np.array([[tokens.count(word) for word in words] for tokens in split], float)
    rows = counts * (np.log((1 + len(split)) / (1 + (counts > 0).sum(axis=0))) + 1)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return float(np.mean([one @ other for one, other in combinations(rows, 2)]))


WORDS = st.lists(st.sampled_from(["a", "dog", "cat", "barks", "meows", "loudly", "..."]), min_size=1, max_size=6)


@given(st.lists(WORDS, min_size=2, max_size=8))
def test_term_cosine_is_that_of_every_pair(corpus: list[list[str]]) -> None:
    texts = [" ".join(words) for words in corpus]
    found = term_cosine([tokens_of(text) for text in texts])
    if sum(bool(tokens_of(text)) for text in texts) < 2:
        assert found is None
    else:
        assert found == pytest.approx(every_pair(texts), abs=1e-9)


def test_equal_prompts_have_one_and_prompts_without_a_common_word_nought() -> None:
    assert diversity(["a dog barks"] * 3).term_cosine == pytest.approx(1)
    assert diversity(["a dog barks", "two cats meow"]).term_cosine == pytest.approx(0, abs=1e-12)
    assert diversity(["alone"]).term_cosine is None


def test_mean_cosine_is_that_of_every_pair_of_vectors() -> None:
    rows = np.random.default_rng(0).standard_normal((7, 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    pairs = [one @ other for one, other in combinations(rows, 2)]
    assert mean_cosine(rows) == pytest.approx(np.mean(pairs))
    assert mean_cosine(rows[:1]) is None
    assert diversity(["x"] * 7).cosine is None
    assert diversity(["x"] * 7, rows.astype(np.float32)).cosine == pytest.approx(np.mean(pairs), abs=1e-6)


def corpus(*texts: str) -> list[Case]:
    """Two systems per instruction."""
    return [
        replace(case("A", name=f"{number}/{system}", system=system), prompt=text)
        for number, text in enumerate(texts)
        for system in ("x", "y")
    ]


def test_a_run_has_no_embedding_and_says_so() -> None:
    board = prompts.board({"manifest": corpus("a dog barks", "a dog barks", "a cat meows")})
    assert board is not None
    (row,) = board.rows
    assert row[:2] == ("manifest", 3)  # each instance once, not once per system
    assert str(row[-1]).endswith("*")
    assert any(note.startswith("* TF-IDF stands in") for note in board.notes)


def test_the_text_of_a_null_edit_is_no_instruction() -> None:
    """It is the caption of its source (section 2.3)."""
    cases = corpus("a dog barks", "a cat meows")
    null = replace(case("A", name="null/x", null_edit=True), prompt="a street on a sunny day")
    assert prompts.instructions([*cases, null]) == ["a dog barks", "a cat meows"]
    assert prompts.board({"manifest": [null, *cases[:2]]}) is None


def test_an_embedding_gives_a_number_without_a_mark() -> None:
    def opposite(texts: Sequence[str]) -> F32:
        return np.array([[1.0, 0.0] if "dog" in text else [0.0, 1.0] for text in texts], np.float32)

    cases = corpus("a dog barks", "the dog runs", "a cat meows")
    board = prompts.board({"all": cases, "kept": cases[:4], "one": cases[:2]}, opposite)
    assert board is not None
    assert [(row[0], row[-1]) for row in board.rows] == [("all", pytest.approx(1 / 3)), ("kept", pytest.approx(1))]
    assert not any(note.startswith("*") for note in board.notes)
    assert prompts.board({"none": []}) is None


def test_sentences_of_like_meaning_are_less_diverse_though_no_word_is_shared(models: SessionSource) -> None:
    alike, apart = ["a puppy is barking", "one dog barks loudly"], ["a puppy is barking", "heavy rain hits tin roofs"]
    assert [term_cosine([tokens_of(text) for text in texts]) for texts in (alike, apart)] == pytest.approx([0, 0])
    near, far = (diversity(texts, embed(models, texts)).cosine for texts in (alike, apart))
    assert near is not None
    assert far is not None
    assert near > far + 0.3
