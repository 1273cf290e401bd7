"""Which endpoint is asked: one that perceives everything that the question shows.

    1  the first endpoint, in the order of their declaration, whose modalities cover the question
    2  else, only where the suite allows it, the same question with substitute evidence (sound as a picture, a
       transcript, signal facts), which is marked and never shares an aggregate with native answers
    3  else nobody: the answer is `not_available`, never a number

A question that one model alone may answer goes to the endpoint that is reserved for that model, else to one that serves
it; a reserved endpoint is asked nothing else. Knows the vocabulary only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evaluator.judge.types import JudgeIdentity, Modality, Question

Judges = Mapping[str, JudgeIdentity]
"""Endpoint -> who answers there, in the order in which they are preferred."""

RESERVED = "for "
"""Beginning of the name of an endpoint that is reserved for the questions of one model, which follows: a ledger then
says by itself who may be asked what."""


def askable(judges: Judges, model: str = "") -> dict[str, JudgeIdentity]:
    """The judges that may be asked what only `model` may answer or, without a model, what any judge may answer.

    Without an endpoint that is reserved for the model, those whose served name contains it (any case).
    """
    if model and (own := f"{RESERVED}{model}") in judges:
        return {own: judges[own]}
    common = {name: judge for name, judge in judges.items() if not name.startswith(RESERVED)}
    return {name: judge for name, judge in common.items() if model.lower() in judge.model.lower()}


def common_first(judges: Judges) -> dict[str, JudgeIdentity]:
    """The same judges, those for all questions first: the order in which a run names them."""
    return dict(sorted(judges.items(), key=lambda one: one[0].startswith(RESERVED)))


def endpoint(modalities: frozenset[Modality], judges: Judges) -> str | None:
    """Name of the first judge that perceives all `modalities`; None if there is none."""
    return next((name for name, judge in judges.items() if modalities <= judge.modalities), None)


@dataclass(frozen=True, slots=True)
class Routed:
    """A question as the protocol has it, and how it may be asked of a judge that does not perceive all of it."""

    native: Question
    substitute: Callable[[], Question] | None = None


def chosen(question: Question | Routed, judges: Judges) -> Question:
    """The question that these judges are asked."""
    return route(question.native, judges, question.substitute) if isinstance(question, Routed) else question


def route(native: Question, judges: Judges, substitute: Callable[[], Question] | None = None) -> Question:
    """The question to ask: as the protocol has it if somebody can answer that, else its substitute if one is allowed.

    `substitute` is called only when it is needed (it may have to draw pictures). A suite that does not allow
    substitutes passes none; then the native question comes back, and a session answers it `not_available`.
    Raises ValueError for a substitute that does not say that it is one.
    """
    if substitute is None or endpoint(native.modalities, judges) is not None:
        return native
    question = substitute()
    if not question.protocol_deviation:
        raise ValueError(f"{question.item}: substitute evidence must be marked as a protocol deviation")
    return question


def unavailable(modalities: frozenset[Modality], judges: Judges) -> str:
    """The sentence for people when `endpoint` finds nobody."""
    if not judges:
        return "no judge was given"
    ways = "; ".join(f"{name}: {', '.join(sorted(judge.modalities))}" for name, judge in judges.items())
    return f"no judge perceives {', '.join(sorted(modalities))} together ({ways})"
