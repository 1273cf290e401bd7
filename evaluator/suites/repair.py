"""A document that breaks rules goes back to the judge that wrote it, with what is wrong, a bounded number of times.

Only a document without an error is ever accepted. Every other try is recorded: the document if it had the form that was
asked for, its problems, and the ledger key of what was said. A try that nobody answers ends the matter. In a replay,
where the ledger holds no answer of a wrong form, the same next question is asked as after one. Knows no document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from evaluator.judge.route import Routed
from evaluator.judge.types import Answer, Question, Status
from evaluator.metrics.answers import accepted
from evaluator.metrics.base import Outcome
from evaluator.schema import Case

TRIES = 3
REJECTED, PROBLEMS = "rejected", "problems"
"""Data blocks of a question that is asked again: the earlier answer, and what is wrong with it."""
MALFORMED = frozenset({Status.UNPARSED, Status.TRUNCATED, Status.JUDGE_MISSING})
"""JUDGE_MISSING: a replay, in which an answer of a wrong form is not on record."""
FORM = "It was not one JSON object of exactly the form that is asked for, or it was too long."

Ask = Callable[..., Sequence[Question | Routed]]
"""(case, told, **needs) -> the question; `told` holds further data blocks."""


class Remark(NamedTuple):
    """What a rule says of a document; one that is `wrong` cannot be accepted."""

    text: str
    wrong: bool


@dataclass(frozen=True, slots=True)
class Try:
    """One answer of the judge, and what the rules say of it."""

    key: str
    document: Any  # None if it had another form
    findings: tuple[str, ...]
    refused: bool


@dataclass(frozen=True, slots=True)
class Repair:
    """How one kind of document is asked for, read and examined, and how often at most."""

    ask: Ask
    document: Callable[[Any, Any], Any]
    """(case, the judge's JSON) -> the whole document. The case is None where the document needs nothing of it."""
    examine: Callable[[Any, Any], Sequence[Remark]]
    """(case, the document) -> everything that there is to say of it."""
    tries: int = TRIES

    def first(self, case: Case, **needs: Any) -> Sequence[Question | Routed]:
        """The question. Raises NotApplicable."""
        return self.ask(case, {}, **needs)

    def again(self, case: Case, answers: Sequence[Answer], **needs: Any) -> Sequence[Question | Routed]:
        """The question with what was wrong with the last answer; none if it was right, or the last that is allowed.

        None either if two answers in a row were wrong alike: the same question would get the same answer.
        """
        told = [self._complaint(case, answer) for answer in answers[-2:]]
        if len(answers) >= self.tries or not told[-1] or (told[0] == told[-1] and len(told) > 1):
            return []
        return self.ask(case, told[-1], **needs)

    def outcome(self, case: Case | None, answers: Sequence[Answer]) -> Outcome:
        """1 with a document that keeps the rules, 0 without one; `rejected` in the details holds all others.

        Raises NotApplicable or AnswerError where the last question was not answered.
        """
        last = answers[-1]
        if last.status not in {Status.UNPARSED, Status.TRUNCATED}:
            accepted(last)
        *earlier, final = (self._tried(case, answer) for answer in answers)
        rejected = [*earlier, *([final] if final.refused else [])]
        details = {
            "document": None if final.refused else final.document,
            "findings": list(final.findings),
            "ledger_key": final.key,
            "tries": len(answers),
            "rejected": [
                {"reasons": list(one.findings), "document": one.document, "ledger_key": one.key} for one in rejected
            ],
        }
        return Outcome(float(not final.refused), details=details)

    def _complaint(self, case: Case, answer: Answer) -> Mapping[str, str]:
        """The data blocks that say what was wrong, none if nothing was.

        Of a wrong form nothing is repeated: a replay would not have it.
        """
        if answer.status in MALFORMED:
            return {PROBLEMS: FORM}
        if answer.status is not Status.OK or not (found := self._tried(case, answer)).refused:
            return {}
        return {REJECTED: orjson.dumps(answer.value).decode(), PROBLEMS: "\n".join(found.findings)}

    def _tried(self, case: Case | None, answer: Answer) -> Try:
        if answer.status is not Status.OK:
            return Try(answer.key, None, (f"{answer.status}: {answer.message}",), True)
        document = self.document(case, answer.value)
        found = self.examine(case, document)
        return Try(answer.key, document, tuple(one.text for one in found), any(one.wrong for one in found))
