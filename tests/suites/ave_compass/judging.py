"""Made-up cases of AVE-Compass with small clips, and judges that answer by rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.experts.features import AudioTags, Transcript
from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import JudgeIdentity, Modality, Question, Raw, TextPart
from evaluator.media.types import Audio, ClipInfo, Frames
from evaluator.metrics.base import Metric, Outcome
from evaluator.runner.judging import Bench
from evaluator.runner.outcome import Absent, Heard, judge
from evaluator.runner.plan import Job
from evaluator.schema import Case, ModelRef, Score, Status, Tier
from tests.judge.fakes import FakeBackend

SUB = {
    "ER": ("Edit Response", "edit_response"),
    "IF": ("Instruction Following", "instruction_correctness"),
    "FP": ("Fidelity", "non_edit_preservation"),
    "HC": ("Fidelity", "hallucination_control"),
}
SEES = frozenset({Modality.TEXT, Modality.IMAGE, Modality.VIDEO})
HEARS = SEES | {Modality.AUDIO}


def item(kind: str, tag: str, text: str, number: int) -> dict[str, str]:
    dimension, subdimension = SUB[kind]
    return {
        "question_id": f"Q{number:02d}",
        "dimension": dimension,
        "subdimension": subdimension,
        "modality_tag": tag,
        "question": text,
    }


def checklist(*items: tuple[str, str, str], branch: str = "joint", **more: Any) -> dict[str, Any]:
    """A checklist of (kind, tag, question)."""
    questions = [item(*one, number) for number, one in enumerate(items, 1)]
    head = {"schema_version": "checklist_v2", "caption": "A dog.", "edit_prompt": "Make it rain.", "edit_type": "rain"}
    return {**head, "edit_category": branch, "questions": questions, **more}


def case(tree: Any, name: str = "c", **more: Any) -> Case:
    given: dict[str, Any] = {"system": "s", "category": "joint", "prompt": "Make it rain.", "source": Path("/s.mp4")}
    return Case(id=name, suite="ave_compass", video=Path("/v.mp4"), checklist=tree, **{**given, **more})


def frames(seed: int = 0, count: int = 4) -> Frames:
    data = np.random.default_rng(seed).integers(0, 256, (count, 24, 32, 3), dtype=np.uint8)
    return Frames(data, np.arange(count), np.arange(count) / 2, ClipInfo("mp4", None, None))


def sound(seed: int = 0, present: bool = True) -> Audio:
    noise = np.random.default_rng(seed).integers(-3000, 3000, 16_000).astype(np.int16)
    return Audio(noise if present else np.zeros(16_000, np.int16), 16_000, present)


def needs(present: bool = True) -> dict[str, Any]:
    """Evidence of a source and an edited clip; without `present` the edited one has no sound track."""
    tags = AudioTags(np.array([[0.1, 0.7]], np.float32), ("Speech", "Rain"), 0.48)
    heard: dict[str, Any] = {"tags": tags, "transcript": Transcript("", 0.0, (), 1.0)}
    none = dict.fromkeys(heard)
    return {
        "frames": frames(1),
        "sound": sound(1, present),
        **(heard if present else none),
        "source_frames": frames(2),
        "source_sound": sound(2),
        **{f"source_{name}": value for name, value in heard.items()},
        "source_clip": ClipInfo("mp4", None, None),
    }


def target_only(given: Mapping[str, Any]) -> dict[str, Any]:
    """What realism needs of it."""
    own = {name: value for name, value in given.items() if not name.startswith("source_")}
    return {**own, "source_clip": given["source_clip"]}


def by_rule(rule: Callable[[Question], str]) -> Callable[[Question], Raw]:
    """A judge that gives this label with P = 0.9, or this text for a JSON question."""

    def reply(question: Question) -> Raw:
        said = rule(question)
        if not question.labels:
            return Raw(said, "stop")
        rest = 0.1 / (len(question.labels) - 1)
        return Raw(said, "length", {one: float(np.log(0.9 if one == said else rest)) for one in question.labels})

    return reply


def words(question: Question) -> str:
    """Everything in words that a judge is shown."""
    return "\n".join(part.text for part in question.parts if isinstance(part, TextPart))


def run(
    metrics: Sequence[Metric],
    one: Case,
    reply: Callable[[Question], Raw],
    folder: Path,
    modalities: frozenset[Modality] = HEARS,
    given: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Outcome | Absent], FakeBackend]:
    """The metrics of one case, as the runner computes them, and the judge that was asked."""
    backend = FakeBackend(reply, JudgeIdentity("judge", "ab" * 32, "fake", modalities=modalities))
    with Ledger(folder / "judge.jsonl") as ledger, JudgeSession({"judge": backend}, ledger, Mode.CACHE) as session:
        return _judged(metrics, one, session, given or needs()), backend


def replayed(metrics: Sequence[Metric], one: Case, folder: Path) -> dict[str, Outcome | Absent]:
    """The same from the ledger that `run` left in this folder; nobody is asked."""
    with Ledger(folder / "judge.jsonl") as ledger, JudgeSession({}, ledger, Mode.REPLAY) as session:
        return _judged(metrics, one, session, needs())


def _judged(
    metrics: Sequence[Metric], one: Case, session: JudgeSession, shown: Mapping[str, Any]
) -> dict[str, Outcome | Absent]:
    bench, heard = Bench(session, None, session.judges), Heard()
    return {
        metric.id: judge(
            Job(one, metric, {}, (), "f"), {name: shown[name] for name in metric.needs_for(one)}, bench, heard
        )
        for metric in metrics
    }


def score(one: Case, metric: str, value: float | None, details: Mapping[str, Any] | None = None, **more: Any) -> Score:
    """A record of a trained judge that heard and saw everything."""
    judge_model = ModelRef("judge", "ab", Tier.REFERENCE)
    status = Status.OK if value is not None else Status.SKIPPED
    from evaluator.schema import Reason

    reason = None if value is not None else Reason("not_applicable", "empty")
    given = {"models": (judge_model,), "status": status, "reason": reason, **more}
    return Score(
        case=one.id,
        suite=one.suite,
        system=one.system,
        metric=metric,
        value=value,
        raw=None,
        details={"evidence": "native", **(details or {})},
        profile="paper",
        fingerprint="f",
        **given,
    )


def renamed(one: Case, name: str, **more: Any) -> Case:
    return replace(one, id=name, **more)


def evaluations(**answers: str | None) -> str:
    """The reference's JSON answer."""
    entries = [
        {"question_id": name, "observation": "o", "answer": said, "justification": "j"}
        for name, said in answers.items()
    ]
    return json.dumps({"discrepancy_analysis": "d", "evaluations": entries})
