"""JSON to a judge and back, and what every way of failing means: transient (ask again) or an error (do not).

Whatever a server sends is untrusted: it is bounded, must be one JSON object, and its words are cleaned before they get
into a message. Knows HTTP, but not what is asked.
"""

from __future__ import annotations

import threading
import time
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import httpx2
import orjson

from evaluator.judge.address import Address
from evaluator.judge.transport import TROUBLE, ResponseTooLarge, http_client, read_body
from evaluator.judge.types import JudgeError, Status

MAX_REQUEST_BYTES = 128 << 20
"""Evidence is bounded where it is made; this only keeps a mistake from filling the memory of two processes."""

MAX_QUOTED = 300
"""Characters of a server's own words in a message."""

RETRIED = frozenset({408, 409, 425, 429})
"""Client errors that mean "not now". With every 5xx, these are transient."""


class Exchange:
    """Requests to one server, at most `concurrency` at a time, each over within `seconds`. Thread-safe."""

    def __init__(self, address: Address, concurrency: int, seconds: float) -> None:
        self.address = address
        self._http = http_client(address, concurrency, seconds)
        self._slots = threading.BoundedSemaphore(concurrency)

    def get(self, path: str) -> dict[str, Any]:
        """GET a JSON object. Raises JudgeError."""
        return as_object(self._send("GET", path, None))

    def post(self, path: str, body: Any) -> dict[str, Any]:
        """POST a JSON document, get a JSON object. Raises JudgeError."""
        content = orjson.dumps(body)
        if len(content) > MAX_REQUEST_BYTES:
            raise JudgeError(Status.ERROR, f"a request of {len(content)} bytes is refused: at most {MAX_REQUEST_BYTES}")
        return as_object(self._send("POST", path, content))

    def healthy(self) -> bool:
        """Whether GET /health is answered with 200."""
        try:
            self._send("GET", "/health", None)
        except JudgeError:
            return False
        return True

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _send(self, method: Literal["GET", "POST"], path: str, content: bytes | None) -> bytes:
        headers = {"content-type": "application/json"} if content is not None else {}
        with self._slots:
            try:
                with self._http.stream(method, path, content=content, headers=headers) as response:
                    body = read_body(response)
            except TROUBLE as error:
                words = f"{path}: {type(error).__name__}: {clean(str(error))}"
                raise JudgeError(Status.TRANSIENT, words) from error
            except ResponseTooLarge as error:
                raise JudgeError(Status.ERROR, f"{path}: {error}") from error
        check_response(path, response, body)
        return body


def check_response(path: str, response: httpx2.Response, body: bytes) -> None:
    """Raises JudgeError unless this is a plain 200."""
    code = response.status_code
    if code != 200:
        transient = code in RETRIED or code >= 500
        wait = retry_after_s(response.headers.get("retry-after", "")) if transient else None
        where = f" to {clean(response.headers['location'])}, not followed" if "location" in response.headers else ""
        message = f"{path}: HTTP {code}{where}: {server_message(body)}"
        raise JudgeError(Status.TRANSIENT if transient else Status.ERROR, message, wait)
    if response.headers.get("content-encoding", "identity") != "identity":
        raise JudgeError(Status.ERROR, f"{path}: a compressed answer is refused; none was asked for")


def as_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body. What cannot be read was cut or garbled on the way: transient."""
    try:
        tree = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise JudgeError(Status.TRANSIENT, f"the answer is not JSON ({error}): {clean_bytes(body)}") from error
    if not isinstance(tree, dict):
        raise JudgeError(Status.ERROR, f"expected a JSON object, found {clean_bytes(body)}")
    return tree


def retry_after_s(value: str) -> float | None:
    """Seconds of a Retry-After header (RFC 9110 section 10.2.3: seconds or a date); None if it says nothing usable."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def server_message(body: bytes) -> str:
    """What the server says about an error: {"error": {"message"}} (OpenAI), {"message"}, {"detail"}, or its bytes."""
    try:
        tree = orjson.loads(body)
    except orjson.JSONDecodeError:
        return clean_bytes(body)
    inner = tree.get("error", tree) if isinstance(tree, dict) else tree
    words = inner.get("message", inner.get("detail", inner)) if isinstance(inner, dict) else inner
    return clean(words) if isinstance(words, str) else clean_bytes(body)


def clean_bytes(body: bytes) -> str:
    """The beginning of a body, as text for a message."""
    return clean(body[: 4 * MAX_QUOTED].decode("utf-8", "replace")) or "(empty)"


def clean(words: str) -> str:
    """Untrusted text for a message: one line, printable, bounded."""
    line = "".join(sign if sign.isprintable() else " " for sign in words)
    return line if len(line) <= MAX_QUOTED else line[:MAX_QUOTED] + " ..."
