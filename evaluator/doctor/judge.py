"""Whether judges answer where they should. The full examination is `evaluator judge check`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from evaluator.doctor.finding import Finding, Level
from evaluator.errors import EvaluatorError
from evaluator.judge.types import JudgeError

START = "start it: evaluator judge serve --judge-model DIR"


def findings(
    url: str | None, needed: bool, models: Collection[str] = (), reserved: Mapping[str, str] | None = None
) -> Iterator[Finding]:
    """The judge for all questions at `url`, and for each of `models`, which alone may answer some, its own.

    Without the first, `needed` says whether a metric of the manifest would be skipped for it. `reserved` is what was
    given by --judge-for: a URL or a directory by model, in any case.
    """
    if url is not None:
        yield _met(url, url, "", START)
    else:
        found = "none given; judged metrics are skipped" if needed else "none given, and nothing asks one"
        yield Finding("judge", "address", Level.NOTE, found, "--judge-url URL, --judge-model DIR" if needed else "")
    given = {model.lower(): (model, where) for model, where in (reserved or {}).items()}
    for model in models:
        if model.lower() in given:
            yield _reserved(model, given.pop(model.lower())[1])
        else:
            found = "none given; what only it may answer is skipped"
            yield Finding("judge", model, Level.NOTE, found, f"--judge-for {model}=URL, --judge-for {model}=DIR")
    for model, _ in given.values():
        yield Finding("judge", model, Level.MISSING, "no metric asks for that model", "leave out its --judge-for")


def _reserved(model: str, where: str) -> Finding:
    if Path(where).is_dir():
        return _kept(model, Path(where))
    return _met(model, where, model, f"{START} --served-name {model}")


def _kept(model: str, folder: Path) -> Finding:
    from evaluator.judge.launch import require_model

    try:
        return Finding("judge", model, Level.OK, f"{require_model(folder)}, started by the run")
    except EvaluatorError as error:
        return Finding("judge", model, Level.MISSING, str(error), f"--judge-for {model}=DIR of its checkpoint")


def _met(name: str, url: str, model: str, start: str) -> Finding:
    """Whether somebody answers at an address, and is called like `model`."""
    from evaluator.judge.client import HttpJudge, HttpOptions

    try:
        with closing(HttpJudge.connect(url, HttpOptions(named_like=model))) as judge:
            identity = judge.identity
    except (EvaluatorError, JudgeError) as error:
        return Finding("judge", name, Level.MISSING, str(error), start)
    kind = identity.engine if identity.trained else f"{identity.engine}: a wiring fixture, its answers mean nothing"
    return Finding("judge", name, Level.OK if identity.trained else Level.NOTE, f"{identity.model}, {kind}")
