"""The tiny judge from outside: find its environment, build its checkpoint once, serve it, run its scripts.

torch lives in an environment of its own (`.venv-judge`, EVALUATOR_JUDGE_VENV), so everything that needs it is another
process. No torch here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from evaluator.errors import PrerequisiteError
from evaluator.judge import launch
from evaluator.judge.address import Address
from evaluator.judge.client import HttpJudge, HttpOptions
from evaluator.judge.server import Server, free_port

ROOT = Path(__file__).resolve().parents[3]
NAME = "judge"
START_S = 300.0  # importing torch on a busy machine takes a minute
BUILT_FROM = (
    "tests/judge/tiny/build.py",
    "tests/judge/tiny/train.py",
    "tests/judge/tiny/stripes.py",
    "evaluator/judge/local.py",
    "evaluator/judge/local_engine.py",
    "evaluator/judge/prompts.py",
    "evaluator/judge/render.py",
    "docker/requirements/judge-test.txt",
    "docker/requirements/judge-torch.txt",
)
CORPUS = ("checklist_yes_no", "choice", "pairwise", "realism", "score", "score_reason", "yes_no", "yes_no_reason")
"""Prompts whose words the tokenizer learns. A prompt more must not make another judge."""


def venv() -> Path:
    """Where the environment with torch is or would be."""
    return Path(os.environ.get("EVALUATOR_JUDGE_VENV") or ROOT / ".venv-judge")


def interpreter() -> Path:
    """Its Python. Raises PrerequisiteError if there is none."""
    python = venv() / "bin" / "python"
    if not python.is_file():
        raise PrerequisiteError(
            f"{venv()}: not there; make it from docker/requirements/judge-test.txt and judge-torch.txt "
            f"(./run.sh judge-demo does)"
        )
    return python


def checkpoint(say: Callable[[str], object]) -> Path:
    """The folder of the tiny model, built unless the same sources built it before."""
    folder = venv() / "tiny-judge" / _sources_digest() / "tiny"
    if folder.is_dir():
        return folder
    say("building the tiny judge (about a minute)")
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix="."))
    try:
        say(run("tests.judge.tiny.build", str(scratch / "tiny")).strip())
        (scratch / "tiny").rename(folder)
    finally:
        shutil.rmtree(scratch)
    return folder


def run(module: str, *arguments: str) -> str:
    """Standard output of a module of this project, run with torch. Raises PrerequisiteError with its last words."""
    command = [str(interpreter()), "-m", module, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise PrerequisiteError(f"{module} ended with status {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


@contextmanager
def served(folder: Path, log: Path, port: int = 0) -> Iterator[Server]:
    """The tiny server on a loopback port, ready."""
    address = Address(port=port or free_port())
    script = ["-m", "tests.judge.tiny.server", str(folder), "--port", str(address.port), "--name", NAME]
    with Server([str(interpreter()), *script], environment(), address, log) as server:
        server.wait_healthy(START_S)
        yield server


@contextmanager
def connected(server: Server, folder: Path, concurrency: int = 4) -> Iterator[HttpJudge]:
    """The judge behind a server, known by the digest of its files."""
    about = HttpOptions(model_sha256=launch.model_sha256(folder), concurrency=concurrency)
    with closing(HttpJudge.connect(server.address.url, about)) as judge:
        yield judge


def environment() -> dict[str, str]:
    """Variables for a process with torch: this project importable, one thread, nothing from a proxy."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **launch.OFFLINE}


def _sources_digest() -> str:
    prompts: Sequence[Path] = [ROOT / f"evaluator/judge/prompts/{name}.md" for name in ("common", *CORPUS)]
    whole = hashlib.sha256()
    for path in (*(ROOT / name for name in BUILT_FROM), *prompts):
        whole.update(path.read_bytes() + b"\0")
    return whole.hexdigest()[:16]
