"""The in-process judge: what it answers, that it always answers the same, and how it refuses."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import PrerequisiteError
from evaluator.judge import launch
from evaluator.judge.local import chat_of
from evaluator.judge.local_engine import Clip, Engine, Picture
from evaluator.judge.types import AudioPart, FramesPart, ImagePart, Question, TextPart
from tests.judge.tiny.report import FRAMES, SCHEMA
from tests.judge.tiny.stripes import right_label

pytestmark = pytest.mark.timeout(600)


def test_it_has_learnt_its_skill_on_stills_and_clips(tiny_report: dict[str, Any]) -> None:
    right = [right_label(k % 2 == 0) for k in range(16)]
    found = [raw["text"] for raw in tiny_report["first"]]
    assert sum(map(str.__eq__, found, right)) >= 15
    assert len(set(FRAMES)) == 4


def test_the_labels_hold_most_of_the_probability(tiny_report: dict[str, Any]) -> None:
    for raw in tiny_report["first"]:
        assert set(raw["label_logprobs"]) == {"Yes", "No"}
        assert 0.8 < sum(map(math.exp, raw["label_logprobs"].values())) <= 1 + 1e-9
        assert raw["text"] == max(raw["label_logprobs"], key=raw["label_logprobs"].__getitem__)


@pytest.mark.parametrize("way", ["again", "crowd"])
def test_answers_are_equal_to_the_last_bit(tiny_report: dict[str, Any], way: str) -> None:
    assert tiny_report[way] == tiny_report["first"]


def test_a_schema_is_obeyed_without_white_space(tiny_report: dict[str, Any]) -> None:
    first, again, cut = tiny_report["json"]
    assert first == again
    assert first["finish_reason"] == "stop"
    value = json.loads(first["text"])
    assert first["text"] == json.dumps(value, separators=(",", ":"))
    assert 1 <= value["score"] <= 5
    assert value["why"] in SCHEMA["properties"]["why"]["enum"]  # type: ignore[index]
    assert (cut["finish_reason"], cut["usage"]["completion_tokens"]) == ("length", 3)


def test_without_a_schema_it_writes_text_up_to_the_limit(tiny_report: dict[str, Any]) -> None:
    first, again = tiny_report["text"]
    assert first == again
    assert first["finish_reason"] in {"stop", "length"}
    assert (first["finish_reason"] == "length") == (first["usage"]["completion_tokens"] == 5)


def test_a_drawn_answer_obeys_its_schema_and_depends_on_nothing_but_its_seed(tiny_report: dict[str, Any]) -> None:
    drawn = [raw["text"] for raw in tiny_report["drawn"]]
    assert drawn[:12] == drawn[12:]
    assert len(set(drawn)) > 1
    assert {json.loads(text)["score"] for text in drawn} <= {1, 2, 3, 4, 5}


def test_control_tokens_in_data_stay_data(tiny_report: dict[str, Any]) -> None:
    """A picture token without a picture would stop the processor; data cannot spell one."""
    assert tiny_report["hostile"][0]["text"] in {"Yes", "No"}


def test_what_it_cannot_take_in_is_an_error_and_not_an_answer(tiny_report: dict[str, Any]) -> None:
    failures = tiny_report["failures"]
    assert failures["sound"].startswith("error: this judge does not hear")
    assert failures["broken picture"].startswith("error: a picture of 7 bytes cannot be decoded")
    assert failures["long label"].startswith("error: label 'Yes indeed' must be one token")


def test_it_says_that_it_is_a_fixture(tiny_report: dict[str, Any], tiny_checkpoint: Path) -> None:
    assert tiny_report["identity"]["trained"] is False
    assert "float32 threads 1" in tiny_report["identity"]["engine"]
    assert tiny_report["model_sha256"] == launch.model_sha256(tiny_checkpoint)
    assert tiny_report["modalities"] == ["image", "text", "video"]


def test_it_passes_the_handshake(tiny_report: dict[str, Any]) -> None:
    assert tiny_report["check"]["ok"], tiny_report["check"]
    assert tiny_report["check"]["repeatable"].startswith("bitwise")


def test_a_question_keeps_its_order_and_its_times() -> None:
    clip = FramesPart((b"a", b"b"), (0.04, 1.5), "image/jpeg", "target")
    asked = Question("x", "x", "", (clip, ImagePart(b"c", "image/png"), TextPart("Q?")), ("Yes", "No"), system="Rules.")
    assert chat_of(asked) == [
        ("system", ["Rules."]),
        ("user", ["target:\n", Clip((b"a", b"b"), (40, 1500), 1000), Picture(b"c"), "Q?"]),
    ]


def test_sound_is_refused() -> None:
    with pytest.raises(ValueError, match="does not hear"):
        chat_of(Question("x", "x", "", (AudioPart(b""),), ("Yes", "No")))


def test_a_folder_without_a_model_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="not a model directory"):
        Engine.load(tmp_path)


def test_without_torch_the_message_says_what_to_install(tmp_path: Path) -> None:
    """And loading the module brings no torch with it."""
    (tmp_path / "config.json").write_text("{}")
    script = (
        "import sys; from pathlib import Path; from evaluator.judge import local\n"
        "assert 'torch' not in sys.modules\n"
        "sys.modules['torch'] = None\n"
        "try: local.LocalJudge.load(Path(sys.argv[1]))\n"
        "except local_error as error: print(error)\n"
    ).replace("local_error", "__import__('evaluator.errors').errors.PrerequisiteError")
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "needs torch" in done.stdout
    assert "judge-test.txt" in done.stdout
