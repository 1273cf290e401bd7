"""From dimensions to groups, samples and systems (spec 9). Which dimension belongs to which group is in groups.json.

A sample's group score is the mean of the dimensions that it has, a system's the mean over its samples. A system's
overall score is the mean over all its (sample, dimension) cells, not the mean of means. Nothing missing is a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean

import orjson

from evaluator.schema import Case, Score
from evaluator.suites.cutcraft.data import CutData
from evaluator.suites.cutcraft.merge import MODES

TABLE = Path(__file__).with_name("groups.json")
DIMENSIONS = tuple(MODES)

Sample = Mapping[str, float]
"""Dimension -> score of one clip; only those that it has."""
Samples = Mapping[str, Mapping[int, Sample]]
"""System -> prompt -> sample."""


@cache
def membership(division: str) -> Mapping[str, tuple[str, ...]]:
    """Group -> its members, for a division of the file: "six", "two" or "families"."""
    tree: Mapping[str, Mapping[str, list[str]]] = orjson.loads(TABLE.read_bytes())
    return {name: tuple(members) for name, members in tree[division].items()}


def samples(cases: Sequence[Case], scores: Iterable[Score]) -> dict[str, dict[int, dict[str, float]]]:
    """Scores by system and prompt; every case is there, even if it has no score."""
    prompts = {case.id: CutData.model_validate(case.data).prompt_id for case in cases}
    found: dict[str, dict[int, dict[str, float]]] = {}
    for case in cases:
        found.setdefault(case.system, {})[prompts[case.id]] = {}
    for score in scores:
        if score.value is not None and score.case in prompts and score.metric.upper() in MODES:
            found[score.system][prompts[score.case]][score.metric.upper()] = score.value
    return found


def group_of(sample: Sample, members: Sequence[str]) -> float | None:
    """Mean of those members that a sample has."""
    found = [sample[name] for name in members if name in sample]
    return fmean(found) if found else None


def group_scores(own: Mapping[int, Sample], members: Sequence[str]) -> dict[int, float]:
    """Prompt -> group score, where there is one."""
    found = {prompt: group_of(sample, members) for prompt, sample in own.items()}
    return {prompt: value for prompt, value in found.items() if value is not None}


def dimension_mean(own: Mapping[int, Sample], dimension: str) -> float | None:
    """Mean over the samples that have it."""
    found = [sample[dimension] for sample in own.values() if dimension in sample]
    return fmean(found) if found else None


def overall(own: Mapping[int, Sample]) -> float | None:
    """Mean over all cells of a system."""
    cells = [value for sample in own.values() for value in sample.values()]
    return fmean(cells) if cells else None
