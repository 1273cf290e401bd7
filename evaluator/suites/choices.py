"""What a suite had to decide because its paper does not say: a named choice with the paper's fact beside it.

A choice is data, so that a person can list it (`evaluator list SUITE`), a board can quote it, and nobody takes a figure
of ours for a definition of the paper. Knows no suite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.suites.board import Board


@dataclass(frozen=True, slots=True)
class Choice:
    """One decision. `others` are readings that the code also has, or that a reader may expect, and where they are."""

    name: str
    value: str  # what is computed
    paper: str  # what the paper states, or that it says nothing
    others: str = ""


def board(choices: Sequence[Choice]) -> Board:
    """The choices as a table."""
    rows = tuple((one.name, one.value, one.others or None, one.paper) for one in choices)
    return Board("choices", "Choices that are ours", ("choice", "here", "other readings", "what the paper says"), rows)


def named(choices: Sequence[Choice], *names: str) -> tuple[str, ...]:
    """Notes for a board: these choices in one line each. Raises KeyError for a name that is not there."""
    known = {one.name: one for one in choices}
    return tuple(f"{name}: {known[name].value} (paper: {known[name].paper})" for name in names)
