"""What was asked about a case: question, evidence, probabilities and margin, out of the ledger of the run.

Reads the ledger once, keeps what the page will show, and re-encodes its pictures small. Never asks anybody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluator.judge.blobs import Blobs
from evaluator.judge.ledger import LEDGER, MEDIA, read_records
from evaluator.judge.record import Call
from evaluator.judge.types import Answer
from evaluator.report.page.pictures import Album
from evaluator.report.runs import Run

Tree = dict[str, Any]
TEXT = 4000
"""Characters of one text of a question that a page holds."""


class Questions:
    """The calls of a ledger that belong to some cases: by key of the answer, and by case."""

    def __init__(self, run: Run, folder: Path, keys: Collection[str], cases: Collection[str]) -> None:
        """`keys`: answers that records name. `cases`: whose calls are shown even if no record names them (failures)."""
        self.path = ledger_path(run, folder)
        self._by_key: dict[str, Call] = {}
        self._by_case: dict[str, dict[str, Call]] = {}
        if self.path is None:
            return
        wanted = set(keys)
        for record in read_records(self.path):
            if not isinstance(record, Call):
                continue
            owner = owner_of(record.item, cases)
            if record.keys.key in wanted:
                self._by_key[record.keys.key] = record
            if owner is not None:
                self._by_case.setdefault(owner, {})[record.keys.key] = record

    def of(self, case: str, keys: Collection[str]) -> list[Call]:
        """The calls behind a case, each once: those that its records name, then those that were made for it."""
        named = {key: self._by_key[key] for key in keys if key in self._by_key}
        return list({**named, **self._by_case.get(case, {})}.values())


def ledger_path(run: Run, folder: Path) -> Path | None:
    """The ledger beside the scores, else the one that was replayed, if it is still there."""
    judge = run.header.get("options", {}).get("judge") or {}
    named = [folder / LEDGER, *([Path(judge["replay"])] if judge.get("replay") else [])]
    return next((path for path in named if path.is_file()), None)


def owner_of(item: str, cases: Collection[str]) -> str | None:
    """The case of an item "case/metric/..."; a case id may hold slashes, so the longest one that exists counts."""
    parts = item.split("/")
    candidates = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((name for name in candidates if name in cases), None)


def shown(call: Call, ledger: Path, album: Album) -> Tree:
    """One call as the page holds it."""
    answer = call.answer
    return {
        "key": call.keys.key,
        "item": call.item,
        "task": call.task,
        "judge": call.judge.model,
        "trained": call.judge.trained,
        "evidence": "substitute" if call.protocol_deviation else "native",
        "status": str(answer.status),
        "message": answer.message,
        "turns": [
            {"role": turn["role"], "parts": list(_parts(turn["parts"], Blobs(ledger.parent / MEDIA), album))}
            for turn in call.request["turns"]
        ],
        "reply": _cut(call.raw.text) if call.raw else None,
        **_said(answer),
    }


def _said(answer: Answer) -> Tree:
    return {
        "label": answer.label,
        "probabilities": dict(answer.probabilities),
        "margin": answer.margin,
        "mass": answer.label_mass,
        "tie": answer.near_tie,
        "value": answer.value,
    }


def _parts(parts: list[Mapping[str, Any]], blobs: Blobs, album: Album) -> Iterator[Tree]:
    for part in parts:
        told: Tree = {"kind": part["kind"], "evidence": part["evidence"]}
        if part["kind"] == "text":
            yield {**told, "text": _cut(part["text"])}
        elif part["kind"] == "audio":
            yield {**told, "file": _file(part["sha256"])}
        else:
            digests = part["sha256"] if isinstance(part["sha256"], list) else [part["sha256"]]
            yield {**told, "times": part.get("times"), "pictures": [_picture(name, blobs, album) for name in digests]}


def _picture(digest: str, blobs: Blobs, album: Album) -> Tree:
    """A small copy, or the name of the file where it did not fit or is not what was judged any more."""
    missing = {"file": _file(digest)}
    if album.full:
        return missing
    if blobs.problem(digest):
        return {**missing, "gone": True}
    name = album.add_file(blobs.get(digest))
    return {"name": name} if name else missing


def _file(digest: str) -> str:
    return f"{MEDIA}/{digest[:2]}/{digest}"


def _cut(text: str) -> str:
    return text if len(text) <= TEXT else f"{text[:TEXT]} … ({len(text) - TEXT} more characters)"
