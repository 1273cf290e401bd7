"""Scripts of these tests in the environment that has DALI and TensorRT for RTX, which score nothing and live apart."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def interpreter() -> Path:
    """Its Python; skips the test if there is none."""
    venv = Path(os.environ.get("EVALUATOR_DEVICE_VENV") or ROOT / ".venv-device")
    python = venv / "bin" / "python"
    if not python.is_file():
        pytest.skip(f"{venv} is not there: it is made from docker/requirements/device-test.txt (./run.sh test)")
    return python


def run(module: str, *arguments: str) -> str:
    """Standard output of a module of this project there. Fails the test with its last words."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    command = [str(interpreter()), "-m", module, *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env={**kept, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.fail(f"{module} ended with status {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout
