"""Runs the checks of `inside.py` with the interpreter of the export environment, where there is one."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from pathlib import Path

import pytest

from evaluator.runtime.store import ROOT, Store

PYTHON = Path(os.environ.get("EVALUATOR_EXPORT_VENV", ROOT / ".venv-export")) / "bin" / "python"

pytestmark = pytest.mark.skipif(not PYTHON.is_file(), reason=f"no export environment ({PYTHON})")


def checks() -> list[str]:
    """Names of the checks, read from the source: importing it would need torch."""
    tree = ast.parse((Path(__file__).parent / "inside.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [item.name for item in functions if any(getattr(mark, "id", "") == "check" for mark in item.decorator_list)]


def run(*arguments: str, timeout: int = 300) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PYTHON), *arguments], cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False
    )


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    """Check -> "ok" or its error."""
    done = run("-m", "tests.export.inside")
    lines = [line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line]
    return {"stderr": done.stderr[-3000:], **dict(lines)}


@pytest.mark.parametrize("name", checks())
def test_inside(outcomes: dict[str, str], name: str) -> None:
    assert outcomes.get(name) == "ok", outcomes["stderr"]


@pytest.mark.slow
def test_exporting_again_passes_parity(models: Store, tmp_path: Path) -> None:
    """Every embedded model that is exported, from its package to a parity report."""
    report = tmp_path / "parity.json"
    done = run("-m", "export", "parity", "--embedded", "--out", str(report), timeout=550)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = json.loads(report.read_text(encoding="utf-8"))
    assert {row["model"] for row in rows} == {item.id for item in models.lock.embedded if item.export}
    assert all(row["passed"] for row in rows)
    exported = {(item.id, file.name) for item in models.lock.embedded for file in item.files if file.how == "exported"}
    assert {(row["model"], row["file"]) for row in rows} == exported


def test_nisqa_is_exported_from_the_mounted_weights(shared: Path, tmp_path: Path) -> None:
    done = run("-m", "export", "parity", "nisqa", "--models", str(shared / "data" / "weights"))
    assert done.returncode == 0, done.stderr[-3000:]
    rows = json.loads(done.stdout)
    assert len(rows) == 5
    assert all(row["passed"] for row in rows)
