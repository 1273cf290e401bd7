"""What TensorRT refuses is rewritten into something that computes the same. The checks run where onnx is installed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.device import environment


def checks() -> list[str]:
    """Names of the checks, read from the source: importing it would need onnx."""
    tree = ast.parse((Path(__file__).parent / "rewrite_checks.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [item.name for item in functions if any(getattr(mark, "id", "") == "check" for mark in item.decorator_list)]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    """Check -> "ok" or its error."""
    told = environment.run("tests.device.rewrite_checks")
    return dict(line.split("\t", 1) for line in told.splitlines() if "\t" in line)  # type: ignore[misc]


@pytest.mark.parametrize("name", checks())
def test_rewriting(outcomes: dict[str, str], name: str) -> None:
    assert outcomes.get(name) == "ok"
