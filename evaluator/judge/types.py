"""The vocabulary of judging: what is asked, about which evidence, and what came back.

Frozen data only. An answer that is not `ok` carries no label and no probability, so that it can never become a score.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class Modality(StrEnum):
    TEXT = "text"
    IMAGE = "image"
    VIDEO = "video"
    AUDIO = "audio"


SEES = frozenset({Modality.TEXT, Modality.IMAGE, Modality.VIDEO})
"""What a judge perceives unless more is said of it."""


class Evidence(StrEnum):
    """What a part of the evidence really is; substitutes are never mixed with native evidence in one aggregate."""

    NATIVE = "native"  # the picture or the sound itself
    MEL_IMAGE = "mel_image"  # sound shown as a picture
    TRANSCRIPT = "transcript"
    TAGS = "tags"
    FACTS = "facts"  # signal facts, shot lists, measurements as text


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text that we wrote (`untrusted=False`), or that came with a clip or from a model and is delimited as data."""

    text: str
    name: str = ""  # what the prompt calls it, for example "caption"
    untrusted: bool = False
    evidence: Evidence = Evidence.NATIVE

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ImagePart:
    """One still picture, encoded (PNG or JPEG bytes)."""

    data: bytes
    mime: str
    name: str = ""
    evidence: Evidence = Evidence.NATIVE

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class FramesPart:
    """An even number of encoded frames of one clip with their times in seconds (the model merges frames in pairs)."""

    frames: tuple[bytes, ...]
    times: tuple[float, ...]
    mime: str
    name: str = ""
    evidence: Evidence = Evidence.NATIVE

    @property
    def sha256(self) -> str:
        whole = hashlib.sha256(repr(self.times).encode())
        for frame in self.frames:
            whole.update(hashlib.sha256(frame).digest())
        return whole.hexdigest()


@dataclass(frozen=True, slots=True)
class AudioPart:
    """Sound as a 16 kHz mono PCM16 WAV file."""

    wav: bytes
    name: str = ""
    evidence: Evidence = Evidence.NATIVE

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.wav).hexdigest()


Part = TextPart | ImagePart | FramesPart | AudioPart


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a judge. At most one of `labels` and `answer_schema` is given; without both, the answer is text.

    `item` names who asks (case, metric, question id); it is not part of the key, so equal questions share an answer.
    """

    item: str
    task: str  # prompt id, for example "checklist_yes_no"
    prompt_sha256: str
    parts: tuple[Part, ...]  # media first, the question last; `render.turns` is how every back end shows them
    labels: tuple[str, ...] = ()  # one-token labels, in order
    answer_schema: Mapping[str, Any] | None = None
    modalities: frozenset[Modality] = frozenset({Modality.TEXT})
    max_tokens: int = 1
    sample: int = 0  # index of a repeated ask, and the seed of a drawn answer
    temperature: float = 0.0  # of a written answer; 0 = the likeliest text, every time
    top_k: int = 0  # a drawn answer takes each token from this many likeliest; 0 = from all
    system: str = ""  # our rules; nothing that came with a clip or from a model ever stands here
    protocol_deviation: bool = False  # substitute evidence stands in for what the protocol shows


class Status(StrEnum):
    OK = "ok"
    UNPARSED = "unparsed"  # not what the schema or the labels allow
    REFUSED = "refused"  # the judge declined
    TRUNCATED = "truncated"  # cut off by the token limit
    TRANSIENT = "transient"  # transport trouble outlasted the retries
    JUDGE_MISSING = "judge_missing"  # replay: not in the ledger
    NOT_AVAILABLE = "not_available"  # no endpoint covers the modalities and no substitute is allowed
    ERROR = "error"  # the server refused the request


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `probabilities`, `label_mass`, `margin` and `near_tie` exist for label questions that are ok."""

    status: Status
    key: str  # ledger key of the request
    label: str | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)  # over the labels, sums to 1
    label_mass: float | None = None  # share of the whole vocabulary's probability that the labels hold
    margin: float | None = None  # best minus second best probability
    near_tie: bool = False
    value: Any = None  # the parsed JSON of a schema question, or the plain text as it was written
    message: str = ""  # why there is no answer
    substitute: bool = False  # substitute evidence stood in for what the protocol shows


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """Which judge answered; part of every key and of the run header."""

    model: str  # served name
    model_sha256: str  # digest over the digests of all files of the model directory; "" if only the server knows
    engine: str  # name and version, with a digest of its flags
    trained: bool = True  # False for the wiring fixture: its answers mean nothing
    modalities: frozenset[Modality] = SEES


@dataclass(frozen=True, slots=True)
class Raw:
    """What a back end returns before anybody interprets it: verbatim text and first-token log-probabilities."""

    text: str
    finish_reason: str  # "stop", "length", "refusal", ...
    label_logprobs: Mapping[str, float] = field(default_factory=dict)  # natural log, over the full vocabulary
    usage: Mapping[str, int] = field(default_factory=dict)


class Backend(Protocol):
    """Something that can be asked: an HTTP server or a model in this process. Safe to call from several threads."""

    @property
    def identity(self) -> JudgeIdentity:
        """Who answers."""

    def ask(self, question: Question) -> Raw:
        """One answer, uninterpreted. Raises JudgeError: `transient` may be retried, anything else may not."""

    def close(self) -> None:
        """Release sockets or memory."""


class JudgeError(Exception):
    """A back end could not answer. `status` is what records will say; `retry_after` is the server's wish in seconds."""

    def __init__(self, status: Status, message: str, retry_after: float | None = None) -> None:
        self.status = status
        self.retry_after = retry_after
        super().__init__(message)


class RetryPolicy(Protocol):
    """When to ask again. Pure: equal arguments give equal delays, so that a run can be repeated."""

    def delay(self, key: str, attempt: int, error: JudgeError) -> float | None:
        """Seconds to wait after failed attempt 1, 2, ... of the request `key`; None to give up."""
