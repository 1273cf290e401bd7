"""Dependencies point one way, and heavy libraries stay where they belong."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

LAYERS = [
    {"errors", "schema"},
    {"manifest", "media", "runtime"},
    {"experts"},
    {"metrics"},
    {"suites"},
    {"runner"},
    {"report", "bench", "doctor"},
    {"cli", "commands", "demo", "__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names} | {"judge": 2, "stats": 2}
HEAVY = {"torch", "tensorrt", "nvidia", "transformers", "ray"}
MODULES = sorted((ROOT / "evaluator").rglob("*.py"))


def part(path: Path) -> str:
    """The top-level part of the package that a module belongs to."""
    inside = path.relative_to(ROOT / "evaluator").parts
    name = inside[0].removesuffix(".py")
    return next((known for known in LEVEL if name == known or name.startswith(f"{known}_")), name)


def imports(path: Path) -> Iterator[str]:
    """Dotted names of everything that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_its_own_layer_and_those_below(path: Path) -> None:
    here = part(path)
    if here == "__init__":
        return
    assert here in LEVEL, f"{here} has no place in the design"
    for name in imports(path):
        if not name.startswith("evaluator."):
            continue
        there = part(ROOT / "evaluator" / name.split(".")[1])
        if there != here and there in LEVEL:
            assert LEVEL[there] <= LEVEL[here], f"{here} must not import {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_imports_a_heavy_library_or_the_exporter(path: Path) -> None:
    roots = {name.split(".")[0] for name in imports(path)}
    assert not roots & HEAVY
    assert "export" not in roots
