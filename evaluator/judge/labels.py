"""One-token label scoring: from the log-probabilities of the labels to a verdict with its doubts.

The judge is asked for one token. What its whole vocabulary thinks of each label gives P(label), the margin between the
two best, and the label mass: how much probability lies on any label at all. A judge that did not understand the
question still answers with some label, but with little mass. Numbers only; knows no back end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from evaluator.judge.types import Answer, Status

NEAR_TIE = 0.02
"""Two labels: |P - 0.5| below this may flip with the rounding of another machine (measured in bfloat16: 0.006)."""

_SLACK = 1e-3  # of the sum of probabilities: bfloat16 logits, summed over a vocabulary of 150,000


def read_labels(labels: Sequence[str], logprobs: Mapping[str, float], text: str, key: str) -> Answer:
    """The answer to a label question.

    `logprobs`: natural logarithms over the full vocabulary, one for each label. `text` is what was sampled: it must be
    one of the labels, else the constraint was not obeyed. Equal probabilities go to the label that is named first.
    """
    if problem := _problem(labels, logprobs, text):
        return Answer(Status.UNPARSED, key, message=problem)
    probabilities = _softmax({label: logprobs[label] for label in labels})
    best, second = sorted(probabilities.values(), reverse=True)[:2]
    return Answer(
        Status.OK,
        key,
        label=max(labels, key=probabilities.__getitem__),
        probabilities=probabilities,
        label_mass=min(1.0, math.fsum(math.exp(logprobs[label]) for label in labels)),
        margin=best - second,
        near_tie=best - second < 2 * NEAR_TIE,
    )


def expectation(answer: Answer, values: Mapping[str, float] | None = None) -> float:
    """Mean of the labels' values under their probabilities; without `values` the labels are numbers ("1" .. "5").

    Raises ValueError for an answer that is not ok: it has no probabilities, and so no mean.
    """
    if answer.status is not Status.OK or not answer.probabilities:
        raise ValueError(f"answer {answer.key[:12]} is {answer.status} and holds no label probabilities")
    return math.fsum(
        share * (float(label) if values is None else values[label]) for label, share in answer.probabilities.items()
    )


def _problem(labels: Sequence[str], logprobs: Mapping[str, float], text: str) -> str:
    """What is wrong with a reply; empty if nothing is."""
    if text.strip() not in labels:
        return f"expected one of {', '.join(labels)}, found {text[:80]!r}"
    if missing := [label for label in labels if label not in logprobs]:
        return f"no log-probability for {', '.join(missing)}"
    given = [logprobs[label] for label in labels]
    if any(math.isnan(value) or value == math.inf for value in given) or max(given) == -math.inf:
        return f"log-probabilities {given} are not those of a distribution"
    if (mass := math.fsum(map(math.exp, given))) > 1 + _SLACK:
        return f"the labels hold a probability of {mass:.4f}: not log-probabilities over the whole vocabulary"
    return ""


def _softmax(logs: Mapping[str, float]) -> dict[str, float]:
    """Probabilities over the labels alone; sums to 1."""
    top = max(logs.values())
    weights = {label: math.exp(value - top) for label, value in logs.items()}
    whole = math.fsum(weights.values())
    return {label: weight / whole for label, weight in weights.items()}
