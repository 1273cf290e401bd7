"""One line of a ledger: what was asked, what came back word for word, and a hash that ties it to the line before.

    {"ledger": 1, "seq": 7, "kind": "call", ..., "prev": <self of line 6>, "self": <SHA-256 of all that stands before>}

`self` covers the bytes of the line as they were written, so that nobody has to agree on a canonical JSON to check it.
What a reply means (`result`) is written for people and other tools; evaluator reads the reply itself again.
Knows bytes and the vocabulary; no files.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from evaluator.judge.keys import Keys, Tree
from evaluator.judge.parse import read
from evaluator.judge.types import Answer, JudgeIdentity, Modality, Raw, Status
from evaluator.schema import to_tree

LEDGER_VERSION = 1
START = "0" * 64
"""`prev` of the first line."""

_TAIL = len(b',"self":"') + 64 + len(b'"}')


@dataclass(frozen=True, slots=True)
class Call:
    """One question that was put to a judge, whatever came of it. `raw` is None if nothing came back."""

    endpoint: str
    judge: JudgeIdentity
    item: str
    task: str
    protocol_deviation: bool
    keys: Keys
    request: Tree
    raw: Raw | None
    status: Status
    message: str
    attempts: int
    ms: int
    time: str  # ISO 8601, UTC

    @property
    def answer(self) -> Answer:
        """The reply, read again by today's rules; the recorded failure if there was no reply."""
        if self.raw is None:
            return Answer(self.status, self.keys.key, message=self.message)
        return read(self.request["labels"], self.request["answer_schema"], self.raw, self.keys.key)


@dataclass(frozen=True, slots=True)
class Opening:
    """The judges of the calls that follow, in the order in which they are preferred."""

    judges: Mapping[str, JudgeIdentity]
    time: str


Record = Call | Opening


def seal(record: Record, seq: int, prev: str) -> tuple[bytes, str]:
    """(the line with its newline, its hash). Numbers that JSON lacks are refused or spelled out, never lost."""
    head = {"ledger": LEDGER_VERSION, "seq": seq, "kind": "call" if isinstance(record, Call) else "opening"}
    body = orjson.dumps({**head, **_tree(record), "prev": prev})
    own = hashlib.sha256(body).hexdigest()
    return body[:-1] + b',"self":"' + own.encode() + b'"}\n', own


def unseal(line: bytes, seq: int, prev: str) -> tuple[Record, str]:
    """(the record, its hash) of a line that stands at `seq` after a line with hash `prev`; raises ValueError if not."""
    return from_tree(checked(line, seq, prev)), own_hash(line)


def checked(line: bytes, seq: int, prev: str) -> dict[str, Any]:
    """The tree of an untouched line in its place. Raises ValueError that says what is wrong."""
    line = line.rstrip(b"\n")
    if hashlib.sha256(line[:-_TAIL] + b"}").hexdigest() != own_hash(line):
        raise ValueError("the line was changed after it was written")
    tree: dict[str, Any] = orjson.loads(line)
    if tree["ledger"] != LEDGER_VERSION:
        raise ValueError(f"ledger version {tree['ledger']}, this version reads {LEDGER_VERSION}")
    if (tree["seq"], tree["prev"]) != (seq, prev):
        raise ValueError("lines are missing, added or in another order")
    return tree


def own_hash(line: bytes) -> str:
    """The hash that a line claims for itself."""
    return line.rstrip(b"\n")[-66:-2].decode("ascii", "replace")


def from_tree(tree: Mapping[str, Any]) -> Record:
    """Inverse of what `seal` wrote. Raises ValueError for a tree of another form."""
    try:
        if tree["kind"] == "opening":
            return Opening({name: _identity(judge) for name, judge in tree["judges"].items()}, tree["time"])
        kept = {name: tree[name] for name in ("endpoint", "item", "task", "protocol_deviation", "request", "message")}
        return Call(
            **kept,
            judge=_identity(tree["judge"]),
            keys=Keys(**tree["keys"]),
            raw=_raw(tree["response"]) if tree["response"] else None,
            status=Status(tree["status"]),
            attempts=tree["attempts"],
            ms=tree["ms"],
            time=tree["time"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a ledger record ({type(error).__name__}: {error})") from error


def result_tree(answer: Answer) -> dict[str, Any] | None:
    """What a record says of a readable answer."""
    names = ("label", "probabilities", "label_mass", "margin", "near_tie", "value")
    return {name: getattr(answer, name) for name in names} if answer.status is Status.OK else None


def _tree(record: Record) -> dict[str, Any]:
    if isinstance(record, Opening):
        return {"time": record.time, "judges": {name: _judge(judge) for name, judge in record.judges.items()}}
    names = ("time", "ms", "attempts", "endpoint", "item", "task", "protocol_deviation", "status", "message", "keys")
    return {
        **{name: to_tree(getattr(record, name)) for name in names},
        "message": _text(record.message),
        "judge": _judge(record.judge),
        "request": record.request,
        "response": _response(record.raw) if record.raw else None,
        "result": result_tree(record.answer),
    }


def _judge(identity: JudgeIdentity) -> dict[str, Any]:
    return {**to_tree(identity), "modalities": sorted(identity.modalities)}


def _identity(tree: Mapping[str, Any]) -> JudgeIdentity:
    return JudgeIdentity(**{**tree, "modalities": frozenset(map(Modality, tree["modalities"]))})


def _response(raw: Raw) -> dict[str, Any]:
    spelled = {name: value if math.isfinite(value) else str(value) for name, value in raw.label_logprobs.items()}
    return {**to_tree(raw), "text": _text(raw.text), "label_logprobs": spelled}


def _text(text: str) -> str:
    """Half a surrogate pair cannot be written in UTF-8; its escape can, and reads as badly."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _raw(tree: Mapping[str, Any]) -> Raw:
    return Raw(**{**tree, "label_logprobs": {name: float(value) for name, value in tree["label_logprobs"].items()}})
