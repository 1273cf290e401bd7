"""Defects of the asking: free text, constants for evidence, one camera for all shots, counts told as lists."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.judge.types import Question, Raw, TextPart
from evaluator.metrics.base import Outcome
from evaluator.suites.cutcraft.dimensions import all_of, c1, d1, e1
from evaluator.suites.cutcraft.flags import COMPAT, PAPER, Defects
from tests.suites.cutcraft.cases import case, cut, media, needed, shot
from tests.suites.cutcraft.test_dimensions import knowing
from tests.suites.judging import Court


def asked(
    module: object, folder: Path, reply: object = knowing, one: object = None, **on: bool
) -> tuple[object, list[Question]]:
    metric, one = module.metric(replace(PAPER, **on)), one or case()  # type: ignore[attr-defined]
    with Court(folder, reply) as court:  # type: ignore[arg-type]
        found = court.hear(metric, one, **needed(metric, one, media()))  # type: ignore[arg-type]
        return found, court.asked


def measurements(question: Question) -> str:
    return " ".join(part.text for part in question.parts if isinstance(part, TextPart) and part.name == "measurements")


def test_d12_letters_are_guessed_from_text(tmp_path: Path) -> None:
    def talks(question: Question) -> Raw:
        return knowing(question) if question.labels or question.answer_schema else Raw("Answer: C", "stop")

    found, questions = asked(c1, tmp_path, talks, loose_letters=True, options_as_stored=True)
    assert isinstance(found, Outcome)
    assert found.value == 1.0  # both "Answer: C" are an A, which is Sequential in both questions
    assert {one.task for one in questions} == {"cut_segments", "cut_choice_text"}


def test_d02_and_d03_tell_constants(tmp_path: Path) -> None:
    _, own = asked(e1, tmp_path)
    (tmp_path / "c").mkdir()
    _, theirs = asked(e1, tmp_path / "c", lost_summaries=True, one_camera=True)
    told = {kind: {measurements(one) for one in found if "/motion/" in one.item} for kind, found in
            (("own", own), ("theirs", theirs))}  # fmt: skip
    assert len(told["own"]) == 2
    assert len(told["theirs"]) == 1
    scale = [measurements(one) for one in theirs if "/scale/" in one.item]
    assert all("dominant scale: MS" in one for one in scale)
    assert not any("dominant scale" in measurements(one) for one in own)


def test_d14_a_number_is_told_as_a_list(tmp_path: Path) -> None:
    _, own = asked(c1, tmp_path)
    (tmp_path / "c").mkdir()
    _, theirs = asked(c1, tmp_path / "c", count_is_presence=True)
    text = [" ".join(part.text for part in found[-1].parts if isinstance(part, TextPart)) for found in (own, theirs)]
    assert "shot 2: 3." in text[0]
    assert "shots 1 to 2" in text[1]


@pytest.mark.parametrize(("fails", "wanted"), [(False, 1.0), (True, 0.0)])
def test_d15_a_gilligan_cut_has_no_words(tmp_path: Path, fails: bool, wanted: float) -> None:
    one = case(shot(1, 0, 3.6, transition_to_next=cut("Gilligan cut")), shot(2, 3.6, 7.2))
    found, _ = asked(d1, tmp_path, one=one, unknown_transition_fails=fails)
    assert isinstance(found, Outcome)
    assert found.details["modes_found"]["A+B"] == wanted


def test_both_profiles_have_all_dimensions() -> None:
    assert [one.id for one in all_of(PAPER)] == [one.id for one in all_of(COMPAT)]
    assert len(all_of(COMPAT)) == 16
    assert isinstance(COMPAT, Defects)
