"""Fixtures of the tiny judge: its checkpoint, its server, and why a test skips without them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import PrerequisiteError
from evaluator.judge.client import HttpJudge
from evaluator.judge.server import Server
from tests.judge.tiny import process


@pytest.fixture(scope="session")
def tiny_checkpoint() -> Path:
    """The model directory of the tiny judge."""
    try:
        process.interpreter()
    except PrerequisiteError as error:
        pytest.skip(f"no environment for the tiny judge: {error}")
    return process.checkpoint(print)


@pytest.fixture(scope="session")
def tiny_report(tiny_checkpoint: Path) -> dict[str, Any]:
    """What the in-process judge answers: one start of it, many questions (`tests.judge.tiny.report`)."""
    found: dict[str, Any] = json.loads(process.run("tests.judge.tiny.report", str(tiny_checkpoint)))
    return found


@pytest.fixture(scope="session")
def tiny_server(tiny_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the tiny judge, for the whole session."""
    with process.served(tiny_checkpoint, tmp_path_factory.mktemp("tiny") / "server.log") as server:
        yield server


@pytest.fixture
def tiny_judge(tiny_server: Server, tiny_checkpoint: Path) -> Iterator[HttpJudge]:
    """The HTTP back end, connected to it."""
    with process.connected(tiny_server, tiny_checkpoint) as judge:
        yield judge
