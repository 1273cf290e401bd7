"""The table of prompt diversity (section 6): one row per corpus of instructions, each instance of it counted once.

The mean cosine needs a space of sentences. `evaluator filter avenue` has a model at hand and gives it; the tables of a
run are made of records alone, so that there TF-IDF stands in, marked, with a level of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evaluator.media.types import F32
from evaluator.schema import Case
from evaluator.suites.avenue import choices
from evaluator.suites.avenue.data import of
from evaluator.suites.avenue.diversity import Diversity, diversity
from evaluator.suites.board import Board, Cell
from evaluator.suites.choices import named

Embed = Callable[[Sequence[str]], F32]
"""Texts -> unit vectors [N, D]."""
COLUMNS = ("corpus", "prompts", "tokens", "TTR", "distinct-2", "unique", "self-BLEU", "cosine")
PAPER = (
    "paper: TTR, distinct-2, unique, self-BLEU, cosine are 0.305, 0.640, about 1.00, 0.240, 0.160 for AVENUE and "
    "0.078, 0.127, 0.209, 0.867, 0.235 for AvED; they fall as a corpus grows, so compare at equal numbers of tokens"
)
STAND_IN = "* TF-IDF stands in for a sentence embedding; `evaluator filter avenue` asks one"


def board(corpora: Mapping[str, Sequence[Case]], embed: Embed | None = None) -> Board | None:
    """A row per corpus of at least two instructions; None if there is none."""
    rows = [(name, texts) for name, cases in corpora.items() if len(texts := instructions(cases)) > 1]
    if not rows:
        return None
    found = [(name, diversity(texts, embed(texts) if embed else None)) for name, texts in rows]
    notes = (PAPER, *named(choices.CHOICES, "diversity_cosine"), *(() if embed else (STAND_IN,)))
    return Board("prompts", "AVENUE, diversity of the instructions", COLUMNS, tuple(_row(*one) for one in found), notes)


def instructions(cases: Sequence[Case]) -> list[str]:
    """The instruction of every instance, once for all systems. A null edit has none: its text is the source's own."""
    found = {data.instance: case.prompt for case in cases if not (data := of(case)).null_edit}
    return list(found.values())


def _row(name: str, found: Diversity) -> tuple[Cell, ...]:
    stand_in = None if found.term_cosine is None else f"{found.term_cosine:.3f}*"
    cosine = stand_in if found.cosine is None else found.cosine
    return (
        name, found.prompts, found.tokens, found.ttr, found.distinct_2, found.unique, found.self_bleu, cosine,
    )  # fmt: skip
