"""Finds the suites: every package in this folder, by its name; its `SUITE` is imported when somebody looks at it.

A run imports the protocols that its manifest names and no other, for a start costs what it imports. Importing a suite
imports its metrics and nothing heavier.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from evaluator.suites.base import Suite

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Each(Mapping[str, T], Generic[T]):
    """One fact of every suite by its id, in alphabetical order. A suite is imported when its fact is asked for."""

    fact: Callable[[Suite], T]

    def __getitem__(self, name: str) -> T:
        if name not in _names():
            raise KeyError(name)
        return self.fact(importlib.import_module(f"{__name__}.{name}").SUITE)

    def __contains__(self, name: object) -> bool:
        return name in _names()

    def __iter__(self) -> Iterator[str]:
        return iter(_names())

    def __len__(self) -> int:
        return len(_names())


def suites() -> Mapping[str, Suite]:
    """All suites by id, in alphabetical order."""
    return Each(lambda suite: suite)


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg))
