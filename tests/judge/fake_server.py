"""A server that speaks vLLM's dialect without a model, and can be told to misbehave in every way that we know of.

Its answers follow from a hash of what is asked, so that a wrong, lost or swapped answer shows. Standard library only.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any

MODEL = "judge"
FINGERPRINT = "fake-1"

Fault = Callable[["Handler"], bool]
"""Spoils a response; True if nothing else is to be sent."""


@dataclass
class Behaviour:
    """What the server does. The defaults are those of a good one."""

    model: str = MODEL
    fingerprint: str = FINGERPRINT
    ignores_labels: bool = False  # 200, but any token may come out
    ignores_schemas: bool = False
    pads_json: bool = False
    masks_logprobs: bool = False
    blind: bool = False  # drops every part but text
    timeless: bool = False  # drops the times of frames
    text: str = "a plain text"  # what it writes where neither labels nor a schema are given
    mood: float = 0.0  # size of a random change of every log-probability
    message: dict[str, Any] = field(default_factory=dict)  # replaces parts of the answer's message
    card: dict[str, Any] = field(default_factory=dict)
    fault: Callable[[int], Fault | None] = lambda _: None  # by number of the chat request
    seen: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)  # path, headers, body
    busiest: int = 0  # chat requests at a time
    chats: int = 0
    busy: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def token_ids(text: str) -> list[int]:
    """One token for Yes, No and single signs, else one per sign."""
    return [{"Yes": 7, "No": 8}[text]] if text in {"Yes", "No"} else [100 + ord(sign) for sign in text]


def token_text(number: int) -> str:
    return {7: "Yes", 8: "No"}.get(number) or chr(number - 100)


def logprob(asked: object, number: int) -> float:
    """Log-probability of a token over a vocabulary of which no more than 32 tokens hold any mass."""
    digest = hashlib.sha256(f"{json.dumps(asked, sort_keys=True)} {number}".encode()).digest()
    return math.log((1 + digest[0]) / 256 / 32)


def complete(body: dict[str, Any], how: Behaviour) -> dict[str, Any]:
    """The response to a chat request."""
    asked = {"messages": body["messages"], "times": body.get("media_io_kwargs")}
    if how.timeless:
        asked.pop("times")
    if how.blind:
        asked = {"text": [part for turn in body["messages"] for part in turn["content"] if part["type"] == "text"]}
    text, logprobs = _answer(body, asked, how)
    choice = {
        "index": 0,
        "finish_reason": "length" if body["max_tokens"] == 1 else "stop",
        "message": {"role": "assistant", "content": text, **how.message},
        "logprobs": logprobs,
    }
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": None}
    return {"model": how.model, "system_fingerprint": how.fingerprint, "choices": [choice], "usage": usage}


def _answer(body: dict[str, Any], asked: object, how: Behaviour) -> tuple[str, dict[str, Any] | None]:
    if schema := body.get("response_format", {}).get("json_schema", {}).get("schema"):
        if how.ignores_schemas:
            return "maple", None
        answer = {name: rule["enum"][0] for name, rule in schema["properties"].items()}
        return json.dumps(answer, indent=9 if how.pads_json else None), None
    if "logprob_token_ids" not in body:
        return how.text, None
    wanted = body["logprob_token_ids"]
    told = {number: logprob(asked, number) + how.mood * secrets.randbelow(1000) / 1000 for number in wanted}
    if how.masks_logprobs:
        whole = math.log(sum(math.exp(value) for value in told.values()))
        told = {number: value - whole for number, value in told.items()}
    allowed = [9 + 100] if how.ignores_labels else body["allowed_token_ids"]
    best = max(allowed, key=lambda number: logprob(asked, number))
    entries = [{"token": token_text(number), "logprob": value, "bytes": []} for number, value in told.items()]
    return token_text(best), {"content": [{"token": token_text(best), "logprob": -1.0, "top_logprobs": entries}]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one packet
    how: Behaviour

    def log_message(self, *_: object) -> None: ...

    def address_string(self) -> str:
        return "client"

    def do_GET(self) -> None:
        self.how.seen.append((self.path, dict(self.headers), None))
        cards = [{"id": self.how.model, "owned_by": "fake", **self.how.card}]
        known: dict[str, Any] = {"/health": {}, "/version": {"version": "1.0"}, "/v1/models": {"data": cards}}
        self.reply(200 if self.path in known else 404, known.get(self.path, {}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.how.seen.append((self.path, dict(self.headers), body))
        if self.path == "/tokenize":
            return self.reply(200, {"tokens": token_ids(body["prompt"])})
        with self.how.lock:
            number = self.how.chats
            self.how.chats += 1
            self.how.busy += 1
            self.how.busiest = max(self.how.busiest, self.how.busy)
        try:
            fault = self.how.fault(number)
            if fault is None or not fault(self):
                self.reply(200, complete(body, self.how))
        finally:
            with self.how.lock:
                self.how.busy -= 1

    def reply(self, code: int, tree: Any, cut: int | None = None, **headers: str) -> None:
        self.raw(code, json.dumps(tree).encode(), cut, **headers)

    def raw(self, code: int, data: bytes, cut: int | None = None, **headers: str) -> None:
        """`cut`: send so many bytes of what was announced, and hang up."""
        self.send_response(code)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        try:
            self.wfile.write(data[:cut])
            self.wfile.flush()
        except OSError:
            self.close_connection = True  # the client has had enough
        if cut is not None:
            self.close_connection = True


# ------------------------------------------------------------------------------------------------------ faults


def reset(handler: Handler) -> bool:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()
    return True


def status(code: int, **headers: str) -> Fault:
    def fault(handler: Handler) -> bool:
        handler.reply(code, {"error": {"message": f"trouble {code}"}}, **headers)
        return True

    return fault


def truncated(handler: Handler) -> bool:
    handler.reply(200, {"choices": ["x" * 500]}, cut=100)
    return True


def garbled(handler: Handler) -> bool:
    handler.raw(200, b'{"choices": [{"mess')
    return True


def slow(seconds: float) -> Fault:
    def fault(_: Handler) -> bool:
        time.sleep(seconds)
        return False

    return fault


def body(data: bytes, **headers: str) -> Fault:
    def fault(handler: Handler) -> bool:
        handler.raw(200, data, **headers)
        return True

    return fault


def dripping(pieces: Iterator[bytes]) -> Fault:
    """Sends a piece ten times a second: no single read ever times out."""

    def fault(handler: Handler) -> bool:
        try:
            for piece in pieces:
                handler.wfile.write(piece)
                handler.wfile.flush()
                time.sleep(0.1)
        except OSError:
            handler.close_connection = True
        return True

    return fault


# ------------------------------------------------------------------------------------------------------ serving


class _Tcp(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None: ...


class _Unix(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None: ...


@contextmanager
def running(how: Behaviour, unix_path: Path | None = None) -> Iterator[str]:
    """A server in threads of this process; its URL."""
    handler = type("Handler", (Handler,), {"how": how})
    server = _Unix(str(unix_path), handler) if unix_path else _Tcp(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"unix:{unix_path}" if unix_path else f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":  # stands in for vLLM: fake_server.py serve MODEL --port N ...
    port = int(sys.argv[sys.argv.index("--port") + 1])
    called = sys.argv[sys.argv.index("--served-model-name") + 1] if "--served-model-name" in sys.argv else MODEL
    written = Behaviour(called, text="<answer>2.50</answer>")
    _Tcp(("127.0.0.1", port), type("Handler", (Handler,), {"how": written})).serve_forever()
