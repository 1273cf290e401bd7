"""`./run.sh judge-demo`: what the judge does, shown with a judge that fits into two megabytes.

Asks a dozen questions about the demo clips, kills the server half way, goes on where it stopped, replays without any
server, verifies the ledger, and shows that a changed answer is noticed. The judge is the wiring fixture of the tests:
it has seen nothing but stripes, so the questions are about stripes, and the demo paints half of them itself.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evaluator.errors import EXIT_FAILED_CASES, EXIT_OK, EvaluatorError, JudgeUnusableError, PrerequisiteError
from evaluator.judge import audit, prompts
from evaluator.judge.evidence import Budget, Exhibit, clip_frames, still
from evaluator.judge.ledger import Ledger
from evaluator.judge.retry import FullJitter
from evaluator.judge.server import Server
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import Answer, Question, Status
from evaluator.media.decode import CollectTap, decode
from evaluator.media.probe import probe
from evaluator.media.types import Frames
from evaluator.schema import Fit, Sampling, View
from tests.judge.tiny.process import ROOT, checkpoint, connected, served
from tests.judge.tiny.stripes import RED, right_label

CLIPS = ("bigbuckbunny.mp4", "bikes.mp4", "carphone_pristine.mp4")
VIEW = View(Sampling("linspace", (4,)), Fit.SQUASH, height=96, width=128)
BUDGET = Budget(frames=4)
HALF = 6


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the answer that is right."""

    question: Question
    right: str
    exhibit: Exhibit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; 0 if everything came out as it must."""
    parser = argparse.ArgumentParser(prog="judge-demo", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "out-judge-demo")
    given = parser.parse_args(arguments)
    try:
        return EXIT_OK if show(given.out) else EXIT_FAILED_CASES
    except EvaluatorError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code


def show(out: Path) -> bool:
    """The whole demo. True if resumed, replayed and first answers agree and the ledger is whole."""
    if (out / "judge.jsonl").exists():
        shutil.rmtree(out)
    model = checkpoint(say)
    asked = list(questions())
    path = out / "judge.jsonl"
    say(f"\n{len(asked)} questions about {len(CLIPS)} clips; the server is killed after {HALF} answers")
    first = interrupted(asked, model, path)
    say("\nThe same command again, with a new server:")
    resumed = complete(asked, model, path)
    say("\nOnce more, without any server (replay opens no socket):")
    replayed = replay(asked, path)
    say("\nAudit:")
    whole = audited(path)
    print_table(asked, replayed)
    same = resumed == replayed and replayed[: len(first)] == first
    say(f"\nanswers before the kill, after it and replayed are equal to the last bit: {'yes' if same else 'NO'}")
    say(
        "This judge is a wiring fixture: half a million weights, trained for a minute on painted stripes. It shows\n"
        "that questions, answers, ledger and replay work; it says nothing about the quality of a clip. Its records\n"
        "carry `trained: false`. For judgments, mount a Qwen3-VL directory (--judge-model) or serve one (--judge-url)."
    )
    return same and whole


def questions() -> Iterator[Asked]:
    """Each clip as a still and as frames, as it is and with a stripe painted into it."""
    prompt = prompts.load("yes_no")
    for name in CLIPS:
        plain = decoded(ROOT / "manifests" / "demo" / name)
        for frames, red in ((plain, False), (painted(plain), True)):
            for kind, exhibit in (
                ("still", still(frames, 1, "picture")),
                ("clip", clip_frames(frames, "clip", BUDGET)),
            ):
                item = f"{name} {kind}{' with a red stripe' if red else ''}"
                question = prompt.ask(item, [exhibit.part], {"question": "Is there a red stripe?"})
                yield Asked(question, right_label(red), exhibit)


def decoded(path: Path) -> Frames:
    """Four small frames of a clip. Raises PrerequisiteError if the clip is not there."""
    if not path.is_file():
        raise PrerequisiteError(f"{path}: not there; run ./run.sh setup")
    info = probe(path)
    tap = CollectTap(info)
    decode(path, info, [(VIEW, tap)], [])
    return tap.close()


def painted(frames: Frames) -> Frames:
    """The frames with a red stripe in the middle."""
    data = frames.data.copy()
    data[:, :, 48:80] = np.array(RED, np.uint8)
    return replace(frames, data=data)


def interrupted(asked: Sequence[Asked], model: Path, path: Path) -> list[Answer]:
    """Ask until HALF the answers are there, then kill the server. Returns those answers."""
    answers: list[Answer] = []
    with running(model, path) as (server, asking):
        try:
            for answer in asking.ask_each(one.question for one in asked):
                answers.append(answer)
                if len(answers) == HALF:
                    os.killpg(server.pid, signal.SIGKILL)
                    say(f"  {HALF} answers, then: kill -9 {server.pid}")
        except JudgeUnusableError as error:
            say(f"  stopped: {error}")
    return [answer for answer in answers if answer.status is Status.OK]


def complete(asked: Sequence[Asked], model: Path, path: Path) -> list[Answer]:
    """Go on with a new server: what the ledger answers is not asked again."""
    with running(model, path) as (_, asking):
        answers = asking.ask_all(one.question for one in asked)
    say(f"  {asking.counts['replayed']} answers from the ledger, {asking.counts['asked']} asked")
    return answers


@contextmanager
def running(model: Path, path: Path) -> Iterator[tuple[Server, JudgeSession]]:
    """A server and a session with it: one question at a time, so that the kill comes at the same place; impatient."""
    retry = FullJitter(attempts=2, base_s=0.05)
    with (
        served(model, path.parent / "server.log") as server,
        Ledger(path) as ledger,
        connected(server, model) as judge,
        JudgeSession({"judge": judge}, ledger, Mode.CACHE, retry=retry, concurrency=1, patience=2) as session,
    ):
        yield server, session


def replay(asked: Sequence[Asked], path: Path) -> list[Answer]:
    """Answers from the ledger alone."""
    with Ledger(path, writable=False) as ledger, JudgeSession({}, ledger, Mode.REPLAY) as asking:
        answers = asking.ask_all(one.question for one in asked)
    say(f"  {asking.counts['replayed']} answers from the ledger, {asking.counts['judge_missing']} missing")
    return answers


def audited(path: Path) -> bool:
    """The ledger is whole, and a copy in which one answer was changed is not."""
    found = audit.verify(path)
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(found.statuses.items()))
    say(f"  {path}: {found.records} records, {statuses}, {found.problem_count} problems")
    copy = path.with_name("changed.jsonl")
    copy.write_bytes(path.read_bytes().replace(b'"text":"Yes"', b'"text":"No"', 1))
    changed = audit.verify(copy, media=False)
    say(f"  a copy with one changed answer: {changed.problem_count} problems, the first: {changed.problems[0]}")
    return found.problem_count == 0 and changed.problem_count > 0


def print_table(asked: Sequence[Asked], answers: Sequence[Answer]) -> None:
    """One line per question."""
    say(f"\n  {'question: is there a red stripe?':48} {'answer':7} {'right':6} {'P(Yes)':>7} {'mass':>5}  evidence")
    for one, answer in zip(asked, answers, strict=True):
        share, mass = answer.probabilities["Yes"], answer.label_mass
        shown = f"{one.exhibit.record['kind']}, {one.exhibit.record['bytes']} bytes"
        say(f"  {one.question.item:48} {answer.label:7} {one.right:6} {share:7.4f} {mass:5.2f}  {shown}")
    right = sum(one.right == answer.label for one, answer in zip(asked, answers, strict=True))
    say(f"  {right} of {len(asked)} answers are right")


def say(line: str) -> None:
    """A line for the person who watches."""
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
