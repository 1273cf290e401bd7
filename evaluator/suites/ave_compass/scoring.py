"""From verdicts on items to the cells of a case: response, instruction, fidelity, intent (spec 7.4 to 7.6).

Pure arithmetic. A verdict is yes, no, or not there; what is not there is left out of a share and counted, never taken
for a no. Shares are exact until they are printed; `compat` rounds as the reference does, before it multiplies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluator.judge.types import Answer
from evaluator.suites.ave_compass.checklist import Dimension, Item, Tag

SCOPES: Mapping[str, tuple[Tag, ...]] = {"overall": tuple(Tag), "video": (Tag.VIDEO,), "audio": (Tag.AUDIO,)}
"""What a cell counts: general items are in overall alone."""
PERCENT = 100.0
PLACES = 2
"""Decimals of a percentage to which the reference rounds, half to even, every cell that it goes on with."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said of one item. `yes` is None if it was not answered; `answer` is what came back, if any."""

    item: Item
    yes: bool | None
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the answered items are yes; `asked` counts all of them."""

    yes: int
    answered: int
    asked: int

    @property
    def value(self) -> float | None:
        """0..1; None where nothing was answered."""
        return self.yes / self.answered if self.answered else None


def binary(answer: str) -> bool:
    """Absolute affirmative binarisation: True iff the answer, trimmed and in lower case, is exactly `yes`."""
    return answer.strip().lower() == "yes"


def chosen(verdicts: Iterable[Verdict], dimension: Dimension, scope: str) -> list[Verdict]:
    """The verdicts that one cell counts."""
    return [one for one in verdicts if one.item.dimension is dimension and one.item.tag in SCOPES[scope]]


def share(verdicts: Sequence[Verdict]) -> Share:
    """S of spec 7.5 over these verdicts."""
    answered = [one.yes for one in verdicts if one.yes is not None]
    return Share(sum(answered), len(answered), len(verdicts))


def intent(following: float, fidelity: float, rounded: bool = False) -> float:
    """EI of one case from its IF and FP, all 0..1 (spec 7.6). `rounded`: percentages of two decimals all along."""
    if not rounded:
        return following * fidelity
    return round(percent(following, True) * percent(fidelity, True) / PERCENT, PLACES) / PERCENT


def percent(value: float, rounded: bool = False) -> float:
    """A share as a percentage, cut to two decimals as the reference does if `rounded`."""
    return round(PERCENT * value, PLACES) if rounded else PERCENT * value


def as_reported(value: float, rounded: bool) -> float:
    """A share as later steps see it: whole, or through a percentage of two decimals."""
    return percent(value, True) / PERCENT if rounded else value
