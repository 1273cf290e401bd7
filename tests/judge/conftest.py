"""Servers and judges of the tests in this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest

from evaluator.judge.client import HttpJudge, HttpOptions
from tests.judge.fake_server import Behaviour, running

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
