"""Whether a judge may be trusted with questions: it must obey constraints, look at what it is shown, and repeat itself.

Some servers answer 200 and ignore a field that they do not know; a number made from such an answer looks like any
other. So every constraint is tried with two opposite demands on the same prompt: who ignores it cannot meet both.
Works on any back end; knows nothing about HTTP.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from evaluator.errors import JudgeUnusableError
from evaluator.judge import probes, prompts
from evaluator.judge.retry import FullJitter, patiently
from evaluator.judge.selfcheck import SelfCheck, logprob_distance, self_check
from evaluator.judge.types import Backend, JudgeError, JudgeIdentity, Modality, Part, Question, Raw, RetryPolicy
from evaluator.schema import to_tree

WORDS = ("maple", "harbour")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried, and what came out."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the run header says about a judge."""

    identity: JudgeIdentity
    findings: tuple[Finding, ...]
    repeats: SelfCheck | None  # None if the judge already failed before

    @property
    def ok(self) -> bool:
        """Whether the judge may be used."""
        return all(finding.ok for finding in self.findings) and self.repeats is not None and self.repeats.ok

    def tree(self) -> dict[str, Any]:
        """The verdict as the run header holds it."""
        judge = {**to_tree(self.identity), "modalities": sorted(self.identity.modalities)}
        repeatable = self.repeats.summary if self.repeats else "not tried"
        return {"ok": self.ok, "judge": judge, "repeatable": repeatable, "findings": to_tree(self.findings)}

    def require(self) -> None:
        """Raises JudgeUnusableError that names everything that failed."""
        if self.ok:
            return
        failed = [f"{finding.name}: {finding.detail}" for finding in self.findings if not finding.ok]
        failed += [f"repeats itself: {self.repeats.summary}"] if self.repeats and not self.repeats.ok else []
        raise JudgeUnusableError(f"the judge {self.identity.model} failed its check. " + "; ".join(failed))


def examine(
    judge: Backend,
    questions: int = 16,
    concurrency: int = 8,
    tolerance: float = 0.0,
    policy: RetryPolicy | None = None,
) -> Verdict:
    """Handshake, then self-check with `questions` generated questions.

    `tolerance`: largest change of a probability between repeats, 0.0 for bitwise equality.
    """
    patient = _Patient(judge, policy or FullJitter())
    findings = tuple(_try(name, check, patient) for name, check in _checks(judge.identity.modalities))
    if not all(finding.ok for finding in findings):
        return Verdict(judge.identity, findings, None)
    asked = probes.mixed(questions, judge.identity.modalities)
    try:
        return Verdict(judge.identity, findings, self_check(patient.ask, asked, concurrency, tolerance))
    except JudgeError as error:
        return Verdict(judge.identity, (*findings, Finding("answers under load", False, str(error))), None)


class _Patient:
    """Asks with retries."""

    def __init__(self, judge: Backend, policy: RetryPolicy) -> None:
        self._judge = judge
        self._policy = policy

    def ask(self, question: Question) -> Raw:
        return patiently(lambda: self._judge.ask(question), question.item, self._policy)


Check = Callable[[_Patient], str]
"""What it found, in words. Raises _Failed or JudgeError."""


class _Failed(Exception):
    """The judge answered, but not as it must."""


def _try(name: str, check: Check, judge: _Patient) -> Finding:
    try:
        return Finding(name, True, check(judge))
    except (_Failed, JudgeError) as error:
        return Finding(name, False, str(error))


def _checks(modalities: frozenset[Modality]) -> Iterator[tuple[str, Check]]:
    yield "obeys label constraints", _obeys_labels
    yield "tells log-probabilities of the whole vocabulary", _tells_raw_logprobs
    yield "obeys JSON schemas", _obeys_schemas
    if Modality.IMAGE in modalities:
        yield "looks at pictures", lambda judge: _tells_apart(judge, probes.image(1), probes.image(2))
    if Modality.VIDEO in modalities:
        yield "looks at frames", lambda judge: _tells_apart(judge, probes.frames(1), probes.frames(2))
        yield "minds the times of frames", _minds_times
    if Modality.AUDIO in modalities:
        yield "listens", lambda judge: _tells_apart(judge, probes.sound(1), probes.sound(2))


def _obeys_labels(judge: _Patient) -> str:
    """One prompt, and each label of our prompts as the only one allowed: it must come out, and so be one token."""
    labels = list(dict.fromkeys(label for name in prompts.names() for label in prompts.load(name).labels))
    for label in labels:
        text = judge.ask(probes.question(probes.LOOK, labels=(label,))).text.strip()
        if text != label:
            raise _Failed(f"only {label!r} was allowed, the answer was {text[:40]!r}")
    return f"{len(labels)} labels, each forced in turn"


def _tells_raw_logprobs(judge: _Patient) -> str:
    """The log-probability of a label must not depend on which labels are allowed; after a mask it would."""
    both = judge.ask(probes.question(probes.LOOK)).label_logprobs
    alone = {
        label: judge.ask(probes.question(probes.LOOK, labels=(label,))).label_logprobs[label] for label in probes.YES_NO
    }
    mass = math.fsum(map(math.exp, alone.values()))
    moved = max(abs(math.exp(both[label]) - math.exp(alone[label])) for label in probes.YES_NO)
    if mass > 1.01 or moved > 0.01:
        raise _Failed(f"they change with the labels that are allowed: {dict(both)} against {alone}, so they are masked")
    return f"label mass {mass:.3g}"


def _obeys_schemas(judge: _Patient) -> str:
    """The same prompt under two schemas with one member each; the answer may not be padded with white space."""
    for word in WORDS:
        raw = judge.ask(probes.json_question(word))
        if _json(raw.text) != {"word": word} or raw.finish_reason != "stop":
            raise _Failed(f'only {{"word": "{word}"}} was allowed, found {raw.text[:60]!r} ({raw.finish_reason})')
        if len(raw.text) > len(json.dumps({"word": word})):
            raise _Failed(f"white space is not switched off: {raw.text[:60]!r}")
    return f"{len(WORDS)} schemas"


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _tells_apart(judge: _Patient, one: Part, other: Part) -> str:
    """Two different pieces of evidence must give different log-probabilities, however slightly."""
    distance = logprob_distance(
        judge.ask(probes.question(probes.LOOK, (one,))), judge.ask(probes.question(probes.LOOK, (other,)))
    )
    if distance == 0:
        raise _Failed("different evidence gives the very same answer: it is not looked at")
    return f"log-probabilities differ by {distance:.3g}"


def _minds_times(judge: _Patient) -> str:
    return _tells_apart(judge, probes.frames(1, (0.0, 0.5, 1.0, 1.5)), probes.frames(1, (0.0, 5.0, 10.0, 15.0)))
