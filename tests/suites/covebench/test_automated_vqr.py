"""VQR: what is shown and asked, how replies are read, what fails a clip, and who may answer."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from evaluator.errors import AnswerError, NotApplicable
from evaluator.judge.types import Answer, ImagePart, Status
from evaluator.media.types import Frames
from evaluator.metrics.base import Outcome
from evaluator.schema import Case
from evaluator.suites.covebench.vqr import COMPAT, METRIC, MODEL, rating
from tests.experts.pictures import frames_of
from tests.metrics.build import plain


def case(task: int = 9001) -> Case:
    return Case(f"{task}/a", "covebench", Path("a.mp4"), data={"task": task})


def frames(count: int = 10) -> Frames:
    data = np.random.default_rng(0).integers(0, 256, (count, 8, 12, 3), dtype=np.uint8)
    return frames_of(data, np.arange(count) * 11, 100)


def answers(*texts: str) -> list[Answer]:
    return [Answer(Status.OK, f"key{index}", value=text) for index, text in enumerate(texts)]


def score(*texts: str, compat: bool = False) -> Outcome:
    metric = COMPAT if compat else METRIC
    return metric.compute(answers=answers(*texts), frames=frames(len(texts)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<answer>3.45</answer>", 3.45),
        ("<answer> 4 </answer>", 4.0),
        ("It is sharp: 2. <answer>\n3.10\n</answer>", 3.1),
        ("<answer>1.00</answer> no, <answer>2.50</answer>", 2.5),
        ("4.2", 4.2),
        ("My rating is 3.75 out of 5", 3.75),
        ("<answer>-2.5</answer>", 2.5),  # the sign is not read
        ("<answer>about 4.0/5</answer>", 4.0),
        ("<answer>fine</answer> 4.0", None),  # the tag counts, not what is around it
        ("<answer></answer>", None),
        ("excellent", None),
        ("<answer>.5</answer>", 5.0),  # as the reference's pattern reads it
        ("<answer>3.45", 3.45),  # not closed: the whole text
        ("9" * 400, None),  # beyond any number
        ("9" * 308, None),  # two of them have no mean
    ],
)
def test_a_rating_is_the_first_number_in_the_last_tag(text: str, expected: float | None) -> None:
    assert rating(text) == expected


@given(st.floats(0, 99).map(lambda value: round(value, 2)), st.text(alphabet="abc <>/answer\n", max_size=20))
def test_a_tagged_rating_is_read_whatever_stands_before_it(value: float, before: str) -> None:
    assert rating(f"{before}<answer>{value}</answer>") == value


def test_the_mean_of_the_frames_is_the_score() -> None:
    found = score("<answer>3.00</answer>", "<answer>4.00</answer>", "4.40")
    assert found.value == pytest.approx(3.8)
    assert found.details["per_frame"] == [3.0, 4.0, 4.4]
    assert found.details["index"] == [0, 11, 22]
    assert found.details["ledger_keys"] == ["key0", "key1", "key2"]
    assert plain(dict(found.details))


def test_ratings_are_bounded_except_in_compat() -> None:
    texts = ("<answer>9</answer>", "<answer>0.2</answer>", "<answer>3</answer>")
    assert score(*texts).value == pytest.approx(3.0)
    assert score(*texts).raw == score(*texts, compat=True).value == pytest.approx(12.2 / 3)
    assert score(*texts).details["outside_scale"] == 2


def test_one_frame_without_a_rating_fails_the_clip() -> None:
    with pytest.raises(AnswerError, match="1 of 3 frames") as caught:
        score("3.0", "no idea", "4.0")
    assert caught.value.code == "unparsed"


@pytest.mark.parametrize("status", [Status.REFUSED, Status.TRUNCATED, Status.TRANSIENT])
def test_an_answer_that_is_none_is_no_score(status: Status) -> None:
    given = [*answers("3.0"), Answer(status, "k", message="why")]
    with pytest.raises(AnswerError) as caught:
        METRIC.compute(answers=given, frames=frames(2))
    assert caught.value.code == status


def test_a_missing_answer_is_a_skip() -> None:
    with pytest.raises(NotApplicable) as caught:
        METRIC.compute(answers=[Answer(Status.JUDGE_MISSING, "k")], frames=frames(1))
    assert caught.value.reason == "no_judge"


def test_each_frame_is_shown_alone_as_a_jpeg_and_asked_about_in_plain_text() -> None:
    assert METRIC.judged is not None
    questions = METRIC.judged.ask(case(), frames(10))
    assert len(questions) == 10
    for question in questions:
        media = [part for part in question.parts if isinstance(part, ImagePart)]  # type: ignore[union-attr]
        assert [part.mime for part in media] == ["image/jpeg"]
        assert (question.labels, question.answer_schema, question.max_tokens) == ((), None, 512)  # type: ignore[union-attr]
        assert (question.temperature, question.top_k, question.sample) == (0.0, 0, 0)  # type: ignore[union-attr]
    shown = Image.open(io.BytesIO(questions[3].parts[0].data))  # type: ignore[union-attr]
    assert shown.size == (12, 8)


def test_known_defect_compat_draws_with_a_seed_of_its_own_per_task_and_frame() -> None:
    """CoVEBench 10, point 11: the reference has one seed per process, so its values depend on order and subset."""
    assert COMPAT.judged is not None

    def seeds(task: int, count: int) -> list[int]:
        return [question.sample for question in COMPAT.judged.ask(case(task), frames(count))]  # type: ignore[union-attr]

    assert len(set(seeds(1, 10))) == 10
    assert seeds(1, 4) == seeds(1, 10)[:4]  # no frame depends on those before it
    assert not set(seeds(1, 10)) & set(seeds(2, 10))
    assert all(0 <= seed < 2**31 for seed in seeds(1, 10))
    (question,) = COMPAT.judged.ask(case(), frames(1))
    assert (question.temperature, question.top_k) == (1.0, 50)  # type: ignore[union-attr]


def test_only_the_network_that_was_trained_for_it_may_answer() -> None:
    assert METRIC.judged is not None
    assert METRIC.judged.model == MODEL
