"""A finished run as others look at it: its header, its records, and the identity cards of its metrics.

Reads `run.json` and `scores.jsonl`; writes nothing and computes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.errors import UsageError
from evaluator.metrics.base import Direction
from evaluator.runner.header import HEADER, read_header
from evaluator.runner.writer import SCORES, Key, read_scores
from evaluator.schema import Score, to_tree


@dataclass(frozen=True, slots=True)
class Run:
    """One output folder. `name` is the path as it was given, in words that can be written."""

    name: str
    header: Mapping[str, Any]
    scores: Mapping[Key, Score]

    @property
    def cards(self) -> dict[str, Mapping[str, Any]]:
        """Metric id -> identity card, of every metric that the records name."""
        return {card["id"]: card for card in self.header["metrics"]}

    def direction(self, metric: str) -> Direction:
        """Which way is better."""
        return Direction(self.cards[metric]["direction"])


def load_run(path: Path) -> Run:
    """The run in a folder, or of a scores file in it. UsageError if there is none, or a metric without a card."""
    folder, scores = (path, path / SCORES) if path.is_dir() else (path.parent, path)
    header = load_header(folder)
    if not scores.is_file():
        raise UsageError(f"{folder}: no {SCORES} there; name the --out folder of a run")
    run = Run(to_tree(path), header, read_scores(scores))
    strange = sorted({metric for _, metric in run.scores} - run.cards.keys())
    if strange:
        raise UsageError(f"{folder}: {HEADER} does not describe {', '.join(strange)}, which {scores.name} holds")
    return run


def load_header(folder: Path) -> dict[str, Any]:
    """run.json of a folder. UsageError if it is missing, torn, or of another version of the format."""
    header = read_header(folder)
    if header is None:
        raise UsageError(f"{folder}: no {HEADER} there; name the --out folder of a run")
    return header
