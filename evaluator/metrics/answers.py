"""A judge's answers on their way to a metric: only an answer that is `ok` passes, anything else says why it does not.

Knows the vocabulary of judging, no prompt and no back end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator.errors import AnswerError, NotApplicable
from evaluator.judge.types import Answer, Status

NOBODY = frozenset({Status.NOT_AVAILABLE, Status.JUDGE_MISSING})
"""Nobody was there to answer: a skip. Every other status that is not `ok` is a failure."""


def accepted(answer: Answer) -> Answer:
    """The answer if it is `ok`. Raises NotApplicable("no_judge") or AnswerError with the status as its code."""
    if answer.status is Status.OK:
        return answer
    if answer.status in NOBODY:
        raise NotApplicable("no_judge", f"{answer.status}: {answer.message}")
    raise AnswerError(str(answer.status), answer.message or f"the judge's answer is {answer.status}")


def evidence(answers: Sequence[Answer]) -> str:
    """`native`, `substitute` or `mixed`: what the judge was shown. Scores of different kinds never share a mean."""
    kinds = {answer.substitute for answer in answers}
    return "mixed" if len(kinds) > 1 else "substitute" if True in kinds else "native"


def provenance(answer: Answer) -> dict[str, Any]:
    """What a record keeps of a label answer: the ledger key and how sure the judge was."""
    return {
        "ledger_key": answer.key,
        "label": answer.label,
        "probabilities": dict(answer.probabilities),
        "label_mass": answer.label_mass,
        "margin": answer.margin,
        "near_tie": answer.near_tie,
        "evidence": evidence([answer]),
    }
