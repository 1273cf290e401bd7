"""verify reports everything, show finds calls, diff says what changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from evaluator.errors import UsageError
from evaluator.judge.audit import diff, show, verify
from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import JudgeIdentity, Question, Raw, Status
from tests.judge.fakes import JUDGE, FakeBackend, NoWait, ask, ask_json, honest, picture, yes_no

QUESTIONS = [*(ask(f"Is it {index}?", evidence=(picture(bytes([index])),)) for index in range(4)), ask_json()]


def judged(
    path: Path,
    reply: Callable[[Question], Raw] = honest,
    questions: list[Question] = QUESTIONS,
    judge: JudgeIdentity = JUDGE,
    mode: Mode = Mode.LIVE,
) -> Path:
    with (
        Ledger(path) as ledger,
        JudgeSession({"v": FakeBackend(reply, judge)}, ledger, mode, retry=NoWait()) as session,
    ):
        session.ask_all(questions)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return judged(tmp_path / "a" / "judge.jsonl")


def resealed(path: Path, number: int, change: Callable[[dict[str, object]], None]) -> None:
    """Change one record and repair the whole chain, as somebody would who wants to hide it."""
    prev, lines = "0" * 64, []
    for index, line in enumerate(path.read_bytes().splitlines()):
        tree = orjson.loads(line)
        if index == number:
            change(tree)
        tree["prev"] = prev
        del tree["self"]
        body = orjson.dumps(tree)
        prev = hashlib.sha256(body).hexdigest()
        lines.append(body[:-1] + b',"self":"' + prev.encode() + b'"}\n')
    path.write_bytes(b"".join(lines))


def test_a_whole_ledger_has_no_problem(path: Path) -> None:
    found = verify(path)
    assert (found.records, found.problem_count, found.problems, found.changing) == (6, 0, (), ())
    assert found.statuses == {"ok": 5}
    assert found.judges == (JUDGE,)
    with Ledger(path) as ledger:
        assert found.head == ledger.head


def test_every_problem_is_reported_with_its_line(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"status":"ok"', b'"status":"OK"')
    lines[3] = b"nonsense\n"
    path.write_bytes(b"".join(lines))
    found = verify(path)
    assert any(problem.startswith(f"{path}:2:") for problem in found.problems)
    assert any(problem.startswith(f"{path}:4:") for problem in found.problems)
    assert found.records == 6
    assert found.problem_count >= 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda tree: tree["request"].update(sample=3), "keys are not those"),
        (lambda tree: tree["judge"].update(engine="other"), "keys are not those"),
        (lambda tree: tree["result"].update(label="Perhaps"), "not what the reply says"),
        (lambda tree: tree["response"].update(text="Perhaps"), "read today as unparsed"),
        (lambda tree: tree.update(status="refused"), "recorded as refused"),
    ],
    ids=["request", "judge", "result", "reply", "status"],
)
def test_a_change_that_repairs_the_chain_is_found_too(
    path: Path, change: Callable[[dict[str, object]], None], problem: str
) -> None:
    before = verify(path).head
    resealed(path, 1, change)
    found = verify(path)
    assert found.problem_count == 1
    assert problem in found.problems[0]
    assert found.head != before


def test_missing_and_changed_pictures_are_found(path: Path) -> None:
    first, second, *_ = sorted((path.parent / "media").rglob("*/*"))
    first.unlink()
    second.write_bytes(b"another picture")
    assert verify(path).problem_count == 2
    assert verify(path, media=False).problem_count == 0


def test_a_judge_that_changes_its_mind_is_found(path: Path) -> None:
    judged(path, lambda question: yes_no(0.1) if question.labels else honest(question))
    found = verify(path)
    assert found.problem_count == 0
    assert len(found.changing) == 4
    judged(path, mode=Mode.CACHE)
    assert len(verify(path).changing) == 4


def test_show_finds_calls_by_key_and_by_item(path: Path) -> None:
    (call,) = show(path, QUESTIONS[2].item)
    assert show(path, call["keys"]["key"][:10]) == [call]
    assert call["request"]["turns"][1]["parts"][1]["sha256"] == hashlib.sha256(bytes([2])).hexdigest()
    with pytest.raises(UsageError, match="holds no call"):
        show(path, "nobody")


def test_equal_runs_do_not_differ(path: Path, tmp_path: Path) -> None:
    found = diff(path, judged(tmp_path / "b" / "judge.jsonl"))
    assert (found.equal, found.changed, found.only_first, found.only_second) == (5, (), (), ())


def test_a_difference_names_both_answers_and_its_size(path: Path, tmp_path: Path) -> None:
    def drifted(question: Question) -> Raw:
        reply = honest(question)
        shift = {label: value - 0.01 * (label == "No") for label, value in reply.label_logprobs.items()}
        return replace(reply, label_logprobs=shift)

    other = judged(tmp_path / "b" / "judge.jsonl", drifted, [*QUESTIONS[1:], ask("new")])
    found = diff(path, other)
    assert [change.item for change in found.changed] == [question.item for question in QUESTIONS[1:4]]
    assert found.equal == 1
    assert found.only_first == (QUESTIONS[0].item,)
    assert found.only_second == (ask("new").item,)
    for change in found.changed:
        expected = abs(change.first.probabilities["Yes"] - change.second.probabilities["Yes"])
        assert change.largest == pytest.approx(expected)
        assert 0 < expected < 0.01


def test_an_engine_is_compared_with_its_successor_and_a_model_with_another(path: Path, tmp_path: Path) -> None:
    upgraded = judged(tmp_path / "b" / "judge.jsonl", judge=replace(JUDGE, engine="fake 2"))
    student = judged(tmp_path / "c" / "judge.jsonl", judge=replace(JUDGE, model_sha256="cd" * 32))
    assert [diff(path, upgraded, by).equal for by in ("key", "portable", "question")] == [0, 5, 5]
    assert [diff(path, student, by).equal for by in ("key", "portable", "question")] == [0, 0, 5]


def test_failures_are_counted_and_not_compared(tmp_path: Path, path: Path) -> None:
    bad = judged(tmp_path / "b" / "judge.jsonl", lambda _: Raw("Perhaps", "stop"))
    assert verify(bad).statuses == {Status.UNPARSED: 5}
    assert diff(path, bad).equal == 0
    assert len(diff(path, bad).only_first) == 5
