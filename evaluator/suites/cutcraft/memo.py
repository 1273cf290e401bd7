"""Remembers what was made of the pictures and sounds of the last few clips, for several metrics look at the same ones.

Keyed by the identity of the inputs, which are kept alive as long as their result, so that an identity is never used
twice. Pure functions only: a result may be shared between threads.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def remembered(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep the `most` latest results of a function of positional arguments; plain values are compared by value."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        kept: OrderedDict[tuple[Any, ...], tuple[tuple[Any, ...], Any]] = OrderedDict()
        lock = threading.Lock()

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            key = tuple(map(_key, args))
            with lock:
                if key in kept:
                    kept.move_to_end(key)
                    found: R = kept[key][1]
                    return found
            made = function(*args, **kwargs)
            with lock:
                kept[key] = (args, made)
                while len(kept) > most:
                    kept.popitem(last=False)
            return made

        return call

    return wrap


def _key(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | tuple | None) else id(value)
