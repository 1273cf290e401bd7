"""Which calls are about the same clip: those that share a picture, a sound or a case, directly or through others.

A source clip serves many systems, so a case is not enough: pictures of the same source must not be on both sides of a
split, and answers about them are not independent. Knows digests and names only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


class Clips:
    """Groups of linked names (disjoint sets). Memory: one entry per name."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def add(self, item: str, digests: Iterable[str]) -> None:
        """Note that a call of `item` (its case stands before the first slash) showed these media."""
        case = self._root(_case(item))
        for digest in digests:
            other = self._root(digest)
            case, other = min(case, other), max(case, other)
            self._parent[other] = case

    def group(self, item: str) -> str:
        """Name of the group of an item: the smallest name in it, whatever the order of the calls. KeyError if new."""
        if _case(item) not in self._parent:
            raise KeyError(item)
        return self._root(_case(item))

    def _root(self, name: str) -> str:
        self._parent.setdefault(name, name)
        while (parent := self._parent[name]) != name:
            self._parent[name] = self._parent[parent]  # halve the path
            name = parent
        return name


def held_out(group: str, share: float) -> bool:
    """True for about `share` of all groups: decided by the name alone, so that new clips move no old one.

    New cases that link two groups make one of them, with one name, and one of the two may change its side.
    """
    drawn = int.from_bytes(hashlib.sha256(group.encode()).digest()[:8], "big")
    return drawn < share * 2**64


def _case(item: str) -> str:
    return "case " + item.partition("/")[0]
