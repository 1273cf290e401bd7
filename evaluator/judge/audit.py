"""Looking back at ledgers: is this one whole, what does one call say, how do two differ.

Reads one line at a time and reports everything that it finds instead of stopping at the first problem. Never writes,
never asks anybody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson

from evaluator.errors import UsageError
from evaluator.judge.blobs import Blobs
from evaluator.judge.keys import blob_digests, keys
from evaluator.judge.ledger import MEDIA, read_records, whole_lines
from evaluator.judge.record import START, Call, checked, from_tree, own_hash, result_tree
from evaluator.judge.types import Answer, JudgeIdentity, Status
from evaluator.judge.verdict import verdict

_SHOWN = 100  # problems that are named; all are counted


@dataclass(frozen=True, slots=True)
class Audit:
    """What `verify` found. The ledger is whole if there is no problem."""

    path: Path
    records: int
    statuses: Mapping[str, int]
    judges: tuple[JudgeIdentity, ...]
    head: str  # hash of the last line: a run header that names it also notices lines cut off at the end
    problem_count: int
    problems: tuple[str, ...]  # `file:line: what is wrong`, the first hundred
    changing: tuple[str, ...]  # keys that were answered twice, and not alike


@dataclass(frozen=True, slots=True)
class Difference:
    """One request that two ledgers answer, and not alike. `largest` is the largest difference of a probability."""

    item: str
    first: Answer
    second: Answer
    largest: float | None


@dataclass(frozen=True, slots=True)
class Diff:
    """What `diff` found, over requests that were answered at least once; sorted by item."""

    equal: int
    changed: tuple[Difference, ...]
    only_first: tuple[str, ...]  # items
    only_second: tuple[str, ...]


def verify(path: Path, media: bool = True) -> Audit:
    """Check the chain, the keys, what replies mean, and, if `media`, that every picture is there and unchanged."""
    found = _Findings(path, media)
    for line in whole_lines(path):
        found.take(line)
    return found.audit()


class _Findings:
    """What has been found so far, line by line."""

    def __init__(self, path: Path, media: bool) -> None:
        self.path = path
        self.count, self.head = 0, START
        self.statuses: Counter[str] = Counter()
        self.judges: dict[JudgeIdentity, None] = {}
        self.problems: list[str] = []
        self._blobs = Blobs(path.parent / MEDIA) if media else None
        self._seen: set[str] = set()  # digests of media
        self._first: dict[str, Answer] = {}  # by key
        self._changing: dict[str, None] = {}

    def take(self, line: bytes) -> None:
        problems = list(_line_problems(line, self.count, self.head))
        self.count, self.head = self.count + 1, own_hash(line)
        call = None if problems else from_tree(orjson.loads(line))
        if isinstance(call, Call):
            self._note(call)
            problems = [*_call_problems(call, line), *self._media_problems(call)]
        self.problems += [f"{self.path}:{self.count}: {problem}" for problem in problems]

    def _note(self, call: Call) -> None:
        self.statuses[call.status] += 1
        self.judges[call.judge] = None
        answer, key = call.answer, call.keys.key
        if answer.status is Status.OK and not _alike(self._first.setdefault(key, answer), answer):
            self._changing[key] = None

    def _media_problems(self, call: Call) -> Iterator[str]:
        for digest, _ in blob_digests(call.request) if self._blobs else ():
            if digest not in self._seen and self._blobs:
                self._seen.add(digest)
                if problem := self._blobs.problem(digest):
                    yield problem

    def audit(self) -> Audit:
        return Audit(
            path=self.path,
            records=self.count,
            statuses=self.statuses,
            judges=tuple(self.judges),
            head=self.head,
            problem_count=len(self.problems),
            problems=tuple(self.problems[:_SHOWN]),
            changing=tuple(self._changing),
        )


def _line_problems(line: bytes, seq: int, prev: str) -> Iterator[str]:
    try:
        from_tree(checked(line, seq, prev))
    except (ValueError, KeyError, TypeError) as error:
        yield str(error)


def _call_problems(call: Call, line: bytes) -> Iterator[str]:
    """What is written beside a reply must follow from it."""
    if keys(call.request, call.judge) != call.keys:
        yield "the keys are not those of the request"
    answer = call.answer
    if answer.status is not call.status:
        yield f"recorded as {call.status}, read today as {answer.status}: {answer.message}"
    elif orjson.loads(orjson.dumps(result_tree(answer))) != orjson.loads(line)["result"]:
        yield "the recorded result is not what the reply says"


def _alike(first: Answer, second: Answer) -> bool:
    return (first.label, first.probabilities, first.value) == (second.label, second.probabilities, second.value)


def show(path: Path, key: str) -> list[dict[str, Any]]:
    """The records, as they were written, of all calls whose key begins with `key` or whose item is `key`.

    Raises UsageError if there is none, LedgerError if the ledger is damaged before them.
    """
    found = []
    for line, record in zip(whole_lines(path), read_records(path), strict=True):
        if isinstance(record, Call) and (record.keys.key.startswith(key) or record.item == key):
            found.append(orjson.loads(line))
    if not found:
        raise UsageError(f"{path} holds no call whose key begins with, or whose item is, {key!r}")
    return found


By = Literal["key", "portable", "question"]
"""What counts as the same request: also the same engine (key), the same weights (portable), or neither (question)."""


def diff(first: Path, second: Path, by: By = "key") -> Diff:
    """Compare the last answers of two ledgers, request by request. Memory holds the answers of both."""
    ours, theirs = answers(first, by), answers(second, by)
    pairs = [(ours[key].item, ours[key].answer, theirs[key].answer) for key in ours.keys() & theirs.keys()]
    changed = [Difference(item, one, two, _largest(one, two)) for item, one, two in pairs if not _alike(one, two)]
    return Diff(
        equal=len(pairs) - len(changed),
        changed=tuple(sorted(changed, key=lambda one: one.item)),
        only_first=tuple(sorted(ours[key].item for key in ours.keys() - theirs.keys())),
        only_second=tuple(sorted(theirs[key].item for key in theirs.keys() - ours.keys())),
    )


@dataclass(frozen=True, slots=True)
class Answered:
    """A call without its request and its reply: little enough to keep thousands."""

    item: str
    task: str
    labels: tuple[str, ...]
    verdict: str
    media: tuple[str, ...]  # digests
    answer: Answer


def answers(path: Path, by: By, wanted: Callable[[Call], bool] = lambda _: True) -> dict[str, Answered]:
    """The last readable answer of each request of a ledger."""
    found = {}
    for record in read_records(path):
        if isinstance(record, Call) and (answer := record.answer).status is Status.OK and wanted(record):
            media = tuple(digest for digest, _ in blob_digests(record.request))
            labels, said = tuple(record.request["labels"]), verdict(record.request["answer_schema"], answer)
            found[getattr(record.keys, by)] = Answered(record.item, record.task, labels, said, media, answer)
    return found


def _largest(first: Answer, second: Answer) -> float | None:
    shared = first.probabilities.keys() & second.probabilities.keys()
    return max((abs(first.probabilities[label] - second.probabilities[label]) for label in shared), default=None)
