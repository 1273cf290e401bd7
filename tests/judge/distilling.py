"""The whole way from a teacher to a student on the tiny judge, in one process with torch and TRL.

    python -m tests.judge.distilling TEACHER FOLDER

Judges stripes with the teacher, exports, trains an untrained student in both steps, judges again, and prints how well
each student agrees with the teacher on clips that it was not trained on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from safetensors.numpy import load_file

from evaluator.judge import distill, distill_train
from evaluator.judge.distill_agree import agree
from evaluator.judge.distill_train import Settings
from evaluator.judge.ledger import Ledger
from evaluator.judge.local import LocalJudge
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import Question
from tests.judge.tiny.build import build
from tests.judge.tiny.stripes import question

CLIPS = 160
SUPERVISED = Settings(steps=100, batch=8, rate=3e-3, rank=0, dtype="float32", cpu=True)
ON_POLICY = Settings(steps=30, batch=8, rate=1e-3, rank=0, dtype="float32", cpu=True, new_tokens=1)


def questions() -> Iterator[Question]:
    """Stills with a known answer, one clip each."""
    return (question(seed, seed % 2 == 0, item=f"clip{seed}/stripe/1") for seed in range(5000, 5000 + CLIPS))


def judged(folder: Path, path: Path) -> Path:
    """The ledger of a model's answers."""
    with Ledger(path) as ledger, JudgeSession({"v": LocalJudge.load(folder)}, ledger, Mode.CACHE) as session:
        session.ask_all(questions())
    return path


def changed(before: Path, after: Path) -> list[str]:
    """Names of the weights that differ between two checkpoints."""
    old, new = (load_file(folder / "model.safetensors") for folder in (before, after))
    return sorted(name for name in old if not np.array_equal(old[name], new[name]))


def main() -> int:
    """Run everything; print one line of JSON."""
    teacher, folder = map(Path, sys.argv[1:])
    rows, student, first, second = (folder / name for name in ("rows", "student", "supervised", "on_policy"))
    truth = judged(teacher, folder / "teacher" / "judge.jsonl")
    exported = distill.export([truth], rows, share=0.3)
    held_out = {str(row["id"]) for row in distill.read_rows(rows / "held_out.jsonl")}
    build(student, steps=0, seed=3)
    distill_train.supervised(rows, student, first, SUPERVISED)
    distill_train.on_policy(rows, first, teacher, second, ON_POLICY)
    distill_train.supervised(rows, student, folder / "adapter", replace(SUPERVISED, steps=3, rank=4))
    found: dict[str, Any] = {"export": exported, "adapter": changed(student, folder / "adapter")}
    for model in (student, first, second):
        found[model.name] = agree(truth, judged(model, folder / f"judged_{model.name}" / "judge.jsonl"), held_out)[0]
    print(orjson.dumps(found).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
