"""A made-up task, frames without a file, and a judge that says what it is told: what tests of the judged half need."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession
from evaluator.judge.types import JudgeError, JudgeIdentity, Question, Raw, Status
from evaluator.media.types import ClipInfo, Frames, VideoInfo
from evaluator.runner.judging import Bench
from evaluator.runner.outcome import Heard, judge, score
from evaluator.runner.plan import Job
from evaluator.schema import Case, Score
from evaluator.suites.covebench import SUITE
from evaluator.suites.covebench.judged import GRADES, OPTIONS
from tests.judge.fakes import JUDGE, FakeBackend, NoWait

CHECKLIST_METRICS = ("uas", "ifs", "vrs", "sem", "uas_task")


def question(name: str, kind: str, dimension: str, expected: str, **more: Any) -> dict[str, Any]:
    options = {"options": {"A": f"{name} first", "B": f"{name} second"}} if kind == "AB-MCQ" else {}
    tree = {"id": name, "type": kind, "dimension": dimension, "question": f"{name}?", "expected_answer": expected}
    return {**tree, **options, **more}


def execution(name: str, expected: str = "Yes", kind: str = "Single-TF", **more: Any) -> dict[str, Any]:
    return question(name, kind, "Execution Accuracy", expected, **more)


def physics(name: str, expected: str = "Yes", kind: str = "Single-TF", **more: Any) -> dict[str, Any]:
    return question(name, kind, "Physical Logic", expected, **more)


def kept(name: str, **more: Any) -> dict[str, Any]:
    return question(name, "Score-MCQ", "Semantic Preservation", "5", **more)


def group(*questions: dict[str, Any], level1: str = "", level2: str = "") -> dict[str, Any]:
    tree: dict[str, Any] = {"target_element": "thing", "description": "Is it so?", "questions": list(questions)}
    if level1:
        names = [one["id"] for one in questions if one["dimension"] == "Execution Accuracy"]
        tree["category"] = [{"Question IDs": names, "Level 1": level1, "Level 2": level2, "Level 3": "x"}]
    return tree


GROUPS = [
    group(execution("Q1", "B", "AB-MCQ"), execution("Q2", "No"), physics("Q3"), level1="Subject", level2="Removal"),
    group(execution("Q4", kind="Dual-TF", difficulty="Hard"), level1="Background", level2="Weather"),
    group(kept("Q5", difficulty="Simple"), kept("Q6")),
]
RIGHT: Mapping[str, Any] = {"Q1": "B", "Q2": "No", "Q3": "Yes", "Q4": "Yes", "Q5": 9, "Q6": 10}
"""Answers to GROUPS that are right, with grades 9 and 10."""


def case_of(
    groups: list[dict[str, Any]] | None = None,
    task: int = 9001,
    system: str = "model",
    prompt: str = "Do it.",
    **more: Any,
) -> Case:
    source = more.pop("source", Path(f"/clips/{task}.mp4"))
    data = {"task": task, **more.pop("data", {})}
    checklist = tuple(GROUPS if groups is None else groups)
    name = f"{task}/{system}"
    return Case(name, "covebench", Path(f"/{name}.mp4"), system, source, prompt, checklist=checklist, data=data, **more)


def clip(frames: int = 6, level: int = 0) -> Frames:
    """Frames at two a second of a clip of 25 frames a second."""
    data = np.full((frames, 16, 24, 3), level, np.uint8)
    data[:, :, :, 0] += np.arange(frames, dtype=np.uint8)[:, None, None]
    times = np.arange(frames) / 2
    every = np.arange(round(frames * 12.5)) / 25
    video = VideoInfo("h264", 24, 16, "yuv420p", "bt601", False, 0, (1, 1), every, len(every) / 25)
    return Frames(data, np.arange(frames) * 12, times, ClipInfo("mp4", video, None))


def labelled(question: Question, said: str) -> Raw:
    """A reply that is sure of one label."""
    logs = {label: math.log(0.9 if label == said else 0.1 / (len(question.labels) - 1)) for label in question.labels}
    return Raw(said, "length", logs)


def label_of(said: Any) -> str:
    """The label of an answer as the protocol writes it."""
    if isinstance(said, int | float):
        return next(label for label, grade in GRADES.items() if grade == said)
    return next((label for label, option in OPTIONS.items() if option == said), str(said))


def saying(answers: Mapping[str, Any]) -> Callable[[Question], Raw]:
    """A judge with these answers by question id, one by one or in batches; None: the server fails."""

    def reply(question: Question) -> Raw:
        name = question.item.rpartition("/")[2]
        if question.labels:
            if answers[name] is None:
                raise JudgeError(Status.ERROR, "the server refused")
            return labelled(question, label_of(answers[name]))
        asked = json.loads(next(part.text for part in question.parts if getattr(part, "name", "") == "questions"))
        field = "final_score" if name == "Score-MCQ" else "final_answer"
        entries = [{"id": one["id"], "reasoning": "seen", field: answers[one["id"]]} for one in asked]
        return Raw(f"<think>Hm [1].</think>Here:\n```json\n{json.dumps(entries)}\n```", "stop")

    return reply


def judged(
    case: Case,
    reply: Callable[[Question], Raw],
    folder: Path,
    profile: str = "paper",
    metrics: tuple[str, ...] = CHECKLIST_METRICS,
    identity: JudgeIdentity = JUDGE,
) -> dict[str, Score]:
    """The records of one case, as a run makes them once the frames are there."""
    chosen = [metric for metric in SUITE.metrics_of(case, profile) if metric.id in metrics]
    backend, found = FakeBackend(reply, identity), {}
    heard: Heard = {}
    folder.mkdir(parents=True, exist_ok=True)
    with Ledger(folder / "judge.jsonl") as ledger, JudgeSession({"judge": backend}, ledger, retry=NoWait()) as session:
        bench = Bench(session, judges=session.judges)
        for metric in chosen:
            needs = {name: clip(6, 40 if name == "source" else 90) for name in metric.needs_for(case)}
            job = Job(case, metric, {}, (bench.model_ref,), "")
            outcome = judge(job, needs, bench, heard)
            found[metric.id] = score(job, outcome, profile)
    return found
