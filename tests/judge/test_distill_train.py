"""The recipe runs from end to end on the tiny judge: an untrained student learns to answer as the teacher does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.errors import PrerequisiteError
from evaluator.judge.distill_train import Settings, main, on_policy, supervised
from tests.conftest import ROOT
from tests.judge.tiny import process


@pytest.fixture(scope="module")
def interpreter() -> Path:
    """A Python with torch and TRL: the environment of the tiny judge with the extra, or one beside it."""
    folders = [os.environ.get("EVALUATOR_DISTILL_VENV"), ROOT / ".venv-distill", process.venv()]
    for python in (Path(folder) / "bin" / "python" for folder in folders if folder):
        looks = [python, "-c", "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ('torch', 'trl'))))"]
        if python.is_file() and subprocess.run(looks, check=False).returncode == 0:
            return python
    pytest.skip("no environment with torch and the extra evaluator[distill] (.venv-distill, EVALUATOR_DISTILL_VENV)")


@pytest.mark.slow
def test_both_steps_bring_a_student_to_its_teacher(interpreter: Path, tiny_checkpoint: Path, tmp_path: Path) -> None:
    script = [interpreter, "-m", "tests.judge.distilling", tiny_checkpoint, tmp_path]
    done = subprocess.run(script, cwd=ROOT, env=process.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["export"]["trained"] is False
    assert found["student"]["kappa"] < 0.3
    assert found["supervised"]["kappa"] >= 0.8
    assert found["on_policy"]["kappa"] >= 0.8
    assert found["on_policy"]["distance"] < found["supervised"]["distance"] < found["student"]["distance"]
    assert len(found["adapter"]) == 14, "seven matrices in each of two layers"
    assert all("language_model" in name for name in found["adapter"]), "the vision tower stays as it is"
    assert json.loads((tmp_path / "on_policy" / "config.json").read_text())["wiring_fixture"] is True


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    for train in (
        lambda: supervised(tmp_path, tmp_path, tmp_path, Settings()),
        lambda: on_policy(tmp_path, tmp_path, tmp_path, tmp_path, Settings()),
    ):
        with pytest.raises(PrerequisiteError, match="installed"):
            train()


@pytest.mark.parametrize(
    "arguments", [["on-policy", "rows", "student", "out"], ["supervised", "rows", "student", "out", "--teacher", "t"]]
)
def test_a_teacher_is_for_on_policy_only(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "--teacher belongs to on-policy" in capsys.readouterr().err


def test_the_recipe_itself_loads_no_torch() -> None:
    code = "import sys, evaluator.judge.distill_train; sys.exit(any(name in sys.modules for name in ('torch', 'trl')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
