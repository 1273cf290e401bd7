"""Every prompt file is well formed, and asking with it is strict."""

from __future__ import annotations

import pytest

from evaluator.judge import prompts
from evaluator.judge.answer_schema import problems
from evaluator.judge.types import AudioPart, Evidence, FramesPart, ImagePart, Modality, TextPart

FILE = b"---\npurpose: Test.\ndata: question\nlabels: Yes No\n---\n## system\nBe strict.\n## question\nYes or No?\n"


@pytest.mark.parametrize("name", prompts.names())
def test_a_prompt_says_what_it_is_for_and_asks_for_labels_or_json(name: str) -> None:
    prompt = prompts.load(name)
    assert prompt.purpose.endswith(".")
    assert len(prompt.sha256) == 64
    assert prompt.system.startswith(prompts.load("yes_no").system[:100])
    assert not (prompt.labels and prompt.answer_schema)
    assert (prompt.max_tokens == 1) == bool(prompt.labels)
    if prompt.answer_schema:
        list(problems({}, prompt.answer_schema))  # every keyword can be checked
        assert all(field in prompt.closing for field in prompt.answer_schema["required"])


def test_digests_differ_and_cover_the_common_rules() -> None:
    assert len({prompts.load(name).sha256 for name in prompts.names()}) == len(prompts.names()) >= 9
    one, other = prompts.parse("x", FILE, b"rules"), prompts.parse("x", FILE, b"other rules")
    assert one.sha256 != other.sha256
    assert one.system == "rules\n\nBe strict."


@pytest.mark.parametrize("name", ["nothing", "../types", "common.md", "yes_no.md", ""])
def test_only_prompts_can_be_loaded(name: str) -> None:
    with pytest.raises(ValueError, match="no prompt"):
        prompts.load(name)


@pytest.mark.parametrize(
    "content",
    [b"no header", FILE.replace(b"labels: Yes No\n", b""), FILE + b'## schema\n{"type": "object"}\n'],
    ids=["no header", "neither", "both"],
)
def test_a_malformed_file_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="expected"):
        prompts.parse("x", content, b"")


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("yes_no", {}, "needs data 'question'"),
        ("yes_no", {"question": "?", "caption": "x"}, "has no data"),
        ("yes_no", {"question": ["?", "!"]}, "expected text"),
        ("choice", {"question": "?", "option": "only one text"}, "expected a list"),
        ("choice", {"question": "?", "option": ["one"]}, "expected 2 to 13"),
        ("choice", {"question": "?", "option": ["x"] * 14}, "expected 2 to 13"),
    ],
)
def test_data_must_fit_the_prompt(name: str, data: dict[str, str | list[str]], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        prompts.load(name).ask("item", (), data)


def test_options_have_letters_and_cut_the_labels() -> None:
    question = prompts.load("choice").ask("item", (), {"question": "?", "option": ["dog", "cat", "both"]})
    assert question.labels == ("A", "B", "C")
    names = [part.name for part in question.parts if isinstance(part, TextPart)]
    assert names == ["question", "option A", "option B", "option C", ""]


def test_optional_data_may_be_left_out_and_comes_in_the_order_of_the_prompt() -> None:
    question = prompts.load("checklist_yes_no").ask("item", (), {"question": "q", "caption": "c"})
    assert [part.name for part in question.parts if isinstance(part, TextPart)] == ["caption", "question", ""]


def test_modalities_are_those_of_the_evidence_and_substitutes_are_marked_by_the_caller() -> None:
    frames, sound = FramesPart((b"1", b"2"), (0.0, 0.5), "image/jpeg"), AudioPart(b"3")
    mel = ImagePart(b"4", "image/png", "sound", Evidence.MEL_IMAGE)
    prompt = prompts.load("yes_no")
    native = prompt.ask("item", (frames, sound), {"question": "?"})
    stand_in = prompt.ask("item", (frames, mel), {"question": "?"}, substitute=True)
    assert native.modalities == {Modality.TEXT, Modality.VIDEO, Modality.AUDIO}
    assert not native.protocol_deviation
    assert stand_in.modalities == {Modality.TEXT, Modality.VIDEO, Modality.IMAGE}
    assert stand_in.protocol_deviation
