"""Rows hold what the teacher saw and said, no clip is on both sides, and nothing doubtful becomes a lesson."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import LedgerError, UsageError
from evaluator.judge.distill import export, read_rows
from evaluator.judge.distill_agree import MOST_VERDICTS, agree
from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import AudioPart, JudgeIdentity, Modality, Question, Raw
from tests.judge.fakes import JUDGE, FakeBackend, NoWait, ask, ask_json, clip, honest, share, yes_no

STUDENT = replace(JUDGE, model_sha256="cd" * 32)
HEARING = frozenset(Modality)


def frames(case: int) -> tuple[Any, ...]:
    return (clip(b"source %d" % (case % 20)), clip(b"target %d" % case, b"t2 %d" % case))


QUESTIONS = [
    ask(text, f"case{case}/vtf/{text}", frames(case)) for case in range(40) for text in ("Is it red?", "Is it new?")
]


def judged(
    path: Path,
    reply: Callable[[Question], Raw] = honest,
    judge: JudgeIdentity = JUDGE,
    questions: list[Question] = QUESTIONS,
) -> Path:
    backend = FakeBackend(reply, judge)
    with Ledger(path) as ledger, JudgeSession({"v": backend}, ledger, Mode.LIVE, retry=NoWait()) as session:
        session.ask_all(questions)
    return path


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged(tmp_path_factory.mktemp("teacher") / "judge.jsonl")


def rows(folder: Path) -> list[dict[str, Any]]:
    return [dict(row) for split in ("train", "held_out") for row in read_rows(folder / f"{split}.jsonl")]


# -------------------------------------------------------------------------------------------------------- export


def test_every_answer_is_a_row_with_its_pictures(teacher: Path, tmp_path: Path) -> None:
    found = export([teacher], tmp_path)
    assert found.rows.total() == len(rows(tmp_path)) == 80
    assert {row["item"] for row in rows(tmp_path)} == {question.item for question in QUESTIONS}
    for row in rows(tmp_path):
        images = sum(piece["type"] == "image" for turn in row["prompt"] for piece in turn["content"])
        assert images == len(row["media"]) == 3
        for entry in row["media"]:
            assert hashlib.sha256((tmp_path / entry["path"]).read_bytes()).hexdigest() == entry["sha256"]
    assert json.loads((tmp_path / "meta.json").read_bytes())["rows"] == found.rows


def test_a_row_says_word_for_word_what_the_teacher_saw_and_said(teacher: Path, tmp_path: Path) -> None:
    export([teacher], tmp_path)
    question = QUESTIONS[7]
    (row,) = (row for row in rows(tmp_path) if row["item"] == question.item)
    system, user = row["prompt"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"] == [{"type": "text", "text": question.system}]
    assert user["content"][0] == {"type": "text", "text": "target:\n<0.0 seconds>"}
    assert user["content"][-1]["text"].startswith('<data name="question">\n"Is it new?"')
    yes = share(question)
    assert row["teacher"]["p"] == pytest.approx({"Yes": yes, "No": 1 - yes})
    assert row["completion"][0]["content"][0]["text"] == ("Yes" if yes >= 0.5 else "No")
    assert [entry["seconds"] for entry in row["media"]] == [0.0, 0.0, 0.5]


def test_no_picture_is_on_both_sides(teacher: Path, tmp_path: Path) -> None:
    """Cases 3 and 23 were made from the same source."""
    found = export([teacher], tmp_path)
    sides: dict[str, set[str]] = {}
    for row in rows(tmp_path):
        for entry in row["media"]:
            sides.setdefault(entry["sha256"], set()).add(row["split"])
    assert all(len(splits) == 1 for splits in sides.values())
    assert sum(found.clips.values()) == 20
    assert 0 < found.clips["held_out"] < 10


def test_more_questions_about_the_same_clips_move_none_to_the_other_side(teacher: Path, tmp_path: Path) -> None:
    export([teacher], tmp_path / "all")
    export([judged(tmp_path / "few" / "judge.jsonl", questions=QUESTIONS[::-2])], tmp_path / "some")
    sides = {row["item"]: row["split"] for row in rows(tmp_path / "all")}
    assert all(sides[row["item"]] == row["split"] for row in rows(tmp_path / "some"))


def test_only_answers_become_lessons(tmp_path: Path) -> None:
    def reply(question: Question) -> Raw:
        case = int(question.item.removeprefix("case").partition("/")[0])
        return [Raw("Perhaps", "stop"), yes_no(0.9, mass=0.2), honest(question)][case % 3]

    found = export([judged(tmp_path / "judge.jsonl", reply)], tmp_path / "rows", min_mass=0.5)
    assert found.left_out == {"label mass": 26}
    assert found.rows.total() == 26
    assert {int(row["item"].removeprefix("case").partition("/")[0]) % 3 for row in rows(tmp_path / "rows")} == {2}


def test_sound_is_left_out_and_counted(tmp_path: Path) -> None:
    heard = [ask("Loud?", f"case{case}/m/loud", (AudioPart(b"%d" % case),)) for case in range(3)]
    path = judged(tmp_path / "judge.jsonl", judge=replace(JUDGE, modalities=HEARING), questions=[*QUESTIONS, *heard])
    assert export([path], tmp_path / "rows").left_out == {"sound": 3}


def test_the_last_answer_is_the_one_that_is_taught(tmp_path: Path) -> None:
    path = judged(tmp_path / "judge.jsonl", lambda _: yes_no(0.9))
    judged(path, lambda _: yes_no(0.1))
    found = export([path], tmp_path / "rows")
    assert found.verdicts == {"yes_no": {"No": 80}}
    assert found.left_out == {"asked again later": 80}


def test_rows_are_the_same_bytes_whichever_answer_came_first(teacher: Path, tmp_path: Path) -> None:
    export([teacher], tmp_path / "1")
    export([judged(tmp_path / "judge.jsonl", questions=QUESTIONS[::-1])], tmp_path / "2")
    for name in ("train.jsonl", "held_out.jsonl", "meta.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_several_ledgers_are_one_set(teacher: Path, tmp_path: Path) -> None:
    halves = [judged(tmp_path / str(at) / "judge.jsonl", questions=QUESTIONS[at::2]) for at in range(2)]
    export(halves, tmp_path / "halves")
    export([teacher], tmp_path / "whole")
    key = lambda row: row["item"]  # noqa: E731
    assert sorted(rows(tmp_path / "halves"), key=key) == sorted(rows(tmp_path / "whole"), key=key)


def test_json_answers_are_taught_as_they_were_written(tmp_path: Path) -> None:
    questions = [*QUESTIONS, ask_json(item="case1/m/json")]
    export([judged(tmp_path / "judge.jsonl", questions=questions)], tmp_path / "rows")
    (row,) = (row for row in rows(tmp_path / "rows") if row["task"] == "yes_no_reason")
    assert json.loads(row["completion"][0]["content"][0]["text"]) == {"observation": "seen", "answer": "Yes"}
    assert row["teacher"]["p"] is None


def test_a_fixture_is_named_as_one(tmp_path: Path) -> None:
    path = judged(tmp_path / "judge.jsonl", judge=replace(JUDGE, trained=False))
    assert export([path], tmp_path / "rows").trained is False


def test_an_empty_side_or_a_missing_picture_is_an_error_and_leaves_no_rows(teacher: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no rows for held_out"):
        export([teacher], tmp_path / "rows", share=0.0)
    path = judged(tmp_path / "judge.jsonl")
    next((tmp_path / "media").rglob("*/*")).unlink()
    with pytest.raises(LedgerError, match="not there"):
        export([path], tmp_path / "other")
    assert not list(tmp_path.glob("*/*.jsonl"))


def test_a_file_that_holds_no_rows_is_refused(teacher: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a row"):
        list(read_rows(teacher))
    (tmp_path / "x").write_text("nonsense\n")
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_rows(tmp_path / "x"))


# --------------------------------------------------------------------------------------------------------- agree


def flipped(every: int) -> Callable[[Question], Raw]:
    """The teacher, but for the other answer with the same doubt on each case that `every` divides."""

    def reply(question: Question) -> Raw:
        case = int(question.item.removeprefix("case").partition("/")[0])
        yes = share(question)
        return yes_no(1 - yes if case % every == 0 else yes)

    return reply


def test_a_judge_agrees_with_itself(teacher: Path) -> None:
    (found,) = agree(teacher, teacher)
    assert (found.task, found.n, found.clips) == ("yes_no", 80, 20)
    assert (found.accuracy, found.kappa, found.distance) == (1.0, 1.0, 0.0)
    assert found.kappa_interval == (1.0, 1.0)
    assert (found.only_teacher, found.only_student) == (0, 0)


def test_figures_are_those_of_a_count_by_hand(teacher: Path, tmp_path: Path) -> None:
    (found,) = agree(teacher, judged(tmp_path / "judge.jsonl", flipped(4), STUDENT))
    said = ["Yes" if share(question) >= 0.5 else "No" for question in QUESTIONS]
    differ = [index // 2 % 4 == 0 for index in range(80)]
    table = {(ours, same): 0 for ours in ("Yes", "No") for same in (True, False)}
    for word, other in zip(said, differ, strict=True):
        table[word, not other] += 1
    matrix = ((table["Yes", True], table["Yes", False]), (table["No", False], table["No", True]))
    assert found.verdicts == ("Yes", "No")
    assert found.confusion == matrix
    assert found.accuracy == 0.75
    (a, b), (c, d) = matrix
    chance = ((a + b) * (a + c) + (c + d) * (b + d)) / 80**2
    assert found.kappa == pytest.approx((0.75 - chance) / (1 - chance))
    expected = math.fsum(abs(2 * share(one) - 1) for one, other in zip(QUESTIONS, differ, strict=True) if other) / 80
    assert found.distance == pytest.approx(expected)
    assert found.kappa_interval is not None
    assert found.kappa_interval[0] < found.kappa < found.kappa_interval[1]
    assert found == agree(teacher, tmp_path / "judge.jsonl")[0], "seeded"


def test_kappa_does_not_exist_where_only_one_answer_was_given(tmp_path: Path) -> None:
    one = judged(tmp_path / "1" / "judge.jsonl", lambda _: yes_no(0.9))
    two = judged(tmp_path / "2" / "judge.jsonl", lambda _: yes_no(0.8), STUDENT)
    (found,) = agree(one, two)
    assert (found.accuracy, found.kappa, found.kappa_interval) == (1.0, None, None)
    assert found.distance == pytest.approx(0.1)


def test_only_the_held_out_rows_count(teacher: Path, tmp_path: Path) -> None:
    exported = export([teacher], tmp_path / "rows")
    held = {str(row["id"]) for row in read_rows(tmp_path / "rows" / "held_out.jsonl")}
    (found,) = agree(teacher, judged(tmp_path / "judge.jsonl", judge=STUDENT), held)
    assert (found.n, found.clips) == (exported.rows["held_out"], exported.clips["held_out"])


def test_what_only_one_side_answered_is_counted(teacher: Path, tmp_path: Path) -> None:
    questions = [*QUESTIONS[:50], ask("Is it odd?", "case0/m/odd")]
    (found,) = agree(teacher, judged(tmp_path / "judge.jsonl", judge=STUDENT, questions=questions))
    assert (found.n, found.only_teacher, found.only_student) == (50, 30, 1)


def test_json_answers_agree_by_what_they_decide(tmp_path: Path) -> None:
    questions = [replace(ask_json(str(index)), item=f"case{index}/m/json") for index in range(10)]

    def said(words: str, odd: str) -> Callable[[Question], Raw]:
        def reply(question: Question) -> Raw:
            answer = odd if question.item[4] in "13579" else "Yes"
            return Raw(json.dumps({"observation": words, "answer": answer}), "stop")

        return reply

    one = judged(tmp_path / "1" / "judge.jsonl", said("seen", "No"), questions=questions)
    two = judged(tmp_path / "2" / "judge.jsonl", said("other words", "No"), STUDENT, questions)
    (found,) = agree(one, two)
    assert (found.accuracy, found.kappa, found.distance) == (1.0, 1.0, None)


def test_answers_without_categories_have_an_accuracy_and_no_kappa(tmp_path: Path) -> None:
    questions = [replace(ask_json(str(index)), item=f"case{index}/m/n", answer_schema={}) for index in range(40)]
    path = judged(tmp_path / "judge.jsonl", lambda q: Raw(q.item[4:].partition("/")[0], "stop"), questions=questions)
    (found,) = agree(path, path)
    assert len(questions) > MOST_VERDICTS
    assert (found.accuracy, found.kappa, found.confusion) == (1.0, None, ())


def test_nothing_in_common_is_an_error(teacher: Path, tmp_path: Path) -> None:
    other = judged(tmp_path / "judge.jsonl", questions=[ask("Is it something else?")])
    with pytest.raises(UsageError, match="no question in common"):
        agree(teacher, other)
