"""How many bytes crossed between host and device memory, and for whom: what shows that pictures stay where they are.

Whoever copies reports here; the copy is charged to the innermost account that its thread is inside of, or to nobody.
So are pictures that a device's decoder made, by where they were handed out. On a CPU nothing crosses and nothing is
counted. Index arrays, shapes and single numbers, a few bytes per call, are not counted either.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_ACCOUNT: ContextVar[tuple[Traffic, str] | None] = ContextVar("account", default=None)


NOTHING: Mapping[str, int] = {"bytes_to_device": 0, "bytes_to_host": 0, "pictures_on_device": 0, "pictures_on_host": 0}


class Traffic:
    """What was counted, by name of an account. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._accounts: dict[str, dict[str, int]] = {}

    @contextmanager
    def charged(self, name: str) -> Iterator[None]:
        """Inside, copies of this thread are charged to `name`."""
        token = _ACCOUNT.set((self, name))
        try:
            yield
        finally:
            _ACCOUNT.reset(token)

    def add(self, name: str, what: str, amount: int) -> None:
        """Charge an amount of one of NOTHING's kinds."""
        with self._lock:
            self._accounts.setdefault(name, {**NOTHING})[what] += amount

    def facts(self) -> dict[str, dict[str, int]]:
        """Account -> amounts by kind; empty if nothing was counted."""
        with self._lock:
            return {name: dict(own) for name, own in sorted(self._accounts.items())}


@contextmanager
def on_behalf_of(name: str) -> Iterator[None]:
    """Inside, copies are charged to `name` by whoever counts this thread's."""
    current = _ACCOUNT.get()
    if current is None:
        yield
        return
    with current[0].charged(name):
        yield


def went_up(size: int) -> None:
    """`size` bytes were copied to a device."""
    _count("bytes_to_device", size)


def came_down(size: int) -> None:
    """`size` bytes were copied to the host."""
    _count("bytes_to_host", size)


def handed_out(pictures: int, on_device: bool) -> None:
    """Pictures that a device made were given to somebody, there or on the host."""
    _count("pictures_on_device" if on_device else "pictures_on_host", pictures)


def _count(what: str, amount: int) -> None:
    current = _ACCOUNT.get()
    if current is not None:
        current[0].add(current[1], what, amount)
