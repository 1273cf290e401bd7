"""Checks that run in an environment without pytest: registered by name, told as `name <TAB> ok, or the error`."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping

Check = Callable[[], None]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    """Register a check under its name."""
    CHECKS[function.__name__] = function
    return function


def run(checks: Mapping[str, Check]) -> None:
    """Run every check; a failure is told on stderr in full and on stdout in one line."""
    for name, function in checks.items():
        try:
            function()
            outcome = "ok"
        except Exception as error:
            traceback.print_exc()
            outcome = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(f"{name}\t{outcome}", flush=True)
