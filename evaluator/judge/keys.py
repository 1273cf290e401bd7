"""What makes two requests the same: the content that the judge sees and the judge that sees it, nothing else.

A request is the tree of everything that can change an answer: the chat as it is shown (text word for word, media by the
digest of their bytes, frames with their times), labels or schema, token limit, sample index. Who asks, when, how often,
through which address and under which file name are not in it: a changed picture is another request, a moved server is
not. Each request has three digests:

    key        request + weights + engine: what an answer may be replayed for
    portable   request + weights: compares an engine with its successor
    question   request alone: compares one judge with another (student and teacher)

Knows the vocabulary only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from evaluator.judge.render import turns
from evaluator.judge.types import AudioPart, FramesPart, ImagePart, JudgeIdentity, Part, Question, TextPart

REQUEST_VERSION = 1
"""Raised when the meaning of a request's fields changes."""

Tree = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Keys:
    """Digests of one request to one judge, hexadecimal."""

    key: str
    portable: str
    question: str


def request(question: Question) -> dict[str, Any]:
    """The request as records hold it. Two questions with equal requests have one answer."""
    return {
        "version": REQUEST_VERSION,
        "prompt_sha256": question.prompt_sha256,
        "turns": [{"role": turn.role, "parts": [_part(part) for part in turn.parts]} for turn in turns(question)],
        "labels": list(question.labels),
        "answer_schema": question.answer_schema,
        "max_tokens": question.max_tokens,
        "sample": question.sample,
        **({"temperature": question.temperature} if question.temperature else {}),
        **({"top_k": question.top_k} if question.top_k else {}),
    }


def keys(asked: Tree, identity: JudgeIdentity) -> Keys:
    """Digests of a request to a judge.

    A judge without a digest of its weights is known by its served name, which says less: it is marked as such, so that
    the two kinds never meet.
    """
    model = identity.model_sha256 or f"unverified name {identity.model}"
    return Keys(
        key=_sha256({"request": asked, "model": model, "engine": identity.engine}),
        portable=_sha256({"request": asked, "model": model}),
        question=_sha256({"request": asked}),
    )


def _sha256(tree: Any) -> str:
    """SHA-256 (hex) of the JSON of a tree, in the order of its names: decoders follow the order of a schema."""
    return hashlib.sha256(orjson.dumps(tree)).hexdigest()


def blobs(question: Question) -> Iterator[bytes]:
    """The bytes of all media of a question, in the order in which `blob_digests` of its request names them."""
    for part in question.parts:
        match part:
            case ImagePart():
                yield part.data
            case FramesPart():
                yield from part.frames
            case AudioPart():
                yield part.wav


def blob_digests(asked: Tree) -> Iterator[tuple[str, str]]:
    """(SHA-256, media type) of all media of a request."""
    for turn in asked["turns"]:
        for part in turn["parts"]:
            digests = part.get("sha256", ())
            yield from ((digest, part["mime"]) for digest in ([digests] if isinstance(digests, str) else digests))


def _part(part: Part) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"kind": "text", "evidence": part.evidence, "text": part.text}
        case ImagePart():
            return {"kind": "image", "mime": part.mime, "evidence": part.evidence, "sha256": part.sha256}
        case FramesPart():
            return {
                "kind": "frames",
                "mime": part.mime,
                "evidence": part.evidence,
                "times": list(part.times),
                "sha256": [hashlib.sha256(frame).hexdigest() for frame in part.frames],
            }
        case AudioPart():
            return {"kind": "audio", "mime": "audio/wav", "evidence": part.evidence, "sha256": part.sha256}
