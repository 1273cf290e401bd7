"""Runs the checks of `inside.py` with the interpreter of the export environment, where there is one."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from pathlib import Path

import pytest

from evaluator.runtime.lock import read_lock
from evaluator.runtime.store import LOCK_FILE, ROOT, Store
from tests.device import environment

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


EMBEDDED = [(item.id, file.name) for item in read_lock(LOCK_FILE).embedded for file in item.files if file in item.made]


@pytest.fixture(scope="module")
def again(models: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files and the report of every embedded model that is exported, in both precisions."""
    folder = tmp_path_factory.mktemp("again")
    options = ("--keep", str(folder / "kept"), "--out", str(folder / "parity.json"))
    done = run("-m", "export", "parity", "--embedded", *options, timeout=550)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.slow
def test_exporting_again_passes_parity(again: Path) -> None:
    rows = json.loads((again / "parity.json").read_text(encoding="utf-8"))
    assert all(row["passed"] and row["weights"] == "published" for row in rows)
    for precision in ("fp32", "fp16"):
        found = {(row["model"], row["file"]) for row in rows if row["precision"] == precision}
        assert found == set(EMBEDDED), precision


@pytest.mark.slow
def test_a_half_file_differs_from_the_whole_one_and_is_about_half_as_large(again: Path) -> None:
    for model, file in EMBEDDED:
        whole, half = (again / "kept" / model / precision / file for precision in ("fp32", "fp16"))
        assert half.stat().st_size < 0.75 * whole.stat().st_size, file


@pytest.mark.slow
def test_every_embedded_file_becomes_an_engine_in_both_precisions(again: Path) -> None:
    engines = json.loads(environment.run("tests.export.engines", str(again / "kept")))
    expected = {f"{model}/{precision}/{file}" for model, file in EMBEDDED for precision in ("fp32", "fp16")}
    assert engines.keys() == expected
    assert {name: said for name, said in engines.items() if isinstance(said, str)} == {}


def test_nisqa_is_exported_from_the_mounted_weights(shared: Path, tmp_path: Path) -> None:
    done = run("-m", "export", "parity", "nisqa", "--models", str(shared / "data" / "weights"))
    assert done.returncode == 0, done.stderr[-3000:]
    rows = json.loads(done.stdout)
    assert [row["precision"] for row in rows] == 5 * ["fp32"] + 5 * ["fp16"]
    assert all(row["passed"] for row in rows)
