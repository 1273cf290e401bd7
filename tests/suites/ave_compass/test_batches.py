"""Profile compat: batches per modality with ids as an enum, what is asked again, all or nothing, rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.judge.parse import read
from evaluator.judge.prompts import load
from evaluator.judge.types import AudioPart, FramesPart, Question, Raw
from evaluator.judge.verdict import verdict
from evaluator.metrics.base import Outcome
from evaluator.runner.outcome import Absent
from evaluator.suites.ave_compass.batches import schema
from evaluator.suites.ave_compass.judged import VARIANTS
from tests.suites.ave_compass.judging import SEES, by_rule, case, checklist, evaluations, needs, replayed, run

METRICS = [metric for name, metric in VARIANTS["compat"].items() if not name.startswith("realism")]
CASE = case(
    checklist(
        ("ER", "video", "Does the video change?"),
        ("IF", "video", "Is rain visible?"),
        ("IF", "video", "Is all of it wet?"),
        ("IF", "audio", "Is rain audible?"),
        ("FP", "video", "Does the dog keep its shape?"),
        ("FP", "general", "Does the bark keep its place?"),
    )
)


def ids(question: Question) -> list[str]:
    assert question.answer_schema is not None
    entries = question.answer_schema["properties"]["evaluations"]
    found: list[str] = entries["items"]["properties"]["question_id"]["enum"]
    assert entries["minItems"] == entries["maxItems"] == len(found)
    return found


def test_one_question_per_modality_in_the_order_of_the_reference(tmp_path: Path) -> None:
    asked: list[Question] = []

    def all_yes(question: Question) -> str:
        asked.append(question)
        return evaluations(**dict.fromkeys(ids(question), "Yes"))

    found, _ = run(METRICS, CASE, by_rule(all_yes), tmp_path)
    assert sorted(one.item for one in asked) == ["c/checklist/audio", "c/checklist/general", "c/checklist/video"]
    by_tag = {one.item.rpartition("/")[2]: one for one in asked}
    assert ids(by_tag["video"]) == ["Q01", "Q02", "Q03", "Q05"]
    assert ids(by_tag["audio"]) == ["Q04"]
    kinds = {tag: {type(part) for part in one.parts} for tag, one in by_tag.items()}
    assert AudioPart in kinds["video"]  # the reference's video call carries the sound (known defect 11)
    assert FramesPart not in kinds["audio"]
    assert {FramesPart, AudioPart} <= kinds["general"]
    outcome = found["editing_intent"]
    assert isinstance(outcome, Outcome)
    assert outcome.value == 1.0


@pytest.mark.parametrize(
    ("said", "value"), [(" YES ", 1.0), ("yes.", 0.0), ("Yes, mostly", 0.0), ("partial", 0.0), (None, 0.0)]
)
def test_only_a_bare_yes_affirms(said: str | None, value: float, tmp_path: Path) -> None:
    lone = case(checklist(("IF", "video", "Is rain visible?")))
    found, judge = run(METRICS, lone, by_rule(lambda question: evaluations(Q01=said)), tmp_path)
    assert sum(judge.asked.values()) == 1
    outcome = found["instruction_following"]
    assert isinstance(outcome, Outcome)
    assert outcome.value == value


def forgetful(forgotten: Sequence[str], times: int) -> tuple[list[Question], object]:
    """A judge that answers another item twice instead of these, the first `times` times."""
    asked: list[Question] = []

    def reply(question: Question) -> str:
        asked.append(question)
        wanted = ids(question)
        if question.sample >= times:
            return evaluations(**dict.fromkeys(wanted, "Yes"))
        kept = [name for name in wanted if name not in forgotten]
        if not kept:
            return "no JSON"
        tree = evaluations(**dict.fromkeys(kept, "Yes"))
        entry = tree[tree.index("[") + 1 : tree.index("}") + 1]
        return tree.replace("[" + entry, "[" + ", ".join([entry] * (1 + len(wanted) - len(kept))))

    return asked, by_rule(reply)


@pytest.mark.parametrize("times", [1, 2])
def test_missing_items_are_asked_again_alone(times: int, tmp_path: Path) -> None:
    asked, judge = forgetful(["Q02", "Q05"], times)
    found, _ = run(METRICS, CASE, judge, tmp_path)  # type: ignore[arg-type]
    video = [ids(one) for one in asked if one.item.endswith("video")]
    assert video == [["Q01", "Q02", "Q03", "Q05"]] + [["Q02", "Q05"]] * times
    outcome = found["instruction_following"]
    assert isinstance(outcome, Outcome)
    assert outcome.value == 1.0


def test_a_replay_asks_what_was_asked_after_an_answer_that_it_lacks(tmp_path: Path) -> None:
    """A ledger answers with usable answers alone: the first one here, which was none, is missing from a replay."""

    def reply(question: Question) -> str:
        return "no JSON" if question.sample == 0 else evaluations(**dict.fromkeys(ids(question), "Yes"))

    live, _ = run(METRICS, CASE, by_rule(reply), tmp_path)
    assert replayed(METRICS, CASE, tmp_path) == live
    assert isinstance(live["editing_intent"], Outcome)
    nothing = replayed(METRICS, replace(CASE, prompt="", checklist={**CASE.checklist, "caption": "A cat."}), tmp_path)
    lost = nothing["editing_intent"]
    assert isinstance(lost, Absent)
    assert lost.reason.code == "no_judge"


def test_what_an_answer_decides_includes_its_verdicts() -> None:
    """Two judges agree if they say the same of each item, whatever they write around it."""
    form = schema(load("ave_compat_joint"), ["Q01"])
    yes, no, other = (
        verdict(form, read((), form, Raw(text, "stop"), "k"))
        for text in (evaluations(Q01="Yes"), evaluations(Q01="No"), evaluations(Q01="Yes").replace('"o"', '"p"'))
    )
    assert yes == other != no


def test_after_two_more_tries_the_whole_case_is_lost(tmp_path: Path) -> None:
    """Known defect 12: one bad split takes the other modalities with it. Profile paper does not (test_judged)."""
    asked, judge = forgetful(["Q02"], 9)
    found, _ = run(METRICS, CASE, judge, tmp_path)  # type: ignore[arg-type]
    assert sum(one.item.endswith("video") for one in asked) == 3
    assert all(isinstance(outcome, Absent) for outcome in found.values())
    lost = found["instruction_following_audio"]
    assert isinstance(lost, Absent)
    assert lost.reason.code in {"incomplete", "unparsed"}


def test_a_clip_without_a_track_loses_the_case_if_it_asks_about_sound(tmp_path: Path) -> None:
    found, judge = run(METRICS, CASE, by_rule(lambda one: "{}"), tmp_path, given=needs(present=False))
    assert not judge.asked
    assert all(isinstance(outcome, Absent) for outcome in found.values())
    seen = case(checklist(("IF", "video", "Is rain visible?")))
    found, _ = run(
        METRICS, seen, by_rule(lambda one: evaluations(Q01="Yes")), tmp_path / "2", given=needs(present=False)
    )
    assert isinstance(found["instruction_following"], Outcome)


def test_cells_are_rounded_before_they_are_multiplied(tmp_path: Path) -> None:
    items = [("IF", "video", f"Is drop {n} seen?") for n in range(3)] + [
        ("FP", "video", f"Is dog {n} grey?") for n in range(7)
    ]
    answers = {f"Q{n:02d}": "Yes" if n in {1, 2, 4, 5, 6, 7} else "No" for n in range(1, 11)}
    found, _ = run(METRICS, case(checklist(*items)), by_rule(lambda one: evaluations(**answers)), tmp_path)
    raw = {name: outcome.raw for name, outcome in found.items() if isinstance(outcome, Outcome)}
    assert (raw["instruction_following"], raw["fidelity_preserving"], raw["editing_intent"]) == (66.67, 57.14, 38.1)


@pytest.mark.parametrize(
    ("category", "prompt_id"),
    [
        ("joint", "ave_compat_joint"),
        ("video_only_edit", "ave_compat_video_only"),
        ("audio-only", "ave_compat_audio_only"),
        ("S2.1", "ave_compat_joint"),
    ],
)
def test_the_branch_picks_the_rules(category: str, prompt_id: str, tmp_path: Path) -> None:
    asked: list[str] = []

    def reply(question: Question) -> str:
        asked.append(question.task)
        return evaluations(Q01="Yes")

    run(METRICS, case(checklist(("IF", "video", "Is it?"), branch=category)), by_rule(reply), tmp_path)
    assert asked == [prompt_id]


def test_a_judge_that_does_not_hear_sees_the_pictures_alone(tmp_path: Path) -> None:
    found, _ = run(
        METRICS, CASE, by_rule(lambda one: evaluations(**dict.fromkeys(ids(one), "Yes"))), tmp_path, SEES
    )  # fmt: skip
    outcome = found["instruction_following_video"]
    assert isinstance(outcome, Outcome)
    assert outcome.details["evidence"] == "substitute"
