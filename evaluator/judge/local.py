"""A judge in this process: the same answers as from a server, from transformers, on a CPU or a GPU, one at a time.

For machines without a server, for tests and for audits: on a CPU in float32 an answer is the same to the last bit,
every time. Answers are slower than a server's as soon as there are many. Knows the vocabulary and the engine; torch is
loaded with the model and not before.
"""

from __future__ import annotations

from pathlib import Path

from evaluator.judge.launch import model_sha256
from evaluator.judge.local_engine import Chat, Clip, Content, Engine, Picture
from evaluator.judge.render import turns
from evaluator.judge.types import (
    SEES,
    AudioPart,
    FramesPart,
    ImagePart,
    JudgeError,
    JudgeIdentity,
    Modality,
    Part,
    Question,
    Raw,
    Status,
    TextPart,
)

MILLISECONDS = 1000
"""Frames a second of the clock that frame times are told in, as over HTTP."""


class LocalJudge:
    """A `Backend` without a server. Sees; does not hear."""

    def __init__(self, engine: Engine, identity: JudgeIdentity) -> None:
        self._engine = engine
        self._identity = identity

    @classmethod
    def load(
        cls,
        folder: Path,
        device: str = "cpu",
        threads: int = 1,
        name: str = "",
        modalities: frozenset[Modality] = SEES,
    ) -> LocalJudge:
        """Load a model directory, called by its own name if none is given.

        Raises PrerequisiteError if it or a library is missing.
        """
        engine = Engine.load(folder, device, threads)
        called, version = name or folder.resolve().name, f"local {engine.version}"
        return cls(engine, JudgeIdentity(called, model_sha256(folder), version, engine.trained, modalities))

    @property
    def identity(self) -> JudgeIdentity:
        """Who answers."""
        return self._identity

    def ask(self, question: Question) -> Raw:
        """One answer, uninterpreted. Raises JudgeError (error): asking again would change nothing."""
        try:
            chat = chat_of(question)
            return self._label(chat, question) if question.labels else self._text(chat, question)
        except ValueError as error:
            raise JudgeError(Status.ERROR, str(error)) from error

    def close(self) -> None:
        """Nothing to release before the process ends: the model may be shared."""

    def _label(self, chat: Chat, question: Question) -> Raw:
        tokens = {label: self._one_token(label) for label in question.labels}
        logprobs, length = self._engine.next_logprobs(chat)
        scored = {label: float(logprobs[token]) for label, token in tokens.items()}
        best = max(question.labels, key=scored.__getitem__)
        return Raw(best, "length", scored, {"prompt_tokens": length, "completion_tokens": 1})

    def _text(self, chat: Chat, question: Question) -> Raw:
        written, length = self._engine.write(
            chat, question.answer_schema, question.max_tokens, question.temperature, question.sample, question.top_k
        )
        return Raw(written.text, written.finish, usage={"prompt_tokens": length, "completion_tokens": written.tokens})

    def _one_token(self, label: str) -> int:
        tokens = self._engine.token_ids(label)
        if len(tokens) != 1:
            raise JudgeError(Status.ERROR, f"label {label!r} must be one token for this model, is {len(tokens)}")
        return tokens[0]


def chat_of(question: Question) -> Chat:
    """A question as every back end shows it. Raises ValueError for one that this judge cannot take in."""
    return [(turn.role, [_content(part) for part in turn.parts]) for turn in turns(question)]


def _content(part: Part) -> Content:
    match part:
        case TextPart():
            return part.text
        case ImagePart():
            return Picture(part.data)
        case FramesPart():
            return Clip(part.frames, tuple(round(time * MILLISECONDS) for time in part.times), MILLISECONDS)
        case AudioPart():
            raise ValueError("this judge does not hear; route sound to one that does")
