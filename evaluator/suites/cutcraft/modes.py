"""A conversation with the judge about one clip: questions in stages, each stage in view of the answers before it.

A stage is a pure function of the scene and of what was said so far. The runner asks, the metric plays the same stages
again over the answers, so that question and answer never part. Knows no dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluator.judge.route import Routed
from evaluator.judge.types import Answer, Question, Status
from evaluator.metrics.answers import provenance
from evaluator.suites.cutcraft.scene import Scene


@dataclass(frozen=True, slots=True)
class Wanted:
    """One question that is to be asked. Its pictures are encoded only when it is really asked."""

    id: str  # unique within a conversation
    make: Callable[[], Question | Routed]
    told: Mapping[str, Any] = field(default_factory=dict)  # what a record says of it


Said = Mapping[str, Answer]
"""Question -> answer, of all stages before."""
Stage = Callable[[Scene, Said], Sequence[Wanted]]


@dataclass(frozen=True, slots=True)
class Played:
    """How far a conversation has come."""

    scene: Scene  # with shots aligned
    wanted: Mapping[str, Wanted]  # everything that was asked
    said: Said
    pending: tuple[Wanted, ...]  # what is to be asked next; empty at the end

    def items(self, prefix: str = "") -> list[dict[str, Any]]:
        """What records keep of the questions whose id begins with `prefix`."""
        chosen = [one for name, one in self.wanted.items() if name.startswith(prefix)]
        return [entry(one, self.said[one.id]) for one in chosen]

    def answers(self, prefix: str = "") -> list[Answer]:
        """Answers to the questions whose id begins with `prefix`, as far as they are ok."""
        chosen = [answer for name, answer in self.said.items() if name.startswith(prefix)]
        return [answer for answer in chosen if answer.status is Status.OK]


def play(scene: Scene, stages: Sequence[Stage], answers: Sequence[Answer]) -> Played:
    """Put the answers to the questions that they belong to; stops at the first stage that was not answered whole."""
    wanted: dict[str, Wanted] = {}
    said: dict[str, Answer] = {}
    for stage in stages:
        asked = stage(scene, said)
        given = answers[len(said) : len(said) + len(asked)]
        if len(given) < len(asked):
            return Played(scene, wanted, said, tuple(asked))
        wanted.update({one.id: one for one in asked})
        said.update({one.id: answer for one, answer in zip(asked, given, strict=True)})
        scene = scene.told(said)
    return Played(scene, wanted, said, ())


def entry(wanted: Wanted, answer: Answer) -> dict[str, Any]:
    """What a record keeps of one question."""
    about = {"id": wanted.id, **wanted.told, "status": str(answer.status)}
    if answer.status is not Status.OK:
        return {**about, "ledger_key": answer.key, "message": answer.message}
    if answer.probabilities:
        return {**about, **provenance(answer)}
    return {
        **about,
        "ledger_key": answer.key,
        "said": answer.value,
        "evidence": "substitute" if answer.substitute else "native",
    }
