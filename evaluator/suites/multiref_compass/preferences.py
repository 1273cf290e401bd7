"""What people said of two outputs (section 6): `labels.preferences` of a case, checked, and its pairwise outcomes.

`{dimension: {other system: votes}}`, a vote being 1 (this output is better), 0 or -1. Dimensions go by the paper's
names, those of the README, or two letters. Knows no score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from evaluator.manifest.problems import Problem
from evaluator.schema import Case
from evaluator.stats.preference import majority
from evaluator.suites.multiref_compass.data import of

NAMES = {
    "BQ": "Basic Quality",
    "RC": "Reference Consistency",
    "AC": "Audio-Visual Consistency",
    "IF": "Instruction Following",
}
ALIASES = {"Entity Fidelity": "Reference Consistency", "Audio-Video Consistency": "Audio-Visual Consistency"}
"""The README's names for the second dimension and the third."""

Votes = Annotated[list[Literal[-1, 0, 1]], Field(min_length=1)]
_FORM = TypeAdapter(dict[str, dict[str, Votes]])

Outcomes = dict[tuple[str, str, str], float]
"""(sample, first system, second system) -> 1, 0 or -1; systems in alphabetical order."""


def dimension_name(name: str) -> str:
    """The paper's name for any of the names in use. Raises KeyError."""
    full = NAMES.get(name, ALIASES.get(name, name))
    return {known: known for known in NAMES.values()}[full]


def examine_preferences(case: Case) -> Iterable[Problem]:
    """What is wrong with the preferences of a case."""
    try:
        found = _FORM.validate_python(case.labels.get("preferences", {}))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, ("labels.preferences", *first["loc"])))
        yield Problem(0, where, "dimension -> other system -> votes of 1, 0 or -1", first["msg"])
        return
    known = {*NAMES, *NAMES.values(), *ALIASES}
    for name, rivals in found.items():
        if name not in known:
            yield Problem(0, f"labels.preferences.{name}", f"one of {', '.join(sorted(known))}", f'"{name}"')
        if case.system in rivals:
            yield Problem(0, f"labels.preferences.{name}", "other systems", f'"{case.system}", the system itself')


def human_outcomes(cases: Sequence[Case], dimension: str) -> Outcomes:
    """Pairwise outcomes of one dimension: the majority of the annotators, an even split is a tie.

    Only pairs of which both outputs are among the cases. Votes may stand with either output of a pair.
    """
    present = {(of(case).sample, case.system) for case in cases}
    votes: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for case in cases:
        sample = of(case).sample
        for name, rivals in case.labels.get("preferences", {}).items():
            for rival in rivals if dimension_name(name) == dimension else ():
                if (sample, rival) in present:
                    first, second = sorted((case.system, rival))
                    turned = 1 if first == case.system else -1
                    votes[sample, first, second] += [turned * vote for vote in rivals[rival]]
    return {pair: float(majority(np.array([own], np.float64))[0]) for pair, own in votes.items()}
