"""Scripts of these tests in the environments that have DALI and TensorRT for RTX, or torch: they score nothing."""

from __future__ import annotations

import os
import subprocess
import sysconfig
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
    return _output(module, [str(interpreter()), "-m", module, *arguments])


def run_with_torch(module: str, *arguments: str, dali: bool = False) -> str:
    """The same in the exporters' environment, which has torch. What it lacks comes from here, or where DALI is."""
    python = Path(os.environ.get("EVALUATOR_EXPORT_VENV") or ROOT / ".venv-export") / "bin" / "python"
    if not python.is_file():
        pytest.skip(f"{python} is not there: the exporters' environment has torch")
    behind = _output("sysconfig", [str(interpreter()), "-c", PLACE]).strip() if dali else sysconfig.get_path("purelib")
    return _output(module, [str(python), "-c", BEHIND, behind, module, *arguments])


PLACE = "import sysconfig; print(sysconfig.get_path('purelib'))"
BEHIND = "import runpy, sys; sys.path.append(sys.argv.pop(1)); runpy.run_module(sys.argv.pop(1), run_name='__main__')"


def _output(module: str, command: list[str]) -> str:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    done = subprocess.run(
        command, cwd=ROOT, env={**kept, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.fail(f"{module} ended with status {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout
