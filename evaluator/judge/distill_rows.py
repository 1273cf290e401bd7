"""One answered call as one training row, in the form that TRL reads.

Chats are lists of {"role", "content": [{"type": "text", "text"} | {"type": "image"}]}; the n-th image of the prompt is
the n-th entry of `media`. The text is what the teacher saw, word for word. Knows records; no files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluator.judge.ledger import MEDIA
from evaluator.judge.record import Call
from evaluator.judge.types import Answer

TRAIN, HELD_OUT = "train", "held_out"


def row(call: Call, answer: Answer, split: str) -> dict[str, Any]:
    """The row. Its `id` is the digest of the request alone: the same for teacher and student."""
    turns = call.request["turns"]
    return {
        "id": call.keys.question,
        "task": call.task,
        "item": call.item,
        "split": split,
        "labels": call.request["labels"],
        "prompt": [{"role": turn["role"], "content": _content(turn["parts"])} for turn in turns],
        "media": [entry for turn in turns for part in turn["parts"] for entry in _media(part)],
        "completion": [{"role": "assistant", "content": [{"type": "text", "text": _completion(call, answer)}]}],
        "teacher": {
            "p": dict(answer.probabilities) or None,
            "label_mass": answer.label_mass,
            "model_sha256": call.judge.model_sha256,
            "engine": call.judge.engine,
            "trained": call.judge.trained,
            "key": call.keys.key,
        },
    }


def _completion(call: Call, answer: Answer) -> str:
    """The label that the teacher finds most probable (what it sampled may be another one), or its JSON as written."""
    return answer.label if answer.label is not None else (call.raw.text if call.raw else "")


def _content(parts: list[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Pieces of a turn; neighbouring texts are one piece."""
    pieces: list[dict[str, str]] = []
    for piece in (piece for part in parts for piece in _pieces(part)):
        if pieces and piece["type"] == "text" == pieces[-1]["type"]:
            pieces[-1] = {"type": "text", "text": pieces[-1]["text"] + piece["text"]}
        else:
            pieces.append(piece)
    return pieces


def _pieces(part: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    match part["kind"]:
        case "text":
            yield {"type": "text", "text": part["text"]}
        case "image":
            yield {"type": "image"}
        case "frames":
            for seconds in part["times"]:
                yield {"type": "text", "text": f"<{seconds:.1f} seconds>"}
                yield {"type": "image"}


def _media(part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    digests = part.get("sha256", [])
    digests = [digests] if isinstance(digests, str) else digests
    times = part.get("times", [None] * len(digests))
    for digest, seconds in zip(digests, times, strict=True):
        path = f"{MEDIA}/{digest[:2]}/{digest}"
        yield {"path": path, "sha256": digest, "mime": part["mime"], "seconds": seconds, "evidence": part["evidence"]}
