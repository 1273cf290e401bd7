"""The tiny server and the real client against each other, over a socket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from evaluator.judge import prompts
from evaluator.judge.client import HttpJudge
from evaluator.judge.dialect import chat_request
from evaluator.judge.handshake import examine
from evaluator.judge.ledger import Ledger
from evaluator.judge.server import Server
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import AudioPart, JudgeError, Question, Status, TextPart
from tests.judge.tiny import demo, wire
from tests.judge.tiny.report import json_question, questions
from tests.judge.tiny.stripes import question

pytestmark = pytest.mark.timeout(600)

BODY = chat_request(question(1, True, 2), "judge", [7, 8])


@pytest.fixture
def http(tiny_server: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=tiny_server.address.url, trust_env=False, timeout=60) as client:
        yield client


def test_the_handshake_passes(tiny_judge: HttpJudge) -> None:
    verdict = examine(tiny_judge, questions=6, concurrency=4)
    assert verdict.ok, verdict.tree()
    assert verdict.repeats is not None
    assert (verdict.repeats.repeated, verdict.repeats.concurrent) == (0.0, 0.0)


def test_it_is_known_as_a_fixture(tiny_judge: HttpJudge) -> None:
    assert tiny_judge.identity.trained is False
    assert tiny_judge.identity.engine.startswith("tiny-judge transformers")


def test_http_and_in_process_give_the_same_bits(tiny_judge: HttpJudge, tiny_report: dict[str, Any]) -> None:
    over_http = [asdict(tiny_judge.ask(asked)) for asked in questions()]
    for here, there in zip(tiny_report["first"], over_http, strict=True):
        assert here["label_logprobs"] == there["label_logprobs"]
        assert here["text"] == there["text"]
    assert tiny_judge.ask(json_question()).text == tiny_report["json"][0]["text"]


def test_a_session_asks_once_and_replays_without_a_server(tiny_judge: HttpJudge, tmp_path: Path) -> None:
    asked = questions()[:6]
    with Ledger(tmp_path / "judge.jsonl") as ledger:
        with JudgeSession({"judge": tiny_judge}, ledger, Mode.CACHE) as session:
            first = session.ask_all(asked)
            second = session.ask_all(asked)
        assert session.counts["asked"] == len(asked)
        with JudgeSession({}, ledger, Mode.REPLAY) as replay:
            third = replay.ask_all(asked)
    assert {answer.status for answer in first} == {Status.OK}
    assert first == second == third


def test_sound_is_refused_and_not_ignored(tiny_judge: HttpJudge) -> None:
    asked = Question("x", "x", "", (AudioPart(b"RIFF"), TextPart("?")), ("Yes", "No"))
    with pytest.raises(JudgeError, match="input_audio") as caught:
        tiny_judge.ask(asked)
    assert caught.value.status is Status.ERROR


def test_wrong_paths_models_and_pictures_have_their_codes(http: httpx2.Client) -> None:
    assert http.get("/v1/nothing").status_code == 404
    assert http.post("/v1/nothing", json={}).status_code == 404
    assert http.post("/v1/chat/completions", json={**BODY, "model": "another"}).status_code == 404
    assert http.post("/v1/chat/completions", content=b"{").status_code == 400
    broken = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    body = {**BODY, "messages": [{"role": "user", "content": [broken]}]}
    assert "cannot be decoded" in http.post("/v1/chat/completions", json=body).json()["error"]["message"]
    assert http.get("/health").status_code == 200


@pytest.mark.slow
def test_the_demo_resumes_replays_and_audits(
    tiny_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not (demo.ROOT / "manifests" / "demo" / demo.CLIPS[0]).is_file():
        pytest.skip("demo clips are not made (./run.sh setup)")
    assert demo.main(["--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "6 answers from the ledger, 6 asked" in printed
    assert "12 answers from the ledger, 0 missing" in printed
    assert "wiring fixture" in printed


# ------------------------------------------------------------------------------------ the dialect, without a server


def test_what_the_client_sends_is_understood() -> None:
    asked = wire.read(BODY, "judge", 100)
    assert (asked.most, asked.allowed, asked.told, asked.schema) == (1, (7, 8), (7, 8), None)
    schema = wire.read(chat_request(json_question(), "judge", []), "judge", 100)
    assert schema.schema is not None
    assert schema.schema["required"] == ["score", "why"]
    text = wire.read(chat_request(replace(json_question(), answer_schema=None), "judge", []), "judge", 100)
    assert (text.allowed, text.schema) == ((), None)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"guided_choice": ["Yes"]}, "unknown fields"),
        ({"temperature": 1}, "temperature"),
        ({"seed": None}, "seed"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"allowed_token_ids": [100]}, "token ids"),
        ({"allowed_token_ids": []}, "either"),
        ({"logprobs": False}, "either"),
        ({"response_format": {"type": "json_object"}}, "json_schema"),
        ({"media_io_kwargs": {}}, "without times"),
        ({"media_io_kwargs": {"video": {"fps": 1, "frames": 3}}}, "unknown fields"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user"}]}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "smell"}]}]}, "not supported"),
    ],
)
def test_what_is_not_understood_is_refused(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(wire.Refused, match=complaint) as caught:
        wire.read({**BODY, **change}, "judge", 100)
    assert caught.value.code == 400


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://127.0.0.1/a.png", "data:video/mp4;base64,AAAA"])
def test_nothing_is_opened_but_what_was_sent(url: str) -> None:
    part = {"type": "image_url", "image_url": {"url": url}}
    with pytest.raises(wire.Refused, match="nothing else is opened"):
        wire.read({**BODY, "messages": [{"role": "user", "content": [part]}]}, "judge", 100)


def test_every_prompt_is_short_enough_for_the_fixture() -> None:
    assert all(len(prompts.load(name).system) < 8000 for name in prompts.names())
