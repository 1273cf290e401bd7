"""--fail-if: rules that turn a comparison into an exit code.

    ssim<-0.01              the mean difference (second minus first) is below -0.01
    core/lpips>0.02         only that suite
    ssim<0@p0.05            and its corrected p is at most 0.05
    lost>0                  more than 0 records had a value and have none now

A metric that could not be compared at all meets every rule about it: a gate that cannot see does not open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.errors import UsageError
from evaluator.report.compare import Comparison
from evaluator.report.effect import Effect

LOST = "lost"
_RULE = re.compile(r"(?:([\w.-]+)/)?([\w.-]+?)\s*([<>])\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)(?:@p([\d.]+))?")


@dataclass(frozen=True, slots=True)
class Rule:
    """One condition to fail on. `suite` is empty for all suites; `level` is None where no p is asked for."""

    text: str
    suite: str
    metric: str
    above: bool
    bound: float
    level: float | None

    def met_by(self, effect: Effect) -> bool:
        """True if the effect is beyond the bound and, if asked for, significant."""
        beyond = effect.difference > self.bound if self.above else effect.difference < self.bound
        sure = self.level is None or (effect.p_holm is not None and effect.p_holm <= self.level)
        return beyond and sure


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that was met: between which sides, and by what."""

    rule: str
    first: str
    second: str
    found: str


def parse_rule(text: str) -> Rule:
    """`metric<number`. UsageError for anything else."""
    match = _RULE.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError(text)
        suite, metric, sign, bound, level = match.groups()
        return Rule(text, suite or "", metric, sign == ">", float(bound), None if level is None else float(level))
    except ValueError as error:
        raise UsageError(f"--fail-if {text!r}: expected metric<number or metric>number, as in 'ssim<-0.01'") from error


def broken(rules: Sequence[Rule], comparisons: Sequence[Comparison], known: Sequence[str]) -> list[Broken]:
    """Rules that are met, in the order of the rules. UsageError for a metric that no side has any record of."""
    for rule in rules:
        if rule.metric not in {*known, LOST}:
            raise UsageError(f"--fail-if {rule.text!r}: no such metric here; there are {', '.join(sorted(known))}")
    return [
        Broken(rule.text, one.first, one.second, found)
        for rule in rules
        for one in comparisons
        for found in _met(rule, one)
    ]


def _met(rule: Rule, one: Comparison) -> list[str]:
    if rule.metric == LOST:
        met = one.lost > rule.bound if rule.above else one.lost < rule.bound
        return [f"{one.lost} records lost their value"] if met else []
    own = [e for e in one.effects if e.metric == rule.metric and rule.suite in {"", e.suite}]
    if not own:
        return [f"{rule.metric} has no pair to compare"]
    return [f"{e.suite}/{e.metric} differs by {e.difference:+.4g}" for e in own if rule.met_by(e)]
