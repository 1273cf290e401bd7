"""How the questions of a checklist are put to a judge, and what its answers say about each of them.

    one by one   (default) one token per question: the likeliest label is the answer, its probability is kept
    batched      (`compat`) one call per type of question, all its questions in one list; the judge writes freely, and
                 JSON is looked for in its text as the reference does. No second try: at temperature 0 it repeats itself

Single-TF and AB-MCQ questions are shown the edited clip only, the others both clips. Frames are ours to choose, the
protocol leaves them to the server: two a second, at most 64, the same times of both clips, long side at most 768
pixels. "A and B" has the label C, and the grades 1 to 10 the labels A to J, because a label must be one token.
Expected answers and dimensions are never shown. Source: CoVEBench 3.1 to 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from evaluator.errors import AnswerError, NotApplicable
from evaluator.judge.evidence import Budget, clip_frames, paired_frames
from evaluator.judge.labels import expectation
from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Part, Question, Status
from evaluator.media.types import Frames
from evaluator.metrics.answers import provenance
from evaluator.metrics.base import Judged
from evaluator.schema import Case, Fit, Sampling, View
from evaluator.suites.covebench.parsing import read_reply
from evaluator.suites.covebench.questions import Item, Kind, groups_of, items_of
from evaluator.suites.covebench.rules import Said, score_of

VIEW = View(Sampling("fps", (2.0,)), Fit.LONG_SIDE_MAX, height=768)
BUDGET = Budget(frames=64, frame_side=768)

PROMPTS = {kind: f"cove_{kind.lower().replace('-', '_')}" for kind in Kind}
BATCH_PROMPTS = {kind: f"cove_batch_{kind.lower().replace('-', '_')}" for kind in Kind}

BOTH = "A and B"
OPTIONS = {"A": "A", "B": "B", "C": BOTH}
"""Label -> answer of an AB-MCQ question."""
GRADES = {letter: float(grade) for grade, letter in enumerate("ABCDEFGHIJ", 1)}
"""Label -> grade of a Score-MCQ question."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one question. `score` is None without a usable answer; `status` then says why."""

    item: Item
    score: float | None
    said: Said
    status: str
    soft: float | None = None  # P(expected answer), or the mean grade under the judge's probabilities
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def near_tie(self) -> bool:
        """Whether the rounding of another machine may turn the answer."""
        return bool(self.details.get("near_tie"))

    def record(self) -> dict[str, Any]:
        """What a record keeps of it."""
        return {
            "id": self.item.id,
            "type": str(self.item.kind),
            "expected": self.item.expected if self.item.kind is not Kind.SCORE_MCQ else None,
            "said": self.said,
            "score": self.score,
            "status": self.status,
            **self.details,
        }


@dataclass(frozen=True, slots=True)
class Asking:
    """A way of asking: the questions to a judge, and how their answers are read."""

    judged: Judged
    read: Callable[[Case, Sequence[Answer]], list[Verdict]]


def exhibits(output: Frames, source: Frames) -> Callable[[Kind], list[Part]]:
    """What each type of question shows; each set of frames is encoded once, when it is first wanted."""
    made: dict[bool, list[Part]] = {}

    def shown(kind: Kind) -> list[Part]:
        if kind.shows_source not in made:
            both = paired_frames(source, output, ("Video A", "Video B"), BUDGET) if kind.shows_source else ()
            alone = () if kind.shows_source else (clip_frames(output, "Video B", BUDGET),)
            made[kind.shows_source] = [exhibit.part for exhibit in (*both, *alone)]
        return made[kind.shows_source]

    return shown


def questions_of(case: Case) -> tuple[Item, ...]:
    """All questions of a case. Raises NotApplicable if it has none."""
    found = items_of(groups_of(case))
    if not found:
        raise NotApplicable("not_applicable", "The case has no checklist.")
    return found


def instruction(case: Case) -> dict[str, str]:
    """The editing instruction, which goes with every question."""
    return {"instruction": case.prompt} if case.prompt.strip() else {}


# ------------------------------------------------------------------------------------------------------ one by one


def ask(case: Case, output: Frames, source: Frames) -> list[Question]:
    """One label question per question of the checklist, in its order."""
    shown = exhibits(output, source)
    return [
        load(PROMPTS[item.kind]).ask(f"{case.id}/{item.id}", shown(item.kind), {**instruction(case), **_data(item)})
        for item in questions_of(case)
    ]


def _data(item: Item) -> dict[str, str]:
    options = {"option_A": item.options[0], "option_B": item.options[1]} if item.options else {}
    return {"question": item.text, **(options if item.kind is Kind.AB_MCQ else {})}


def read(case: Case, answers: Sequence[Answer]) -> list[Verdict]:
    """A verdict for every question of the checklist."""
    return [_verdict(item, answer) for item, answer in zip(questions_of(case), answers, strict=True)]


def _verdict(item: Item, answer: Answer) -> Verdict:
    if answer.status is not Status.OK or answer.label is None:
        details = {"ledger_key": answer.key, "message": answer.message}
        return Verdict(item, None, None, str(answer.status), details=details)
    if item.kind is Kind.SCORE_MCQ:
        said: Said = GRADES[answer.label]
        soft = expectation(answer, GRADES)
    else:
        said = OPTIONS[answer.label] if item.kind is Kind.AB_MCQ else answer.label
        expected = item.expected.strip().capitalize()
        soft = answer.probabilities[expected]
    return Verdict(item, score_of(item, said, tolerant=True), said, "ok", soft, provenance(answer))


# --------------------------------------------------------------------------------------------------------- batched


def batches(case: Case) -> dict[Kind, list[Item]]:
    """The questions by type, in the order of the calls; only types that the case has."""
    found = questions_of(case)
    by_kind = {kind: [item for item in found if item.kind is kind] for kind in Kind}
    return {kind: items for kind, items in by_kind.items() if items}


def ask_batched(case: Case, output: Frames, source: Frames) -> list[Question]:
    """At most four questions, one per type."""
    shown = exhibits(output, source)
    return [
        load(BATCH_PROMPTS[kind]).ask(
            f"{case.id}/{kind}", shown(kind), {**instruction(case), "questions": _listed(items)}
        )
        for kind, items in batches(case).items()
    ]


def _listed(items: Sequence[Item]) -> str:
    """The questions as the judge sees them."""
    tree = [
        {"id": item.id, "question": item.text}
        | ({"options": {"A": item.options[0], "B": item.options[1]}} if item.options else {})
        for item in items
    ]
    return orjson.dumps(tree).decode()


def read_batched(case: Case, answers: Sequence[Answer]) -> list[Verdict]:
    """A verdict for every question of the checklist. A reply that misses one question counts for none of its type."""
    found = {
        verdict.item.id: verdict
        for items, answer in zip(batches(case).values(), answers, strict=True)
        for verdict in _batch(items, answer)
    }
    return [found[item.id] for item in questions_of(case)]


def _batch(items: Sequence[Item], answer: Answer) -> list[Verdict]:
    status, message = str(answer.status), answer.message
    said: Mapping[str, Said] = {}
    if answer.status is Status.OK:
        try:
            said = read_reply(str(answer.value), [item.id for item in items])
        except AnswerError as error:
            status, message = error.code, str(error)
    found = []
    for item in items:
        score = score_of(item, said.get(item.id), tolerant=False)
        unusable = status == "ok" and score is None  # "8/10" where a number was asked for
        details = {"ledger_key": answer.key, "evidence": "native", **({"message": message} if message else {})}
        found.append(Verdict(item, score, said.get(item.id), "unparsed" if unusable else status, details=details))
    return found


_READS = ("prompt", "checklist")

ONE_BY_ONE = Asking(Judged(ask, reads=_READS, prompts=tuple(PROMPTS.values())), read)
BATCHED = Asking(Judged(ask_batched, reads=_READS, prompts=tuple(BATCH_PROMPTS.values())), read_batched)
