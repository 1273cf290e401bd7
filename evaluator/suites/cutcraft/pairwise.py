"""Which systems differ: every pair, paired by prompt, from resampled prompts, with Holm's correction (spec 9).

Thirteen systems make 78 pairs; the paper finds 71 of them significant. Two systems are compared on the dimensions that
both have a score of for a prompt, so that a skip of one side never counts for the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from evaluator.stats.bootstrap import mean_interval, mean_p
from evaluator.stats.multiplicity import holm
from evaluator.suites.cutcraft.groups import Sample, Samples

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Pair:
    """One comparison; `difference` is first minus second. p is None for fewer than two common prompts."""

    first: str
    second: str
    prompts: int
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    adjusted: float | None

    @property
    def significant(self) -> bool:
        """Whether the adjusted p is small enough."""
        return self.adjusted is not None and self.adjusted <= LEVEL


def differences(first: Mapping[int, Sample], second: Mapping[int, Sample]) -> dict[int, float]:
    """Prompt -> mean difference over the dimensions that both sides have."""
    found = {}
    for prompt in sorted(first.keys() & second.keys()):
        shared = sorted(first[prompt].keys() & second[prompt].keys())
        if shared:
            found[prompt] = fmean(first[prompt][name] - second[prompt][name] for name in shared)
    return found


def pairs(found: Samples, seed: int = 0) -> list[Pair]:
    """All pairs of systems, in the order of the systems."""
    rows = [(a, b, differences(found[a], found[b])) for a, b in combinations(found, 2)]
    raw = [mean_p(list(one.values()), list(one), seed=seed) for _, _, one in rows]
    tested = [place for place, p in enumerate(raw) if p is not None]
    adjusted = dict(zip(tested, holm([p for p in raw if p is not None]), strict=True))
    return [_pair(a, b, list(one.values()), raw[place], adjusted.get(place)) for place, (a, b, one) in enumerate(rows)]


def _pair(first: str, second: str, values: Sequence[float], p: float | None, adjusted: float | None) -> Pair:
    mean = fmean(values) if values else None
    return Pair(first, second, len(values), mean, mean_interval(values), p, adjusted)
