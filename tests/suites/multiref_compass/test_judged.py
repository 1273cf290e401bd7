"""Grades of items: what the judge is shown, and what its answers come to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluator.judge.types import AudioPart, FramesPart, ImagePart, Question, Raw, TextPart
from evaluator.metrics.base import Outcome
from evaluator.runner.outcome import Absent
from evaluator.schema import Case
from evaluator.suites.multiref_compass import SUITE
from evaluator.suites.multiref_compass.graded import COMPAT
from tests.experts.sounds import sound
from tests.suites.judging import SEEING, Court, by_item, label, written
from tests.suites.multiref_compass.cases import case, flat, item

AQ, DP, ESM, SC, VTF, ATF, SCA = (SUITE.metric(name) for name in ("aq", "dp", "esm", "sc", "vtf", "atf", "sca"))
SOUND = sound([0.1] * 16_000)
MEDIA: dict[str, Any] = {"frames": flat(90, 16), "reference_0": flat(40), "reference_1": flat(200)}


def names(question: Question, kind: type) -> list[str]:
    return [part.name for part in question.parts if isinstance(part, kind)]


def test_fixed_items_are_asked_without_references(tmp_path: Path) -> None:
    with Court(tmp_path, by_item({"limbs": "1"})) as court:
        assert court.value(AQ, case(), frames=MEDIA["frames"]) == pytest.approx((1 + 6 * 5) / 7, abs=1e-5)
        assert [names(question, ImagePart) for question in court.asked] == [[]] * 7
        assert all(names(question, FramesPart) == ["target"] for question in court.asked)


def test_a_checklist_may_bring_its_own_items_of_anatomy_and_details(tmp_path: Path) -> None:
    one = case(checklist=[item("paws", "AQ"), item("visor", "DP")])
    with Court(tmp_path, by_item({"paws": "2", "visor": "3"})) as court:
        assert court.value(AQ, one, frames=MEDIA["frames"]) == pytest.approx(2, abs=1e-5)
        assert court.value(DP, one, **MEDIA) == pytest.approx(3, abs=1e-5)
        assert names(court.asked[1], ImagePart) == ["reference A view 1", "reference B view 1"]  # about no one entity


def test_details_compare_each_entity_with_its_own_pictures(tmp_path: Path) -> None:
    with Court(tmp_path, by_item({"mia": "4", "robot": "2"})) as court:
        found = court.hear(DP, case(), **MEDIA)
        assert [names(question, ImagePart) for question in court.asked] == [
            ["reference A view 1"],
            ["reference B view 1"],
        ]
    assert isinstance(found, Outcome)
    assert found.value == pytest.approx(3, abs=1e-5)
    assert [one["id"] for one in found.details["items"]] == ["mia", "robot"]


def heard(one: Case, **facts: Any) -> Case:
    return case(one.id, facts=facts, checklist=[item("a", "ATF")], board="B3")


def test_without_a_judge_that_hears_cells_about_sound_stay_empty(tmp_path: Path) -> None:
    line = {"speaker": "Mia", "text": "Hello there", "lang": "en"}
    one = heard(case(), sfx=True, speech="monologue", exact_lines=[line])
    with Court(tmp_path, by_item({}), SEEING) as court:
        for metric in (ESM, SC, ATF, SCA):
            found = court.hear(metric, one, frames=MEDIA["frames"], sound=SOUND)
            assert isinstance(found, Absent), metric.id
            assert found.reason.code == "no_judge"
        assert isinstance(court.hear(VTF, case(checklist=[item("v", "VTF")]), frames=MEDIA["frames"]), Outcome)


def test_sound_is_shown_with_the_frames(tmp_path: Path) -> None:
    with Court(tmp_path, by_item({"voice": "2", "effects": "4"})) as court:
        found = court.value(SC, heard(case(), sfx=True, speech="dialogue"), frames=MEDIA["frames"], sound=SOUND)
        assert found == pytest.approx(3, abs=1e-5)
        assert [names(question, AudioPart) for question in court.asked] == [["target sound"]] * 2
        silent = court.hear(ESM, heard(case("s3/x"), sfx=True), frames=MEDIA["frames"], sound=None)
    assert isinstance(silent, Absent)
    assert silent.reason.code == "not_applicable"


def test_without_items_a_task_is_unavailable_and_never_full_marks(tmp_path: Path) -> None:
    with Court(tmp_path, by_item({})) as court:
        found = court.hear(VTF, case(), frames=MEDIA["frames"])
    assert isinstance(found, Absent)
    assert found.reason.code == "unavailable"


def test_exact_lines_make_their_own_items(tmp_path: Path) -> None:
    lines = [{"speaker": "Mia", "text": "Hello there", "lang": "en"}, {"speaker": "", "text": "你好", "lang": "zh"}]
    with Court(tmp_path, by_item({"line1": "5", "line2": "1"})) as court:
        assert court.value(
            SCA, case(facts={"exact_lines": lines}), frames=MEDIA["frames"], sound=SOUND
        ) == pytest.approx(3, abs=1e-5)
        first, second = (" ".join(part.text for part in one.parts if isinstance(part, TextPart)) for one in court.asked)
    assert all(word in first for word in ("Mia", "Hello there", "en"))  # who, exactly what, and in which language
    assert all(word in second for word in ("你好", "zh"))


def test_compat_writes_an_observation_and_a_whole_number(tmp_path: Path) -> None:
    with Court(tmp_path, lambda _: written({"observation": "a red robot", "score": 3})) as court:
        found = court.hear(COMPAT["vtf"], case(checklist=[item("v", "VTF")]), frames=MEDIA["frames"])
    assert isinstance(found, Outcome)
    assert found.value == 3
    assert found.details["items"][0]["observation"] == "a red robot"


def test_some_answers_are_a_partial_mean(tmp_path: Path) -> None:
    def mumbling(question: Question) -> Raw:
        return Raw("?", "length", {}) if question.item.endswith("limbs") else label(question, "4")

    with Court(tmp_path, mumbling) as court:
        found = court.hear(AQ, case(), frames=MEDIA["frames"])
    assert isinstance(found, Outcome)
    assert found.value == pytest.approx(4, abs=1e-5)
    assert found.details["evidence"] == "partial 6 of 7"


def test_a_reference_clip_is_shown_as_stills_beside_the_target(tmp_path: Path) -> None:
    """Two clips of different times cannot be in one question."""
    with Court(tmp_path, by_item({})) as court:
        court.value(DP, case("s5/x"), **MEDIA, reference_clip=flat(120, 4))
        question = court.asked[0]
    assert names(question, FramesPart) == ["target"]
    assert names(question, ImagePart)[1:] == [f"reference clip moment {number}" for number in range(1, 5)]
