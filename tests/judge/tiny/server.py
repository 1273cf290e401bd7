"""A small judge server on a CPU, in the dialect that the evaluator speaks to vLLM. Loopback only; for tests and demos.

    python -m tests.judge.tiny.server FOLDER [--port 0] [--name judge]

Prints one line of JSON with the port when it is ready. Answers one request at a time, so they are equal to the last bit
whatever else is asked.
"""

from __future__ import annotations

import argparse
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from evaluator.judge.local_engine import Engine
from tests.judge.tiny import wire

LARGEST = 128 << 20  # bytes of a request
FREE_TEXT = {"type": "string", "minLength": 1, "maxLength": 8}
"""What the model says where nothing constrains it: it was taught single tokens, so another must end its sentence."""


class Handler(BaseHTTPRequestHandler):
    """Routes; the engine and the served name are attributes of the server."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: TinyServer

    def log_message(self, *_: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        """Health, version and the served model."""
        engine, name = self.server.engine, self.server.name
        card = {"id": name, "object": "model", "owned_by": "tiny-judge", "trained": engine.trained}
        answers = {
            "/health": {},
            "/version": {"version": engine.version},
            "/v1/models": {"object": "list", "data": [card]},
        }
        if self.path in answers:
            self._send(200, answers[self.path])
        else:
            self._send(404, {"error": {"message": f"{self.path} does not exist"}})

    def do_POST(self) -> None:
        """Tokens of a text, and answers."""
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length) if length <= LARGEST else b""
        try:
            self._send(200, self._answer(json.loads(body)))
        except wire.Refused as refused:
            self._send(refused.code, {"error": {"message": str(refused), "code": refused.code}})
        except (ValueError, KeyError) as error:  # not JSON, an unreadable picture, no prompt, a schema without grammar
            self._send(400, {"error": {"message": str(error), "code": 400}})

    def _answer(self, body: Any) -> Any:
        if self.path == "/tokenize":
            tokens = self.server.engine.token_ids(str(body["prompt"]))
            return {"count": len(tokens), "tokens": tokens}
        if self.path != "/v1/chat/completions":
            raise wire.Refused(404, f"{self.path} does not exist")
        return complete(self.server.engine, self.server.name, body)

    def _send(self, code: int, tree: Any) -> None:
        data = json.dumps(tree).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class TinyServer(ThreadingHTTPServer):
    """The server with its model."""

    daemon_threads = True

    def __init__(self, engine: Engine, name: str, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.engine = engine
        self.name = name


def complete(engine: Engine, name: str, body: Any) -> Any:
    """The answer to a chat request. Raises Refused or ValueError."""
    asked = wire.read(body, name, engine.vocabulary)
    who = {"model": name, "system_fingerprint": "tiny-1"}
    if not asked.allowed:
        written, length = engine.write(asked.chat, ended(asked.schema or FREE_TEXT), asked.most)
        text = written.text if asked.schema or written.finish != "stop" else json.loads(written.text)
        return {**who, **wire.answer(text, written.finish, (length, written.tokens), [])}
    logprobs, length = engine.next_logprobs(asked.chat)
    best = max(asked.allowed, key=logprobs.__getitem__)
    told = [
        {"token": engine.text(token), "token_id": token, "logprob": float(logprobs[token])}
        for token in dict.fromkeys((best, *asked.told))
    ]
    return {**who, **wire.answer(engine.text(best), "length", (length, 1), told)}


def ended(schema: Any) -> Any:
    """The schema with whole numbers for numbers: the model was not taught to end decimals either."""
    if isinstance(schema, dict):
        return {key: "integer" if (key, value) == ("type", "number") else ended(value) for key, value in schema.items()}
    return [ended(item) for item in schema] if isinstance(schema, list) else schema


def main() -> int:
    """Load, say the port, serve until killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.judge.tiny.server", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--name", default="judge")
    given = parser.parse_args()
    server = TinyServer(Engine.load(given.folder), given.name, given.port)
    print(json.dumps({"ready": True, "port": server.server_port}), flush=True)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
