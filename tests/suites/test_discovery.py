"""Suites are found by the names of their packages, and a run imports the ones that its manifest names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.suites import Each, suites

PROGRAM = """
import json, sys
from pathlib import Path
from evaluator.commands import load
load(Path(sys.argv[1]), None)
print(json.dumps([name for name in sys.modules if name.startswith("evaluator.suites.")]))
"""


def test_a_suite_bears_the_name_of_its_package() -> None:
    assert {name: suite.id for name, suite in suites().items()} == {name: name for name in suites()}
    assert list(suites()) == sorted(suites())


def test_one_fact_of_every_suite() -> None:
    titles = Each(lambda suite: suite.title)
    assert dict(titles) == {name: suite.title for name, suite in suites().items()}
    assert len(titles) == len(suites())


@pytest.mark.parametrize("name", ["", "Core", "core.metrics", "..", "base"])
def test_a_name_that_is_no_suite_imports_nothing(name: str) -> None:
    assert name not in suites()
    assert suites().get(name) is None
    with pytest.raises(KeyError):
        suites()[name]


def test_reading_a_manifest_imports_no_other_protocol(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"not looked into")
    manifest = tmp_path / "run.jsonl"
    manifest.write_text('{"id": "a", "suite": "core", "video": "a.mp4"}\n', encoding="utf-8")
    told = subprocess.run([sys.executable, "-c", PROGRAM, str(manifest)], capture_output=True, check=True).stdout
    packages = {name.split(".")[2] for name in json.loads(told)}
    assert "core" in packages
    assert not packages & set(suites()) - {"core"}
