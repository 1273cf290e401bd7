"""Realism: how grades are read, which mean is which, and the golden values of the specification."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from evaluator.errors import AnswerError
from evaluator.judge.types import AudioPart, FramesPart, Modality, Question
from evaluator.metrics.base import Outcome
from evaluator.runner.outcome import Absent
from evaluator.suites.ave_compass.judged import JUDGED, VARIANTS
from evaluator.suites.ave_compass.realism import aggregate, grade, score
from tests.suites.ave_compass.judging import SEES, by_rule, case, checklist, needs, run, target_only

METRICS = [metric for metric in JUDGED if metric.id.startswith("realism")]
COMPAT = [metric for name, metric in VARIANTS["compat"].items() if name.startswith("realism")]
CASE = case(checklist(("IF", "video", "Is it?")))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (None, None),
        ("", None),
        ("NA", None),
        ("n/a", None),
        ("bad", None),
        (float("nan"), None),
        (6, 5),
        (0, 1),
        (4.5, 4),
        (3.5, 4),
        (2.5, 2),
        ("4", 4),
        (True, 1),
    ],
)
def test_grades_are_read_as_the_reference_reads_them(written: Any, read: int | None) -> None:
    assert grade(written) == read


def grades(*values: int | None) -> dict[str, int | None]:
    return dict(zip(("object_integrity", "interaction_physics", "naturalness", "AAS", "MTC"), values, strict=True))


@pytest.mark.parametrize(("raw", "shown"), [(4.0, 75.0), (4.3333, 83.33), (3.6667, 66.67)])
def test_scale(raw: float, shown: float) -> None:
    assert 100 * score(raw, rounded=True) == pytest.approx(shown)


def test_modalities_weigh_equally_and_not_grades() -> None:
    found = aggregate(grades(5, 4, 3, 2, None))
    assert (found.video, found.audio, found.overall) == (4.0, 2.0, 3.0)
    assert aggregate(grades(5, 4, 3, None, None)).overall == 4.0
    assert aggregate(grades(5, 4, 4, 5, 4), rounded=True).video == 4.3333


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_missing_visual_grade_is_an_error(missing: int) -> None:
    values: list[int | None] = [5, 4, 3, 2, 1]
    values[missing] = None
    with pytest.raises(AnswerError, match="no grade") as error:
        aggregate(grades(*values))
    assert error.value.code == "incomplete"


def test_two_cases_of_the_reference_tests() -> None:
    """Spec 12.3: overall 75 and 50, video 75 and 25, audio undefined and 75 -> 62.5, 50, 75."""
    first, second = aggregate(grades(4, 4, 4, None, None)), aggregate(grades(2, 2, 2, 4, 4))
    overall, video = (
        [100 * score(one) for one in pair] for pair in ([first.overall, second.overall], [first.video, second.video])
    )
    assert (overall, video) == ([75, 50], [75, 25])
    assert (fmean(overall), fmean(video)) == (62.5, 50)
    assert first.audio is None
    assert second.audio is not None
    assert 100 * score(second.audio) == 75


def label(question: Question) -> str:
    return {"ave_material": "N"}.get(question.task, "4" if FramesPart in map(type, question.parts) else "2")


def value(found: dict[str, Any], name: str) -> float:
    outcome = found[name]
    assert isinstance(outcome, Outcome), outcome
    return outcome.value


def test_each_grade_is_asked_alone_of_its_own_evidence(tmp_path: Path) -> None:
    asked: list[Question] = []

    def watching(question: Question) -> str:
        asked.append(question)
        return label(question)

    found, _ = run(METRICS, CASE, by_rule(watching), tmp_path, given=target_only(needs()))
    kinds = {question.item.rpartition("/")[2]: set(map(type, question.parts)) for question in asked}
    assert len(asked) == 5
    for name in ("object_integrity", "interaction_physics", "naturalness"):
        assert FramesPart in kinds[name]
        assert AudioPart not in kinds[name]
    assert AudioPart in kinds["AAS"]
    assert FramesPart not in kinds["AAS"]
    assert {FramesPart, AudioPart} <= kinds["MTC"]
    assert value(found, "realism_video") == 0.75
    assert value(found, "realism_audio") == 0.25  # no material can be made out: cleanness alone
    assert value(found, "realism") == 0.5
    outcome = found["realism"]
    assert isinstance(outcome, Outcome)
    assert outcome.details["grades"] == {
        "object_integrity": 4,
        "interaction_physics": 4,
        "naturalness": 4,
        "AAS": 2,
        "MTC": None,
    }
    assert outcome.details["answers"]["AAS"]["expectation"] == pytest.approx(0.9 * 2 + 0.025 * 13)


def test_a_clip_without_a_track_has_no_grade_for_sound_whatever_a_judge_says(tmp_path: Path) -> None:
    found, judge = run(METRICS, CASE, by_rule(label), tmp_path, given=target_only(needs(present=False)))
    assert sum(judge.asked.values()) == 3
    assert value(found, "realism") == value(found, "realism_video") == 0.75
    absent = found["realism_audio"]
    assert isinstance(absent, Absent)
    assert absent.reason.code == "not_applicable"


def test_a_judge_that_does_not_hear_gets_substitutes_and_the_record_says_so(tmp_path: Path) -> None:
    found, _ = run(METRICS, CASE, by_rule(lambda question: "3"), tmp_path, SEES, target_only(needs()))
    kinds = {name: outcome.details["evidence"] for name, outcome in found.items() if isinstance(outcome, Outcome)}
    assert kinds == {"realism": "mixed", "realism_video": "native", "realism_audio": "substitute"}


def test_a_judge_that_fails_on_sound_leaves_the_picture_its_grade(tmp_path: Path) -> None:
    def reply(question: Question) -> str:
        return "not a label" if Modality.AUDIO in question.modalities else "4"

    found, _ = run(METRICS, CASE, by_rule(reply), tmp_path, given=target_only(needs()))
    assert value(found, "realism_video") == value(found, "realism") == 0.75
    failed = found["realism_audio"]
    assert isinstance(failed, Absent)
    assert failed.reason.code == "unparsed"
    overall = found["realism"]
    assert isinstance(overall, Outcome)
    assert overall.details["unanswered"] == {"AAS": "unparsed", "MTC": "unparsed"}


def test_compat_asks_once_and_reads_text_grades(tmp_path: Path) -> None:
    told = (
        '{"reason": "r", "object_integrity": 6, "interaction_physics": "4", "naturalness": 3.5, '
        '"AAS": "NA", "MTC": "N/A"}'
    )
    found, judge = run(COMPAT, CASE, by_rule(lambda question: told), tmp_path, given=target_only(needs()))
    assert sum(judge.asked.values()) == 1
    assert value(found, "realism_video") == pytest.approx(0.8333)
    assert isinstance(found["realism_audio"], Absent)


@pytest.mark.parametrize(("missing", "profile"), [("NA", "compat"), (None, "compat"), ("unreadable", "paper")])
def test_a_missing_visual_grade_loses_the_case_in_compat_and_the_picture_in_paper(
    missing: str | None, profile: str, tmp_path: Path
) -> None:
    """Spec 7.9: an error for the case, which in the reference has no other part that could be kept."""
    told = {"reason": "r", "object_integrity": missing, "interaction_physics": 4, "naturalness": 4, "AAS": 3, "MTC": 3}

    def reply(question: Question) -> str:
        if not question.labels:
            return json.dumps(told)
        return str(missing) if question.item.endswith("object_integrity") else "3"

    metrics = COMPAT if profile == "compat" else METRICS
    found, _ = run(metrics, CASE, by_rule(reply), tmp_path, given=target_only(needs()))
    lost = {name for name, outcome in found.items() if isinstance(outcome, Absent)}
    assert lost == {"realism", "realism_video", *(("realism_audio",) if profile == "compat" else ())}


def test_compat_without_a_track_ignores_grades_of_sound(tmp_path: Path) -> None:
    told = '{"reason": "r", "object_integrity": 5, "interaction_physics": 5, "naturalness": 5, "AAS": 1, "MTC": 1}'
    given = target_only(needs(present=False))
    found, _ = run(COMPAT, CASE, by_rule(lambda question: told), tmp_path, given=given)
    assert value(found, "realism") == 1.0
    assert isinstance(found["realism_audio"], Absent)
