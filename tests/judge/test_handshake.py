"""A good judge passes; every kind of server that would give numbers without meaning is caught by the right check."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping

import orjson
import pytest

from evaluator.errors import EXIT_PREREQUISITE, JudgeUnusableError
from evaluator.judge import probes
from evaluator.judge.handshake import examine
from evaluator.judge.retry import FullJitter
from evaluator.judge.selfcheck import probability_distance, self_check
from evaluator.judge.types import Modality, Question, Raw
from tests.judge import fake_server as fake
from tests.judge.conftest import Connect
from tests.judge.fake_server import Behaviour

EVERYTHING = frozenset(Modality)
QUICK = FullJitter(base_s=0.01)


def test_a_good_judge_passes_every_check(connect: Connect) -> None:
    verdict = examine(connect(modalities=EVERYTHING))
    verdict.require()
    assert verdict.ok
    assert [finding.name for finding in verdict.findings] == [
        "obeys label constraints",
        "tells log-probabilities of the whole vocabulary",
        "obeys JSON schemas",
        "looks at pictures",
        "looks at frames",
        "minds the times of frames",
        "listens",
    ]
    tree = verdict.tree()
    assert orjson.loads(orjson.dumps(tree))["repeatable"] == "bitwise (16 questions, 8 at a time)"
    assert tree["judge"]["modalities"] == ["audio", "image", "text", "video"]


@pytest.mark.parametrize(
    ("how", "check"),
    [
        (Behaviour(ignores_labels=True), "obeys label constraints"),
        (Behaviour(masks_logprobs=True), "tells log-probabilities of the whole vocabulary"),
        (Behaviour(ignores_schemas=True), "obeys JSON schemas"),
        (Behaviour(pads_json=True), "obeys JSON schemas"),
        (Behaviour(blind=True), "looks at pictures"),
        (Behaviour(timeless=True), "minds the times of frames"),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_each_fault_is_caught(connect: Connect, how: Behaviour, check: str) -> None:
    verdict = examine(connect(how), policy=QUICK)
    assert check in [finding.name for finding in verdict.findings if not finding.ok]
    assert verdict.tree()["repeatable"] == "not tried"
    with pytest.raises(JudgeUnusableError, match=check) as error:
        verdict.require()
    assert error.value.exit_code == EXIT_PREREQUISITE


def test_a_judge_that_is_deaf_but_said_to_hear_is_caught(connect: Connect) -> None:
    verdict = examine(connect(Behaviour(blind=True), modalities=frozenset({Modality.TEXT, Modality.AUDIO})))
    assert [finding.name for finding in verdict.findings if not finding.ok] == ["listens"]


def test_a_moody_judge_is_measured_and_refused_unless_that_is_accepted(connect: Connect) -> None:
    judge = connect(Behaviour(mood=1e-4))
    strict = examine(judge)
    assert not strict.ok
    assert strict.repeats is not None
    assert 0 < strict.repeats.repeated < 1e-3
    assert strict.repeats.summary.startswith("max_dp=")
    with pytest.raises(JudgeUnusableError, match="repeats itself: max_dp="):
        strict.require()
    assert examine(judge, tolerance=0.01).ok


def test_trouble_on_the_way_does_not_fail_a_good_judge(connect: Connect) -> None:
    how = Behaviour()
    judge = connect(how)
    how.fault = lambda number: fake.reset if number % 4 == 0 else None
    assert examine(judge, policy=QUICK).ok


def test_a_judge_that_breaks_under_load_is_refused_not_crashed_on(connect: Connect) -> None:
    how = Behaviour()
    judge = connect(how)
    examine(judge, questions=1)
    quiet = how.chats
    how.fault = lambda number: fake.status(400) if number > quiet + 40 else None
    verdict = examine(judge, questions=64)
    assert not verdict.ok
    assert verdict.findings[-1].name == "answers under load"


class Crowded:
    """Answers differently when it is asked more than one thing at a time."""

    def __init__(self) -> None:
        self._main = threading.get_ident()

    def __call__(self, question: Question) -> Raw:
        crowded = threading.get_ident() != self._main
        return Raw("Yes", "length", {"Yes": math.log(0.6 if not crowded else 0.4), "No": math.log(0.5)})


def test_an_answer_that_depends_on_company_is_found() -> None:
    found = self_check(Crowded(), probes.mixed(4, frozenset({Modality.TEXT})), 4, 0.01)
    assert found.repeated == 0
    assert found.concurrent == pytest.approx(0.2)
    assert found.flips == 4
    assert not found.ok


def test_answers_are_compared_with_their_own_question() -> None:
    """The crowd asks in another order; a comparison by position would find differences where there are none."""

    def ask(question: Question) -> Raw:
        share = (1 + int(question.item.split()[-1])) / 100
        return Raw("Yes", "length", {"Yes": math.log(share), "No": math.log(1 - share)})

    found = self_check(ask, probes.mixed(32, frozenset({Modality.TEXT})), 8, 0.0)
    assert found.ok
    assert found.summary == "bitwise (32 questions, 8 at a time)"


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ({"Yes": 0.0}, {"Yes": 0.0}, 0.0),
        ({"Yes": math.log(0.25)}, {"Yes": math.log(0.75)}, 0.5),
        ({"Yes": -800.0}, {"Yes": -801.0}, math.ulp(0.0)),  # both are 0 as probabilities, and yet not equal
    ],
)
def test_the_distance_of_answers(one: Mapping[str, float], other: Mapping[str, float], distance: float) -> None:
    assert probability_distance(Raw("", "", one), Raw("", "", other)) == pytest.approx(distance)
    assert (probability_distance(Raw("", "", one), Raw("", "", other)) == 0) == (one == other)


def test_probes_are_the_same_bytes_every_time_and_all_different() -> None:
    questions = probes.mixed(16, EVERYTHING)
    assert questions == probes.mixed(16, EVERYTHING)
    media = [part.sha256 for question in questions for part in question.parts]
    assert len(set(media)) == len(media)
