"""A judge from a model directory: vLLM started, met, used and stopped. What `judge serve` and a judged run do."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluator.judge import launch
from evaluator.judge.address import Address
from evaluator.judge.client import HttpJudge, HttpOptions
from evaluator.judge.launch import LaunchOptions
from evaluator.judge.server import Server, free_port
from evaluator.judge.types import SEES, Modality

START_S = 1800.0
"""Reading 17 GB from a slow disk and warming up a GPU takes minutes."""


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that is up, and the judge behind it."""

    server: Server
    judge: HttpJudge
    url: str


def prepare(
    model: Path,
    vllm: str | None = None,
    port: int = 0,
    extra: tuple[str, ...] = (),
    served_name: str = launch.SERVED_NAME,
    servers: int = 1,
) -> LaunchOptions:
    """Options for a launch, everything checked; port 0 chooses a free one, `servers` is how many share the GPU.

    Raises JudgeUnusableError if vLLM or the model is not there.
    """
    program = launch.find_vllm(vllm)
    return LaunchOptions(
        model=launch.require_model(model),
        port=port or free_port(),
        vllm=program,
        extra=extra,
        served_name=served_name,
        servers=servers,
    )


@contextlib.contextmanager
def serving(
    options: LaunchOptions,
    log: Path,
    seconds: float = START_S,
    tell: Callable[[float], object] = lambda _: None,
    modalities: frozenset[Modality] = SEES,
) -> Iterator[Serving]:
    """Start a server, wait until it is well, meet it; stop it at the end, whatever happens in between.

    Raises JudgeUnusableError if it does not come up.
    """
    address = Address(port=options.port)
    about = HttpOptions(
        model=options.served_name,
        model_sha256=launch.model_sha256(options.model),
        flags_sha256=launch.flags_sha256(options),
        modalities=modalities,
        concurrency=options.concurrency,
    )
    with Server(launch.command(options), launch.environment(), address, log) as server:
        server.wait_healthy(seconds, tell)
        with contextlib.closing(HttpJudge.connect(address.url, about)) as judge:
            yield Serving(server, judge, address.url)
