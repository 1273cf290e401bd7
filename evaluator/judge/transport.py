"""HTTP to one checked address, with an end to everything: how long a request may take and how much may come back.

The socket layer is ours, so that the promise does not hang on options of a library: a connection goes to the address it
was made for or not at all, and every read and write gets what is left of the request's time, so that a server cannot
hold a request open by sending a byte now and then. No proxies, redirects, cookies, compression or TLS.
Knows nothing about judging.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpcore2
import httpx2

from evaluator.judge.address import Address

MAX_RESPONSE_BYTES = 4 << 20
"""An answer with its log-probabilities is a few kilobytes."""

CONNECT_TIMEOUT_S = 5.0

WRITE_BYTES = 1 << 16
"""A large request is written in pieces, so that a server that reads slowly meets the deadline between them."""

TROUBLE = (httpx2.TransportError, httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError)
"""What goes wrong on the way: may be tried again."""


class ResponseTooLarge(Exception):
    """The server sent more than an answer can have. Trying again would bring it again."""


class _Deadline(threading.local):
    """When the request of this thread must be over, on the monotonic clock."""

    ends = float("inf")

    def start(self, seconds: float) -> None:
        self.ends = time.monotonic() + seconds

    def left(self, timeout: float | None) -> float:
        """Seconds that one read or write may take. Raises ReadTimeout when the time of the request is used up."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the request took too long")
        return left if timeout is None else min(left, timeout)


class _Stream(httpcore2.NetworkStream):
    """A connection whose every operation ends with the request."""

    def __init__(self, inner: httpcore2.NetworkStream, deadline: _Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), WRITE_BYTES):
            self._inner.write(buffer[start : start + WRITE_BYTES], self._deadline.left(timeout))

    def close(self) -> None:
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _OnlyThere(httpcore2.NetworkBackend):
    """Connects to one address, whatever is asked for."""

    def __init__(self, address: Address, deadline: _Deadline) -> None:
        self._address = address
        self._deadline = deadline
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        if (host, port) != (self._address.host, self._address.port) or self._address.unix_path:
            raise httpcore2.ConnectError(f"a connection to {host} port {port} is refused: the judge is {self._address}")
        timeout = min(CONNECT_TIMEOUT_S, self._deadline.left(timeout))
        return _Stream(self._sockets.connect_tcp(host, port, timeout), self._deadline)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None
    ) -> httpcore2.NetworkStream:
        if path != self._address.unix_path:
            raise httpcore2.ConnectError(f"a connection to {path} is refused: the judge is {self._address}")
        timeout = min(CONNECT_TIMEOUT_S, self._deadline.left(timeout))
        return _Stream(self._sockets.connect_unix_socket(path, timeout), self._deadline)


class LoopbackTransport(httpx2.BaseTransport):
    """The transport of an `httpx2.Client` that can reach one address. Thread-safe.

    Raises what is in `TROUBLE`. `seconds` bounds a request from the start of connecting to the last byte.
    """

    def __init__(self, address: Address, connections: int, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = _Deadline()
        self._pool = httpcore2.ConnectionPool(
            max_connections=connections,
            keepalive_expiry=60.0,
            uds=address.unix_path,
            network_backend=_OnlyThere(address, self._deadline),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self._deadline.start(self._seconds)
        url = request.url
        assert isinstance(request.stream, httpx2.SyncByteStream)  # noqa: S101  (the client is synchronous)
        response = self._pool.handle_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions={"timeout": {"pool": self._seconds}},
            )
        )
        return httpx2.Response(response.status, headers=response.headers, stream=_Body(response))

    def close(self) -> None:
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    """The body of a response as it arrives."""

    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


def http_client(address: Address, connections: int, seconds: float) -> httpx2.Client:
    """A client for one address that reads no environment variable, follows nothing and remembers nothing."""
    return httpx2.Client(
        base_url=address.url,
        transport=LoopbackTransport(address, connections, seconds),
        trust_env=False,
        follow_redirects=False,
        timeout=None,  # the transport's deadline covers everything
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        headers={"accept": "application/json", "accept-encoding": "identity", "user-agent": "evaluator"},
    )


def read_body(response: httpx2.Response, limit: int = MAX_RESPONSE_BYTES) -> bytes:
    """The body, undecoded. Raises ResponseTooLarge as soon as it is larger than `limit`."""
    pieces, size = [], 0
    for piece in response.iter_raw():
        size += len(piece)
        if size > limit:
            raise ResponseTooLarge(f"the answer has more than {limit} bytes")
        pieces.append(piece)
    return b"".join(pieces)
