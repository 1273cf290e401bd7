"""Whether a judge gives the same answer again: asked in turn, asked once more, and asked in another order all at once.

Batching changes the order of sums on a GPU, so that an answer may depend on what else is being asked. The largest
change of a probability is measured and goes into the run header. Works on anything that can be asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random

from evaluator.judge.types import Question, Raw

Ask = Callable[[Question], Raw]


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """Changes of P(label) between repeats; 0.0 means bitwise equal."""

    questions: int
    concurrency: int
    repeated: float  # asked in turn, twice
    concurrent: float  # asked in turn, and in another order at full concurrency
    flips: int  # questions whose best label changed
    tolerance: float

    @property
    def ok(self) -> bool:
        """Whether no probability changed by more than the tolerance."""
        return max(self.repeated, self.concurrent) <= self.tolerance

    @property
    def summary(self) -> str:
        """One line for the run header."""
        changed = max(self.repeated, self.concurrent)
        verdict = "bitwise" if changed == 0 else f"max_dp={changed:.2g}, {self.flips} flips"
        return f"{verdict} ({self.questions} questions, {self.concurrency} at a time)"


def self_check(ask: Ask, questions: Sequence[Question], concurrency: int, tolerance: float) -> SelfCheck:
    """Ask label questions three times over. Raises JudgeError if one of them is not answered."""
    first = [ask(question) for question in questions]
    again = [ask(question) for question in questions]
    crowd = _all_at_once(ask, questions, concurrency)
    return SelfCheck(
        questions=len(questions),
        concurrency=concurrency,
        repeated=max(map(probability_distance, first, again)),
        concurrent=max(map(probability_distance, first, crowd)),
        flips=sum(
            len({_best(one), _best(two), _best(three)}) > 1 for one, two, three in zip(first, again, crowd, strict=True)
        ),
        tolerance=tolerance,
    )


def probability_distance(one: Raw, other: Raw) -> float:
    """Largest change of exp(log-probability) of a label; 0.0 only if the two answers are equal to the last bit."""
    if dict(one.label_logprobs) == dict(other.label_logprobs):
        return 0.0
    change = max(
        abs(math.exp(one.label_logprobs[label]) - math.exp(value)) for label, value in other.label_logprobs.items()
    )
    return max(change, math.ulp(0.0))  # a change that exp() swallows is still a change


def logprob_distance(one: Raw, other: Raw) -> float:
    """Largest change of a label's log-probability."""
    return max(abs(one.label_logprobs[label] - value) for label, value in other.label_logprobs.items())


def _all_at_once(ask: Ask, questions: Sequence[Question], concurrency: int) -> list[Raw]:
    """Answers in the order of the questions, which are asked in another one."""
    order = list(range(len(questions)))
    Random(len(questions)).shuffle(order)  # noqa: S311  (any order but the first will do)
    with ThreadPoolExecutor(concurrency) as pool:
        answers = dict(zip(order, pool.map(lambda at: ask(questions[at]), order), strict=True))
    return [answers[at] for at in range(len(questions))]


def _best(raw: Raw) -> str:
    return max(raw.label_logprobs, key=raw.label_logprobs.__getitem__)
