"""Refreshing the lock: what changes, what does not, and how it is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.errors import PrerequisiteError
from evaluator.runtime.lock import read_lock
from evaluator.runtime.store import LOCK_FILE
from export import relock as relocking
from export.relock import pretty, relock
from tests.runtime.build import ZEROS, entry, file, put, sha, tree

EXPORT = {"recipe": "export/recipes/alpha.py", "sha256": ZEROS, "opset": 17, "precision": "fp32"}


@pytest.fixture
def lock_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(relocking, "recipe_digest", lambda model: sha(model.encode()))
    path = tmp_path / "lock.json"
    items = entry(files=[file(how="exported"), file("names.csv")], export=EXPORT), entry("beta", "hearing")
    path.write_text(pretty(tree(*items)))
    return path


def test_exported_files_and_the_recipe_are_refreshed(tmp_path: Path, lock_file: Path) -> None:
    put(tmp_path, "alpha", content=b"new graph")
    put(tmp_path, "alpha", "names.csv", b"not exported")
    put(tmp_path, "beta", content=b"not ours")
    assert relock(lock_file, tmp_path) == ["alpha: refreshed"]
    found = read_lock(lock_file)
    assert found["alpha"].file("net.onnx").sha256 == sha(b"new graph")
    assert found["alpha"].file("net.onnx").size == 9
    assert found["alpha"].file("names.csv").sha256 == file()["sha256"]
    assert found["alpha"].export is not None
    assert found["alpha"].export.sha256 == sha(b"alpha")
    assert found["beta"].files[0].sha256 == file()["sha256"]


def test_a_second_time_changes_nothing(tmp_path: Path, lock_file: Path) -> None:
    relock(lock_file, tmp_path)
    before = lock_file.read_bytes()
    assert relock(lock_file, tmp_path) == []
    assert lock_file.read_bytes() == before


def test_a_lock_that_would_be_wrong_is_not_written(tmp_path: Path, lock_file: Path) -> None:
    broken = json.loads(lock_file.read_text()) | {"capabilities": {}}
    lock_file.write_text(pretty(broken))
    before = lock_file.read_bytes()
    with pytest.raises(PrerequisiteError):
        relock(lock_file, tmp_path)
    assert lock_file.read_bytes() == before


def test_the_shipped_lock_is_in_its_canonical_form() -> None:
    text = LOCK_FILE.read_text(encoding="utf-8")
    assert pretty(json.loads(text)) == text


def test_lists_of_scalars_take_one_line_and_nothing_is_lost() -> None:
    content = {"b": [1, 2, "x"], "f": [1, "x [y]"], "a": [{"c": []}, {"d": [[1, 2], [3]]}], "e": "[\n  1\n]"}
    text = pretty(content)
    assert json.loads(text) == content
    assert '"b": [1, 2, "x"]' in text
    assert text.index('"a"') < text.index('"b"')
