"""Whether a judge answers at an address. The full examination is `evaluator judge check`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from evaluator.doctor.finding import Finding, Level
from evaluator.errors import EvaluatorError
from evaluator.judge.types import JudgeError


def findings(url: str | None, needed: bool) -> Iterator[Finding]:
    """The judge at `url`. Without one, `needed` says whether a metric of the manifest would be skipped for it."""
    if url is None:
        found = "none given; judged metrics are skipped" if needed else "none given, and nothing asks one"
        yield Finding("judge", "address", Level.NOTE, found, "--judge-url URL, --judge-model DIR" if needed else "")
        return
    from evaluator.judge.client import HttpJudge, HttpOptions

    try:
        with closing(HttpJudge.connect(url, HttpOptions())) as judge:
            identity = judge.identity
    except (EvaluatorError, JudgeError) as error:
        yield Finding("judge", url, Level.MISSING, str(error), "start it: evaluator judge serve --judge-model DIR")
        return
    kind = identity.engine if identity.trained else f"{identity.engine}: a wiring fixture, its answers mean nothing"
    yield Finding("judge", url, Level.OK if identity.trained else Level.NOTE, f"{identity.model}, {kind}")
