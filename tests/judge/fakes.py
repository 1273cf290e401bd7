"""A judge without a model: answers follow from the bytes of the question, so that they can be checked."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluator.judge import prompts
from evaluator.judge.keys import request
from evaluator.judge.types import FramesPart, ImagePart, JudgeError, JudgeIdentity, Part, Question, Raw

JUDGE = JudgeIdentity("judge", "ab" * 32, "fake 1 flags 00")


class NoWait:
    """Ask again at once, up to three times."""

    def delay(self, key: str, attempt: int, error: JudgeError) -> float | None:
        return 0.0 if error.status == "transient" and attempt < 3 else None


def share(question: Question) -> float:
    """P(first label) in (0, 1), a function of everything that a judge sees."""
    seen = hashlib.sha256(json.dumps(request(question)).encode()).digest()
    return (seen[0] + 0.5) / 256


def honest(question: Question) -> Raw:
    """A label reply with mass 0.9, or the smallest JSON that a schema with one required string allows."""
    if not question.labels:
        return Raw(json.dumps({"observation": "seen", "answer": "Yes"}), "stop")
    rest = (1 - share(question)) / (len(question.labels) - 1)
    shares = {label: share(question) if index == 0 else rest for index, label in enumerate(question.labels)}
    logs = {label: math.log(0.9 * value) for label, value in shares.items()}
    return Raw(max(logs, key=logs.__getitem__), "length", logs, {"prompt_tokens": 10})


@dataclass
class FakeBackend:
    """Counts what it is asked; `reply` may raise JudgeError."""

    reply: Callable[[Question], Raw] = honest
    identity: JudgeIdentity = JUDGE
    asked: Counter[str] = field(default_factory=Counter)
    running: int = 0
    most: int = 0
    closed: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, question: Question) -> Raw:
        with self.lock:
            self.asked[question.item] += 1
            self.running += 1
            self.most = max(self.most, self.running)
        try:
            return self.reply(question)
        finally:
            with self.lock:
                self.running -= 1

    def close(self) -> None:
        self.closed = True


def picture(content: bytes = b"picture") -> ImagePart:
    return ImagePart(content, "image/png", "target")


def clip(*frames: bytes, step: float = 0.5) -> FramesPart:
    return FramesPart(frames, tuple(step * index for index in range(len(frames))), "image/jpeg", "target")


def ask(text: str = "Is it red?", item: str = "", evidence: tuple[Part, ...] = (), **settings: Any) -> Question:
    """A yes-or-no question."""
    return prompts.load("yes_no").ask(item or f"case/metric/{text}", evidence, {"question": text}, **settings)


def ask_json(text: str = "Is it red?", item: str = "case/metric/json") -> Question:
    return prompts.load("yes_no_reason").ask(item, (), {"question": text})


def yes_no(yes: float, mass: float = 0.9) -> Raw:
    logs: Mapping[str, float] = {"Yes": math.log(mass * yes), "No": math.log(mass * (1 - yes))}
    return Raw("Yes" if yes >= 0.5 else "No", "length", logs)
