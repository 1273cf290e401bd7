"""Which numbers may share a mean: samples whose shots were aligned in one way and whose sound was shown in one way.

A system has one row per kind of sample. Stand-in models are the same for all samples of a run and stand in notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evaluator.schema import Case, Score

SUBSTITUTE = "sound as pictures and text"
ORDER = "shots in order, not judged"

Kind = tuple[str, ...]


def kinds(scores: Iterable[Score]) -> dict[str, Kind]:
    """Case -> what was done otherwise than the paper has it; empty for nothing."""
    found: dict[str, set[str]] = {}
    for score in scores:
        own = found.setdefault(score.case, set())
        if score.details.get("evidence") in {"substitute", "mixed"}:
            own.add(SUBSTITUTE)
        if score.details.get("alignment", {}).get("method") == "order":
            own.add(ORDER)
    return {case: tuple(sorted(own)) for case, own in found.items()}


def split(cases: Sequence[Case], scores: Sequence[Score]) -> dict[Kind, tuple[list[Case], list[Score]]]:
    """Kind -> its cases with their records."""
    of: Mapping[str, Kind] = kinds(scores)
    found: dict[Kind, tuple[list[Case], list[Score]]] = {}
    for case in cases:
        found.setdefault(of.get(case.id, ()), ([], []))[0].append(case)
    for score in scores:
        if of.get(score.case, ()) in found:
            found[of.get(score.case, ())][1].append(score)
    return dict(sorted(found.items()))


def label(system: str, kind: Kind) -> str:
    """Name of a row."""
    return (system or "(no name)") + (f" [{'; '.join(kind)}]" if kind else "")
