"""Servers and judges of the tests in this folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.judge.client import HttpJudge, HttpOptions
from tests.judge import fake_server as fake
from tests.judge.fake_server import Behaviour, running
from tests.judge.tiny.fixtures import tiny_checkpoint, tiny_judge, tiny_report, tiny_server  # noqa: F401  (fixtures)

Connect = Callable[..., HttpJudge]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Starts a fake server with a behaviour and meets it; keyword arguments are HttpOptions."""
    with ExitStack() as stack:

        def connecting(how: Behaviour | None = None, **options: object) -> HttpJudge:
            url = stack.enter_context(running(how or Behaviour()))
            about = replace(HttpOptions(seconds=20.0), **options)  # type: ignore[arg-type]
            return stack.enter_context(closing(HttpJudge.connect(url, about)))

        yield connecting


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@pytest.fixture
def vllm(tmp_path: Path) -> Path:
    """A program that takes vLLM's command line, starts a worker of its own, and serves."""
    program = tmp_path / "vllm"
    program.write_text(f'#!/bin/sh\nsleep 1000 &\necho "worker $!"\nexec {sys.executable} {fake.__file__} "$@"\n')
    program.chmod(0o755)
    return program
