"""Where a judge may live: a loopback address in digits, or a unix socket. Nothing else, and no name is ever looked up.

A URL is matched as a whole against one pattern instead of being taken apart by a URL library, so that there is no
second reading of it. Knows nothing about HTTP.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address

from evaluator.errors import UsageError

LOOPBACK = IPv4Network("127.0.0.0/8")
LOOPBACK_6 = IPv6Address("::1")
MAX_UNIX_PATH = 107
"""Bytes that the kernel has for the path of a socket, without the closing zero."""

_URL = re.compile(
    r"http://(?:(?P<v4>[0-9.]{7,15})|\[(?P<v6>[0-9a-fA-F:]{2,39})\])(?::(?P<port>[0-9]{1,5}))?/?(?:v1/?)?"
)
_UNIX = re.compile(r"unix:(?P<path>/[^\0]+)")


@dataclass(frozen=True, slots=True)
class Address:
    """A checked place: `host` is a loopback literal with a port, or `unix_path` is set and the host means nothing."""

    host: str = "127.0.0.1"
    port: int = 80
    unix_path: str | None = None

    @property
    def url(self) -> str:
        """Origin for requests, made of the checked parts only."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"unix:{self.unix_path}" if self.unix_path else self.url


def check_url(url: str) -> Address:
    """The address that a --judge-url means. Raises UsageError unless it is loopback in digits or a unix socket.

    Accepted: http://127.0.0.1:8000, http://[::1]:8000, both with an optional /v1, and unix:/absolute/path. A server in
    another container is reached by sharing its network namespace.
    """
    if found := _UNIX.fullmatch(url):
        return _unix(url, found["path"])
    found = _URL.fullmatch(url)
    if found is None or not _is_loopback(found["v4"], found["v6"]):
        raise _refused(url, "it is not a loopback address in digits")
    port = int(found["port"] or 80)
    if not 0 < port < 65536:
        raise _refused(url, f"{port} is not a port")
    host = found["v4"] or str(LOOPBACK_6)
    return Address(host=host, port=port)


def _unix(url: str, path: str) -> Address:
    if len(path.encode()) > MAX_UNIX_PATH:
        raise _refused(url, f"the path of a socket has at most {MAX_UNIX_PATH} bytes")
    return Address(unix_path=path)


def _is_loopback(v4: str | None, v6: str | None) -> bool:
    """Strict literals: four decimal numbers without leading zeros in 127/8, or ::1. Mapped addresses are refused."""
    try:
        return IPv4Address(v4) in LOOPBACK if v4 else IPv6Address(v6) == LOOPBACK_6
    except AddressValueError:
        return False


def _refused(url: str, why: str) -> UsageError:
    return UsageError(
        f"judge URL {url!r} is refused: {why}. A judge is reached on this machine only, for example at "
        f"http://127.0.0.1:8000, http://[::1]:8000 or unix:/run/judge.sock; names are not looked up, localhost neither."
    )
