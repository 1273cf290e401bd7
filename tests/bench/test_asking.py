"""G6: our way of asking a judge against its bare server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evaluator.bench import asking
from evaluator.bench.bench import BenchOptions, bench
from evaluator.bench.board import NEEDS_JUDGE, Board
from evaluator.errors import EvaluatorError, JudgeUnusableError
from evaluator.judge.transport import MAX_RESPONSE_BYTES
from evaluator.metrics.prompt_following import FRAMES
from tests.judge import fake_server as fake
from tests.judge.fake_server import Behaviour, running
from tests.runner.clips import clip

TOKENS = 10
"""What the fake server tells of every answer: nine read, one written."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return clip(tmp_path / "clip.mp4")


def figure(board: Board) -> dict[str, object]:
    return next(row for row in board.tree()["figures"] if row["id"] == "G6")


def test_questions_are_different_and_no_frame_is_shown_twice(path: Path) -> None:
    asked = list(asking.questions(path))
    shown = [frame for question in asked for part in question.parts for frame in getattr(part, "frames", ())]
    assert len(asked) > 1
    assert len(shown) == len(set(shown)) == FRAMES * len(asked)


def test_where_the_server_takes_the_time_asking_costs_next_to_nothing(path: Path, tmp_path: Path) -> None:
    how = Behaviour(fault=lambda _: fake.slow(0.05))
    board = Board()
    with running(how) as url:
        asking.measure(board, tmp_path, [path], url)
    found = figure(board)
    assert 0.2 < float(str(found["value"])) < 3  # a busy machine serves either way later
    count = len(list(asking.questions(path)))
    assert f"{count} questions" in str(found["note"])
    assert how.busiest <= asking.CONCURRENCY
    assert how.chats == 1 + 2 * (asking.ROUNDS + 1) * count  # the greeting, then both ways as often


def test_tokens_are_those_that_the_server_tells() -> None:
    assert asking._tokens({"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": TOKENS}) == TOKENS
    assert asking._tokens({"prompt_tokens": "many"}) == asking._tokens(None) == 0


def test_a_server_that_counts_no_tokens_gives_no_figure(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = fake.complete
    monkeypatch.setattr(fake, "complete", lambda body, how: {**complete(body, how), "usage": None})
    board = Board()
    with running(Behaviour()) as url:
        asking.measure(board, tmp_path, [path], url)
    assert figure(board)["value"] is None
    assert "usage" in str(figure(board)["note"])


@pytest.mark.parametrize(("first", "said"), [(1, "did not answer a question"), (4, "bare request: .*HTTP 400")])
def test_an_answer_that_is_none_ends_the_measurement_with_its_reason(
    path: Path, tmp_path: Path, first: int, said: str
) -> None:
    how = Behaviour(fault=lambda number: fake.status(400) if number >= first else None)  # 0 is the greeting
    with running(how) as url, pytest.raises(EvaluatorError, match=said):
        asking.measure(Board(), tmp_path, [path], url)


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda handler: handler.reply(200, {}, cut=1) or True,
        lambda handler: handler.raw(200, b"no JSON") or True,
        lambda handler: handler.raw(200, (MAX_RESPONSE_BYTES + 1) * b" ") or True,
    ],
    ids=["cut off", "not JSON", "without end"],
)
def test_whatever_a_server_sends_to_a_bare_request_is_an_error_with_a_reason(
    path: Path, tmp_path: Path, spoilt: fake.Fault
) -> None:
    how = Behaviour(fault=lambda number: spoilt if number >= 4 else None)
    with running(how) as url, pytest.raises(EvaluatorError, match="did not answer a bare request"):
        asking.measure(Board(), tmp_path, [path], url)


def test_nobody_at_the_address_is_said(path: Path, tmp_path: Path) -> None:
    with pytest.raises(JudgeUnusableError, match="no judge answers"):
        asking.measure(Board(), tmp_path, [path], "http://127.0.0.1:9")


def test_without_the_judge_that_was_named_nothing_is_measured(tmp_path: Path) -> None:
    with pytest.raises(JudgeUnusableError, match="no judge answers"):
        bench(BenchOptions(clips=tmp_path / "clips", judge_url="http://127.0.0.1:9"), say=lambda _: None)
    assert not (tmp_path / "clips").exists()


def test_a_judge_that_fails_later_takes_no_other_figure_with_it(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[bench.__module__].ClipSet, "paths", [path])
    monkeypatch.setattr(sys.modules[bench.__module__], "_on_cpu", lambda board, *_: board.put("S2", 1.0))
    how = Behaviour(fault=lambda number: fake.status(400) if number > 1 else None)  # two greetings
    with running(how) as url:
        board = bench(BenchOptions(clips=tmp_path, judge_url=url), say=lambda _: None)
    found = {row["id"]: row for row in board["figures"]}
    assert found["S2"]["value"] == 1.0
    assert found["G6"]["value"] is None
    assert "did not answer a question" in found["G6"]["note"]


def test_without_a_judge_the_board_says_how_to_name_one() -> None:
    assert figure(Board())["note"] == NEEDS_JUDGE
