"""From what happened to a record: a value, a skip with its reason, or a failure with its code. Never a default.

The only place that turns exceptions into data.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from evaluator.errors import EvaluatorError, NotApplicable, PrerequisiteError
from evaluator.judge.route import Judges, Routed, askable, chosen
from evaluator.judge.session import JudgeSession
from evaluator.judge.types import Answer, Question
from evaluator.metrics.base import Judged, Metric, Outcome, Unserved
from evaluator.runner.graph import Missing
from evaluator.runner.judging import Bench
from evaluator.runner.plan import Job
from evaluator.schema import Case, Need, Reason, Score, Status, rounded

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Absent:
    """A value that is not there, and why. `trace` is for the log only."""

    status: Status
    reason: Reason
    trace: str = ""


def skipped(missing: Missing) -> Absent:
    """A need that could not be bound."""
    return Absent(Status.SKIPPED, Reason(missing.code, missing.message))


def attempt(make: Callable[[], T]) -> T | Absent:
    """The value, or what kept it from being. A missing prerequisite is not one clip's fault and passes through."""
    try:
        return make()
    except NotApplicable as reason:
        return Absent(Status.SKIPPED, Reason(reason.reason, reason.message))
    except PrerequisiteError:
        raise
    except EvaluatorError as error:
        return Absent(Status.FAILED, Reason(error.code, str(error)))
    except Exception as error:  # one clip's surprise must not take another clip's scores with it
        message = f"{type(error).__name__}: {error}"
        return Absent(Status.FAILED, Reason("internal", message), traceback.format_exc())


def score(job: Job, found: Outcome | Absent, profile: str) -> Score:
    """The record of one job."""
    absent = found if isinstance(found, Absent) else None
    outcome = found if isinstance(found, Outcome) else None
    return Score(
        case=job.case.id,
        suite=job.case.suite,
        system=job.case.system,
        metric=job.metric.id,
        value=outcome.value if outcome else None,
        status=absent.status if absent else Status.OK,
        reason=absent.reason if absent else None,
        raw=outcome.raw if outcome else None,
        details=outcome.details if outcome else {},
        models=job.models,
        profile=profile,
        fingerprint=job.fingerprint,
    )


def compute(job: Job, inputs: Mapping[str, Any]) -> Outcome | Absent:
    """Run a metric on inputs of which any may be absent; the first absent one, in the order of needs, is the reason."""
    metric = job.metric
    given = present(metric, inputs)
    if isinstance(given, Absent):
        return given
    case = {"case": job.case} if metric.reads else {}
    return attempt(lambda: within_range(metric, metric.compute(**case, **given)))


def present(metric: Metric, inputs: Mapping[str, Any]) -> dict[str, Any] | Absent:
    """The inputs by name, with None for an optional one that does not apply to the clip; or why they are not complete.

    A file that cannot be read is never optional, and a model that is not mounted only for what a metric `spares`.
    """
    given: dict[str, Any] = {}
    for name, value in inputs.items():
        if not isinstance(value, Absent):
            given[name] = value
        elif value.reason.code == "not_applicable" and name in metric.optional | metric.spares:
            given[name] = None
        elif value.reason.code == "unavailable" and name in metric.spares:
            given[name] = Unserved(value.reason.message)
        else:
            return value
    return given


Heard = dict[tuple[Judged, tuple[tuple[str, Need], ...]], "Sequence[Answer] | Absent"]
"""What was asked about one case already: (questions, evidence) -> answers."""


def judge(job: Job, inputs: Mapping[str, Any], bench: Bench, heard: Heard) -> Outcome | Absent:
    """Show the inputs to the judge, then compute on its answers. A judge that keeps failing ends the run (exit 4)."""
    metric = job.metric
    ask, session = metric.judged, bench.session
    if ask is None or session is None:
        raise ValueError(f"{metric.id}: asked to judge without questions or without a judge")
    shown = present(metric, inputs)
    if isinstance(shown, Absent):
        return shown
    key = (ask, tuple(metric.needs_for(job.case).items()))
    if key not in heard:
        heard[key] = _conversation(ask, job.case, shown, session)
    answers = heard[key]
    return answers if isinstance(answers, Absent) else compute(job, {**inputs, "answers": answers})


def _conversation(
    ask: Judged, case: Case, shown: Mapping[str, Any], session: JudgeSession
) -> Sequence[Answer] | Absent:
    """All answers about one case: to the questions, then to what is asked again in view of them."""
    answers: list[Answer] = []
    make, judges = partial(ask.ask, case, **shown), askable(session.judges, ask.model)
    while True:
        questions = attempt(partial(_chosen, make, judges))
        if isinstance(questions, Absent):
            return questions
        answers += _asked(session, questions, ask.model)
        if ask.again is None or not questions:
            return answers
        make = partial(ask.again, case, tuple(answers), **shown)


def _chosen(make: Callable[[], Sequence[Question | Routed]], judges: Judges) -> list[Question]:
    """The questions as these judges are asked them."""
    return [chosen(one, judges) for one in make()]


def _asked(session: JudgeSession, questions: Sequence[Question], model: str) -> Sequence[Answer]:
    """Answers in the order of the questions, each with the kind of evidence that it rests on."""
    answers = session.ask_all(questions, model)
    pairs = zip(questions, answers, strict=True)
    return [replace(answer, substitute=asked.protocol_deviation) for asked, answer in pairs]


def within_range(metric: Metric, outcome: Outcome) -> Outcome:
    """The outcome as it will be written. Raises ValueError if it breaks the metric's own declaration: a defect of ours.

    Rounded here, not when it is written, so that a mean over records in memory equals one over records read back.
    """
    low, high = metric.range
    value = outcome.value
    if not math.isfinite(value) or (low is not None and value < low) or (high is not None and value > high):
        raise ValueError(f"{metric.id}: {value} is outside its declared range {metric.range}")
    return Outcome(rounded(float(value)), rounded(outcome.raw), rounded(outcome.details))
