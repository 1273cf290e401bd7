"""What a judge is shown and asked, one by one and in batches, and what its answers become."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.judge.types import FramesPart, Modality, Question, Raw, TextPart
from evaluator.schema import Status, encode
from evaluator.suites.covebench import SUITE
from evaluator.suites.covebench.judged import ask, ask_batched
from tests.judge.fakes import JUDGE
from tests.suites.covebench.judging import (
    GROUPS,
    RIGHT,
    case_of,
    clip,
    execution,
    group,
    judged,
    kept,
    labelled,
    saying,
)


def blocks(question: Question) -> dict[str, str]:
    return {part.name: part.text for part in question.parts if isinstance(part, TextPart) and part.untrusted}


def clips(question: Question) -> list[FramesPart]:
    return [part for part in question.parts if isinstance(part, FramesPart)]


def test_every_question_is_asked_alone_with_what_its_type_shows() -> None:
    asked = ask(case_of(), clip(), clip(level=9))
    assert [one.task for one in asked] == [
        "cove_ab_mcq",
        "cove_single_tf",
        "cove_single_tf",
        "cove_dual_tf",
        "cove_score_mcq",
        "cove_score_mcq",
    ]
    shown = [[part.name for part in clips(one)] for one in asked]
    assert shown == [["Video B"]] * 3 + [["Video A", "Video B"]] * 3
    assert [one.labels for one in asked[2:5]] == [("Yes", "No"), ("Yes", "No"), tuple("ABCDEFGHIJ")]
    assert asked[0].labels == ("A", "B", "C")
    assert asked[0].modalities == {Modality.TEXT, Modality.VIDEO}
    assert len({id(clips(one)[0]) for one in asked[:3]}) == 1  # encoded once


def test_what_a_question_says_and_what_it_keeps_to_itself() -> None:
    asked = ask(case_of(prompt="Swap it."), clip(), clip())
    assert blocks(asked[0]) == {
        "instruction": "Swap it.",
        "question": "Q1?",
        "option_A": "Q1 first",
        "option_B": "Q1 second",
    }
    assert blocks(asked[4]) == {"instruction": "Swap it.", "question": "Q5?"}
    without = ask(case_of(prompt=" "), clip(), clip())
    assert "instruction" not in blocks(without[0])
    for one in (*asked, *ask_batched(case_of(), clip(), clip())):
        told = json.dumps(blocks(one))
        assert not any(word in told for word in ("expected", "Execution", "Physical", "Semantic", "Removal"))


def test_both_clips_are_shown_at_the_same_times_and_at_most_64_of_them() -> None:
    asked = ask(case_of(), clip(150), clip(90))
    source, output = clips(asked[3])
    assert source.times == output.times
    assert len(source.times) == len(clips(asked[0])[0].times) == 64
    assert source.frames != output.frames or len(set(source.frames)) > 1


def test_in_batches_there_is_one_call_per_type_with_all_its_questions() -> None:
    asked = ask_batched(case_of(), clip(), clip())
    assert [one.task for one in asked] == [
        "cove_batch_single_tf",
        "cove_batch_dual_tf",
        "cove_batch_ab_mcq",
        "cove_batch_score_mcq",
    ]
    assert [len(clips(one)) for one in asked] == [1, 2, 1, 2]
    assert json.loads(blocks(asked[0])["questions"]) == [
        {"id": "Q2", "question": "Q2?"},
        {"id": "Q3", "question": "Q3?"},
    ]
    assert json.loads(blocks(asked[2])["questions"])[0]["options"] == {"A": "Q1 first", "B": "Q1 second"}
    assert all(not one.labels and one.answer_schema is None and one.max_tokens == 16_384 for one in asked)
    assert len(ask_batched(case_of([group(kept("Q1"))]), clip(), clip())) == 1


@pytest.mark.parametrize("profile", SUITE.profiles)
def test_right_answers_give_full_scores_in_every_profile(tmp_path: Path, profile: str) -> None:
    found = judged(case_of(), saying(RIGHT), tmp_path, profile)
    assert {name: one.value for name, one in found.items()} == {
        "uas": 100.0,
        "ifs": 100.0,
        "vrs": 100.0,
        "sem": 95.0,
        "uas_task": 100.0,
    }
    assert found["ifs"].details["answered"] == found["ifs"].details["asked"] == 3
    assert found["sem"].details["evidence"] == "native"


def test_both_options_at_once_are_wrong(tmp_path: Path) -> None:
    found = judged(case_of(), saying({**RIGHT, "Q1": "A and B"}), tmp_path)
    assert found["ifs"].value == pytest.approx(200 / 3)
    assert found["uas"].value == 50.0
    assert found["uas_task"].value == 0.0
    assert found["ifs"].details["questions"][0]["said"] == "A and B"
    assert [edit["right"] for edit in found["uas"].details["edits"]] == [0.0, 1.0]


def test_probabilities_are_kept_and_give_the_raw_figure(tmp_path: Path) -> None:
    found = judged(case_of(), saying(RIGHT), tmp_path)
    assert found["ifs"].raw == pytest.approx(90.0)
    entry = found["ifs"].details["questions"][0]
    assert entry["probabilities"]["B"] == pytest.approx(0.9)
    assert len(entry["ledger_key"]) == 64
    mean = 0.9 * 9 + 0.1 / 9 * (55 - 9), 0.9 * 10 + 0.1 / 9 * (55 - 10)
    assert found["sem"].raw == pytest.approx(10 * sum(mean) / 2, rel=1e-5)


def test_all_scores_share_one_set_of_answers(tmp_path: Path) -> None:
    asked: list[str] = []

    def reply(question: Question) -> Raw:
        asked.append(question.item)
        return saying(RIGHT)(question)

    judged(case_of(), reply, tmp_path)
    assert sorted(asked) == [f"9001/model/Q{number}" for number in range(1, 7)]


ONE_LOST = {**RIGHT, "Q2": None}


class TestMissingAnswers:
    def test_count_as_wrong_and_say_so(self, tmp_path: Path) -> None:
        found = judged(case_of(), saying(ONE_LOST), tmp_path)
        assert found["ifs"].value == pytest.approx(200 / 3)
        assert found["uas"].value == 50.0
        details = found["ifs"].details
        assert (details["asked"], details["answered"], details["missing"]) == (3, 2, "wrong")
        entry = details["questions"][1]
        assert (entry["status"], entry["score"], entry["said"]) == ("error", None, None)
        assert found["uas"].details["edits"][0]["scores"] == {"Q1": 1.0, "Q2": None, "Q3": 1.0}

    def test_vanish_in_compat_with_all_of_their_type(self, tmp_path: Path) -> None:
        """Q2 and Q3 are one call: a reply without Q2 is void for both (spec 3.3), and UAS rises (defect 1)."""

        def reply(question: Question) -> Raw:
            if question.item.endswith("/Single-TF"):
                return Raw('[{"id": "Q3", "reasoning": "", "final_answer": "Yes"}]', "stop")
            return saying(RIGHT)(question)

        found = judged(case_of(), reply, tmp_path, "compat")
        assert found["uas"].value == 100.0
        assert found["ifs"].details["answered"] == 2
        assert found["ifs"].details["missing"] == "reference"
        assert found["vrs"].status is Status.FAILED
        assert found["vrs"].reason is not None
        assert found["vrs"].reason.code == "unanswered"
        assert "(unparsed 1)" in found["vrs"].reason.message
        assert found["uas_task"].reason is not None
        assert found["uas_task"].reason.code == "not_applicable"  # no scored question of one of the kinds

    @pytest.mark.parametrize("profile", ["paper", "compat"])
    def test_without_any_answer_there_is_no_value(self, tmp_path: Path, profile: str) -> None:
        def reply(question: Question) -> Raw:
            return Raw("I must decline.", "refusal")

        found = judged(case_of(), reply, tmp_path, profile)
        assert {one.status for one in found.values()} == {Status.FAILED}
        assert {one.reason.code for one in found.values() if one.reason} == {"unanswered"}
        assert all("refused" in one.reason.message for one in found.values() if one.reason)


def test_answers_that_the_reference_does_not_understand(tmp_path: Path) -> None:
    """Defects 2 and 3, in the profile that keeps them."""
    odd = {**RIGHT, "Q3": True, "Q1": "B.", "Q5": "8/10", "Q6": 12}
    found = judged(case_of(), saying(odd), tmp_path, "compat")
    assert found["vrs"].value == 0.0
    assert found["ifs"].value == pytest.approx(200 / 3)
    assert found["sem"].value == 120.0  # one grade is unreadable, the other one is not kept within 1..10
    assert [entry["status"] for entry in found["sem"].details["questions"]] == ["unparsed", "ok"]


@pytest.mark.parametrize("grade", ["1" * 400, "1" * 30, "NaN", '"\\ud800"'])
def test_a_number_that_is_none_takes_nothing_but_itself_out(tmp_path: Path, grade: str) -> None:
    """A record of it can be written, and the other grade counts, as the reference has it."""

    def reply(question: Question) -> Raw:
        if not question.item.endswith("/Score-MCQ"):
            return saying(RIGHT)(question)
        entries = (f'{{"id": "{name}", "reasoning": "", "final_score": {value}}}' for name, value in given.items())
        return Raw(f"[{', '.join(entries)}]", "stop")

    given = {"Q5": grade, "Q6": "8"}
    found = judged(case_of(), reply, tmp_path, "compat")
    assert {name: one.value for name, one in found.items()} == {
        "uas": 100.0,
        "ifs": 100.0,
        "vrs": 100.0,
        "sem": 80.0,
        "uas_task": 100.0,
    }
    assert all(map(encode, found.values()))


def test_a_task_without_questions_of_a_kind_has_no_such_score(tmp_path: Path) -> None:
    found = judged(case_of([group(execution("Q1"))]), saying({"Q1": "Yes"}), tmp_path)
    assert (found["ifs"].value, found["uas"].value) == (100.0, 100.0)
    for name in ("vrs", "sem", "uas_task"):
        assert found[name].reason is not None
        assert found[name].reason.code == "not_applicable"


def test_a_case_without_a_checklist_is_not_judged(tmp_path: Path) -> None:
    found = judged(replace(case_of(), checklist=None), saying({}), tmp_path)
    assert {one.reason.code for one in found.values() if one.reason} == {"not_applicable"}


def test_a_judge_that_sees_no_clips_is_nobody(tmp_path: Path) -> None:
    blind = replace(JUDGE, modalities=frozenset({Modality.TEXT}))
    found = judged(case_of(), saying(RIGHT), tmp_path, identity=blind)
    assert {(one.status, one.reason.code) for one in found.values() if one.reason} == {(Status.SKIPPED, "no_judge")}


def test_a_near_tie_is_counted(tmp_path: Path) -> None:
    def reply(question: Question) -> Raw:
        raw = labelled(question, question.labels[0])
        if question.item.endswith("/Q2"):
            return Raw("Yes", "length", {"Yes": -0.69, "No": -0.70})
        return raw

    assert judged(case_of(), reply, tmp_path)["ifs"].details["near_ties"] == 1


def test_the_case_is_in_the_question_but_its_id_is_not_in_the_key(tmp_path: Path) -> None:
    ours, theirs = case_of(GROUPS, system="a"), case_of(GROUPS, system="b")
    one, other = judged(ours, saying(RIGHT), tmp_path / "1"), judged(theirs, saying(RIGHT), tmp_path / "2")
    keys = [found["ifs"].details["questions"][0]["ledger_key"] for found in (one, other)]
    assert keys[0] == keys[1]
