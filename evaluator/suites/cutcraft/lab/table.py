"""The lab's table for people, and the same figures as a tree for machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.schema import to_tree
from evaluator.suites.cutcraft.lab.measure import Answer
from evaluator.suites.cutcraft.lab.recipe import KINDS, Recipe
from evaluator.suites.cutcraft.lab.score import ClassScore, TimeError, class_scores, macro_f1, time_error
from evaluator.suites.cutcraft.labels import Optical, Relation


@dataclass(frozen=True, slots=True)
class Result:
    """One clip: what is true, and what each profile says. `pictures` is off where only the sound was looked at."""

    recipe: Recipe
    answers: dict[str, Answer]
    pictures: bool


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of one profile on one split."""

    split: str
    profile: str
    clips: int
    seen: int
    optical: list[ClassScore]
    optical_f1: float
    kinds: dict[str, float]  # share of each kind that was named rightly
    cut_error: TimeError | None
    false_transitions: int
    relation: list[ClassScore]
    relation_f1: float
    offset_error: TimeError | None


def report(results: Sequence[Result], split: str, profile: str) -> Report:
    """Figures over the results of a split."""
    own = [(one.recipe, one.answers[profile], one.pictures) for one in results if one.recipe.split == split]
    seen = [(recipe, answer) for recipe, answer, pictures in own if pictures]
    optical = class_scores([*Optical], [r.optical for r, _ in seen], [a.optical for _, a in seen])
    relation = class_scores([*Relation], [r.relation for r, _, _ in own], [a.relation for _, a, _ in own])
    return Report(
        split,
        profile,
        clips=len(own),
        seen=len(seen),
        optical=optical,
        optical_f1=macro_f1(optical),
        kinds=_kinds(seen),
        cut_error=time_error([a.cut - r.cut for r, a in seen if a.cut is not None and a.optical == r.optical]),
        false_transitions=sum(a.others for _, a in seen),
        relation=relation,
        relation_f1=macro_f1(relation),
        offset_error=time_error(
            [abs(a.offset) - r.offset for r, a, _ in own if a.offset is not None and a.relation == r.relation]
        ),
    )


def _kinds(seen: Sequence[tuple[Recipe, Answer]]) -> dict[str, float]:
    shares = {}
    for kind in KINDS:
        own = [answer.optical == recipe.optical for recipe, answer in seen if recipe.kind == kind]
        if own:
            shares[kind] = sum(own) / len(own)
    return shares


def tree(reports: Sequence[Report]) -> list[dict[str, Any]]:
    """The figures for a JSON file."""
    return [{**to_tree(one), "optical": _rows(one.optical), "relation": _rows(one.relation)} for one in reports]


def _rows(scores: Sequence[ClassScore]) -> list[dict[str, Any]]:
    return [{**to_tree(one), "precision": one.precision, "recall": one.recall, "f1": one.f1} for one in scores]


def markdown(reports: Sequence[Report]) -> str:
    """One table: a line per class, a column of precision / recall per split and profile."""
    heads = [f"{one.split}, {one.profile}" for one in reports]
    lines = ["| precision / recall | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    for name, scores in (("D2", "optical"), ("D3", "relation")):
        for row in zip(*(getattr(one, scores) for one in reports), strict=True):
            cells = [f"{_two(score.precision)} / {_two(score.recall)}" for score in row]
            lines.append(_line(f"{name} {row[0].name}", cells))
        lines.append(_line(f"**{name} macro-F1**", [f"**{getattr(one, f'{scores}_f1'):.3f}**" for one in reports]))
    lines.append(_line("clips: pictures, sound", [f"{one.seen}, {one.clips}" for one in reports]))
    lines.append(_line("transitions where there are none", [str(one.false_transitions) for one in reports]))
    lines.append(_line("cut time, mean (worst) error", [_error(one.cut_error) for one in reports]))
    lines.append(_line("sound offset, median (worst) error", [_offset(one.offset_error) for one in reports]))
    return "\n".join(lines)


def _line(name: str, cells: Sequence[str]) -> str:
    return f"| {name} | " + " | ".join(cells) + " |"


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _error(error: TimeError | None) -> str:
    return "-" if error is None else f"{error.mean:.3f} s ({error.worst:.2f})"


def _offset(error: TimeError | None) -> str:
    return "-" if error is None else f"{error.median:.3f} s ({error.worst:.2f})"
