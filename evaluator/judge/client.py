"""A judge behind HTTP: an OpenAI-compatible server on loopback or a unix socket, vLLM in production.

    address    where a judge may live
    transport  sockets: one address, bounded time and size
    exchange   JSON, and which failures are worth another try
    dialect    question -> request, response -> answer

This module puts them together and knows who answers. It does not retry, keep or interpret answers.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.errors import JudgeUnusableError
from evaluator.judge import probes
from evaluator.judge.address import check_url
from evaluator.judge.dialect import CHAT, chat_request, read_answer
from evaluator.judge.exchange import Exchange, clean
from evaluator.judge.types import SEES, JudgeError, JudgeIdentity, Modality, Question, Raw, Status


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """What the user knows about a server that the server does not say, and how it may be used."""

    model: str = ""  # served name; needed only where several are served
    named_like: str = ""  # what the served name must contain (any case): the only model that is wanted there
    model_sha256: str = ""  # digest of the model directory, if we have it
    flags_sha256: str = ""  # digest of the launch flags, if we launched it
    modalities: frozenset[Modality] = SEES
    concurrency: int = 8  # at most the server's own limit of sequences
    seconds: float = 300.0  # from the start of connecting to the last byte of an answer


class HttpJudge:
    """A `Backend` over HTTP. Thread-safe; at most `concurrency` requests are under way at a time."""

    def __init__(self, exchange: Exchange, identity: JudgeIdentity, fingerprint: str) -> None:
        self._exchange = exchange
        self._identity = identity
        self._fingerprint = fingerprint
        self._ids: dict[str, int] = {}
        self._lock = threading.Lock()

    @classmethod
    def connect(cls, url: str, options: HttpOptions | None = None) -> HttpJudge:
        """Meet the server at `url`.

        Raises UsageError for an address that is not loopback, JudgeUnusableError if nobody answers there or the model
        is not served.
        """
        options = options or HttpOptions()
        exchange = Exchange(check_url(url), options.concurrency, options.seconds)
        try:
            return cls(exchange, *identify(exchange, options))
        except JudgeError as error:
            exchange.close()
            raise JudgeUnusableError(f"no judge answers at {url}: {error}") from error
        except JudgeUnusableError:
            exchange.close()
            raise

    @property
    def identity(self) -> JudgeIdentity:
        """Who answers."""
        return self._identity

    def ask(self, question: Question) -> Raw:
        """One answer, uninterpreted. Raises JudgeError."""
        ids = [self.label_id(label) for label in question.labels]
        tree = self._exchange.post(CHAT, chat_request(question, self._identity.model, ids))
        self._require_same(tree)
        return read_answer(tree, question, ids)

    def label_id(self, label: str) -> int:
        """The token that is `label`. Raises JudgeError (error) if it is not exactly one token for this model."""
        with self._lock:
            known = self._ids.get(label)
        if known is None:
            known = token_id(self._exchange, self._identity.model, label)
            with self._lock:
                self._ids[label] = known
        return known

    def healthy(self) -> bool:
        """Whether the server says that it is well."""
        return self._exchange.healthy()

    def close(self) -> None:
        """Close all connections."""
        self._exchange.close()

    def _require_same(self, tree: Mapping[str, Any]) -> None:
        """Raises JudgeError (error) if not the one whom we met answers: a restart with another model or other flags."""
        met = (self._identity.model, self._fingerprint)
        now = (tree.get("model"), tree.get("system_fingerprint") or "")
        if now != met:
            raise JudgeError(Status.ERROR, clean(f"another judge answers than at the start: {now}, was {met}"))


def token_id(exchange: Exchange, model: str, label: str) -> int:
    """The token that is `label` for a model. Raises JudgeError (error) if it is not exactly one."""
    body = {"model": model, "prompt": label, "add_special_tokens": False}
    tokens = exchange.post("/tokenize", body).get("tokens")
    if not isinstance(tokens, list) or len(tokens) != 1 or not isinstance(tokens[0], int):
        raise JudgeError(Status.ERROR, f"label {label!r} must be one token for {model}, is {str(tokens)[:80]}")
    return tokens[0]


def identify(exchange: Exchange, options: HttpOptions) -> tuple[JudgeIdentity, str]:
    """Who serves there, by its own word and by what the user knows; and the fingerprint that its answers carry.

    The fingerprint is learnt from an answer to a question of no interest. Raises JudgeError or JudgeUnusableError.
    """
    card = _served(exchange.get("/v1/models"), options)
    model = str(card["id"])
    fingerprint = str(exchange.post(CHAT, _greeting(exchange, model)).get("system_fingerprint") or "")
    version = exchange.get("/version").get("version", "")
    flags = f"flags:{options.flags_sha256}" if options.flags_sha256 else ""
    words = (str(card.get("owned_by", "server")), str(version), fingerprint, flags)
    identity = JudgeIdentity(
        model=model,
        model_sha256=options.model_sha256,
        engine=" ".join(clean(word) for word in words if word),
        trained=card.get("trained") is not False,
        modalities=options.modalities,
    )
    return identity, fingerprint


def _greeting(exchange: Exchange, model: str) -> dict[str, Any]:
    """The body of a question like any other, of one token."""
    asked = probes.question(probes.LOOK)
    return chat_request(asked, model, [token_id(exchange, model, label) for label in asked.labels])


def _served(listing: dict[str, Any], options: HttpOptions) -> dict[str, Any]:
    """The entry of the model to ask: the wanted one, or the only one."""
    wanted, like = options.model, options.named_like.lower()
    entries = listing.get("data")
    cards = [card for card in entries if isinstance(card, dict) and "id" in card] if isinstance(entries, list) else []
    alike = [card for card in cards if like in str(card["id"]).lower()]
    chosen = [card for card in alike if card["id"] == wanted] if wanted else alike
    if len(chosen) != 1:
        names = clean(", ".join(str(card["id"]) for card in cards)) or "nothing"
        called = f" called like {options.named_like!r}" if like else ""
        asked = f"model {wanted!r}" if wanted else f"exactly one model{called}"
        raise JudgeUnusableError(f"expected {asked} to be served, found {names}")
    return chosen[0]
