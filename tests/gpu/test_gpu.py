"""The GPU checks as tests: they run where there is a GPU, and say why they do not elsewhere."""

from __future__ import annotations

import subprocess
import sys

import pytest

from evaluator.errors import EngineError
from evaluator.runtime.device import CudaDevice
from tests.conftest import ROOT
from tests.gpu import checks


@pytest.mark.gpu
@pytest.mark.parametrize("name", checks.CHECKS)
def test_on_a_gpu(name: str) -> None:
    try:
        CudaDevice()
    except EngineError as error:
        pytest.skip(f"no GPU: {error}")
    found = checks.run(name)
    if found.verdict == "skip":
        pytest.skip(str(found.found))
    assert found.verdict == "pass", found.found


def test_without_a_gpu_every_check_is_skipped_with_its_reason_and_none_fails() -> None:
    try:
        CudaDevice()
    except EngineError:
        for name in checks.CHECKS:
            found = checks.run(name)
            assert found.verdict == "skip", found
            assert "is not installed" in str(found.found) or "no CUDA device" in str(found.found)
        return
    pytest.skip("there is a GPU")


def test_a_check_that_breaks_has_failed_and_the_next_one_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("the driver went away")

    monkeypatch.setattr(checks, "CHECKS", {"broken": broken, "fine": lambda: {"a": 1}})
    assert [checks.run(name).verdict for name in checks.CHECKS] == ["fail", "pass"]
    assert "the driver went away" in checks.run("broken").found


def test_the_script_calls_the_checks(tmp_path) -> None:  # type: ignore[no-untyped-def]
    command = ["bash", str(ROOT / "docker" / "gpu-check.sh"), "--out", str(tmp_path / "verdicts.json")]
    done = subprocess.run(
        command, env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("SKIP") == len(checks.CHECKS)
    assert (tmp_path / "verdicts.json").is_file()
