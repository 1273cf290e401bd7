"""Finds the suites: every package in this folder that defines `SUITE`.

Importing a suite imports its metrics and nothing heavier.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from evaluator.suites.base import Suite


@cache
def suites() -> dict[str, Suite]:
    """All suites by id, in alphabetical order."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    packages = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return {package.SUITE.id: package.SUITE for package in packages if hasattr(package, "SUITE")}
