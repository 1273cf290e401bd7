"""Generated captions and checklists: what is asked, what is accepted, what is kept beside, and going on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evaluator import commands_generate
from evaluator.errors import NotApplicable
from evaluator.judge.answer_schema import problems
from evaluator.judge.ledger import Ledger
from evaluator.judge.route import Routed
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import AudioPart, FramesPart, ImagePart, JudgeIdentity, Question
from evaluator.runner.judging import Bench, JudgeChoice
from evaluator.suites.ave_compass.captions import findings
from evaluator.suites.ave_compass.checklist_rules import RESPONSE_WORDING
from evaluator.suites.ave_compass.generate import GENERATORS, ask_caption, ask_checklist
from tests.judge.fakes import FakeBackend
from tests.runner.clips import clip
from tests.suites.ave_compass.judging import SEES, by_rule, case, checklist, item, needs, words
from tests.test_cli import Cli, cli, write  # noqa: F401  (fixture)

CAPTION = {
    "caption": "A wall of grain in one static shot.",
    "audio_caption": "silence throughout",
    "speech_or_non_speech": "non_speech",
    "shot_count": 1,
    "visual_style": "synthetic",
}
ITEMS = [
    item("ER", "video", RESPONSE_WORDING["video"], 1),  # type: ignore[index]
    *(item("IF", "video", f"Is the wall of grain blue in corner {n}?", n) for n in range(2, 5)),
    *(item("FP", "video", f"Does the wall keep the size of grain {n}?", n) for n in range(5, 8)),
    item("HC", "video", "Is the wall free of unrequested text?", 8),
]
WRITTEN = {"questions": [{key: one[key] for key in ("subdimension", "modality_tag", "question")} for one in ITEMS]}


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    clip(tmp_path / "source.mp4", seed=0, frames=12, sound=False)
    lines = [
        {"id": name, "suite": "ave_compass", "category": "video-only", "video": "source.mp4", "source": "source.mp4",
         "prompt": "Make the wall blue.", "data": {"operation": "V2.1"}}
        for name in ("one", "a/b")
    ]  # fmt: skip
    write(tmp_path / "m.jsonl", lines)
    return tmp_path / "m.jsonl"


Judge = Callable[[Callable[[Question], str]], FakeBackend]


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Puts a judge that answers by rule in the place of the chosen one."""

    def install(rule: Callable[[Question], str]) -> FakeBackend:
        backend = FakeBackend(by_rule(rule), JudgeIdentity("judge", "ab" * 32, "fake", modalities=SEES))

        @contextmanager
        def judging(choice: JudgeChoice, out: Path) -> Iterator[Bench]:
            with Ledger(out / "judge.jsonl") as ledger, JudgeSession({"judge": backend}, ledger, Mode.CACHE) as session:
                yield Bench(session, None, session.judges)

        monkeypatch.setattr(commands_generate, "judging", judging)
        return backend

    return install


def by_task(**answers: Any) -> Callable[[Question], str]:
    return lambda question: json.dumps(answers[question.task])


def test_captions_then_checklists_are_written_and_used(
    cli: Cli,  # noqa: F811
    manifest: Path,
    judge: Judge,
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    asked: list[Question] = []

    def reply(question: Question) -> str:
        asked.append(question)
        return by_task(ave_caption=CAPTION, ave_checklist=WRITTEN)(question)

    judge(reply)
    common = ("--manifest", manifest, "--out", out, "--judge-url", "http://127.0.0.1:9")
    told = cli("generate", "caption", *common)
    assert told.code == 0, told.err
    assert json.loads((out / "one_caption.json").read_text()) == CAPTION
    assert (out / "a%2Fb_caption.json").is_file()
    assert len(asked) == 1  # two cases of one source are one question
    told = cli("generate", "checklist", *common)
    assert told.code == 0, told.err
    made = json.loads((out / "one_checklist.json").read_text())
    assert [one["question_id"] for one in made["questions"]] == [f"Q{n:02d}" for n in range(1, 9)]
    assert made["questions"][0]["dimension"] == "Edit Response"
    assert (made["edit_category"], made["edit_type"]) == ("video_only", "colour change")
    assert "A wall of grain" in made["caption"]
    assert "A wall of grain" in words(asked[-1])
    checked = manifest.with_name("checked.jsonl")
    line = json.loads(manifest.read_text().splitlines()[0])
    write(checked, [{**line, "checklist": "out/one_checklist.json"}])
    told = cli("check", "--checklists", "--manifest", checked)
    assert told.code == 0, told.err
    assert "1 checklists: 0 errors" in told.err


def test_what_breaks_a_rule_is_kept_beside_with_its_reasons(
    cli: Cli,  # noqa: F811
    manifest: Path,
    judge: Judge,
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    bad = {"questions": WRITTEN["questions"][1:]}
    judge(by_task(ave_caption={**CAPTION, "audio_caption": 'He says "no".'}, ave_checklist=bad))
    common = ("--manifest", manifest, "--out", out, "--judge-url", "http://127.0.0.1:9", "--limit", 1)
    told = cli("generate", "caption", *common)
    assert told.code == 3
    assert "rejected" in told.err
    assert not (out / "one_caption.json").exists()
    kept = json.loads((out / "rejected" / "one_caption.json").read_text())
    assert kept["document"]["caption"] == CAPTION["caption"]
    assert any(reason.startswith("K4 E") for reason in kept["reasons"])
    assert cli("generate", "checklist", *common).code == 3  # without a caption there is nothing to ask
    (out / "one_caption.json").write_text(json.dumps(CAPTION))
    told = cli("generate", "checklist", *common)
    assert told.code == 3
    assert any(
        reason.startswith("C07 E")
        for reason in json.loads((out / "rejected/one_checklist.json").read_text())["reasons"]
    )
    assert not (out / "one_checklist.json").exists()


def test_the_same_command_asks_nobody_and_writes_the_same_bytes(
    cli: Cli,  # noqa: F811
    manifest: Path,
    judge: Judge,
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    common = ("generate", "caption", "--manifest", manifest, "--out", out, "--judge-url", "http://127.0.0.1:9")
    judge(by_task(ave_caption=CAPTION))
    assert cli(*common).code == 0
    first = (out / "one_caption.json").read_bytes()
    again = judge(by_task(ave_caption={**CAPTION, "caption": "Something else."}))
    assert cli(*common).code == 0
    assert not again.asked
    assert (out / "one_caption.json").read_bytes() == first


def test_without_a_judge_or_a_case_there_is_nothing_to_do(cli: Cli, manifest: Path, tmp_path: Path) -> None:  # noqa: F811
    told = cli("generate", "caption", "--manifest", manifest, "--out", tmp_path / "out")
    assert told.code == 2
    assert "--judge-url" in told.err


def test_a_broken_checklist_is_told_in_full(cli: Cli, manifest: Path, tmp_path: Path) -> None:  # noqa: F811
    tree = checklist(("IF", "video", "Is it still visible?"), ("IF", "video", "Is it blue?"), branch="video-only")
    tree["questions"][1]["question_id"] = "Q01"
    (tmp_path / "bad.json").write_text(json.dumps(tree))
    line = json.loads(manifest.read_text().splitlines()[0])
    write(tmp_path / "bad.jsonl", [{**line, "checklist": "bad.json"}])
    told = cli("check", "--checklists", "--manifest", tmp_path / "bad.jsonl", "--json")
    assert told.code == 2
    found = {one["rule"] + one["level"] for one in json.loads(told.out)[0]["findings"]}
    assert {"C04E", "C07E", "C11W", "C13W"} <= found
    assert cli("check", "--manifest", tmp_path / "bad.jsonl").code == 2  # ids given twice cannot be scored


# ------------------------------------------------------------------------------------------------------- questions


def test_a_captioner_sees_and_hears_the_source_alone() -> None:
    given = {name: value for name, value in needs().items() if name.startswith("source_") and name != "source_clip"}
    assert set(given) == set(GENERATORS["caption"].metric.needs)
    (asked,) = ask_caption(case(None), **given)
    assert isinstance(asked, Routed)
    media = [(type(part), part.name) for part in asked.native.parts if not hasattr(part, "text")]
    assert media == [(FramesPart, "source"), (AudioPart, "source sound")]
    assert asked.substitute is not None
    instead = asked.substitute()
    assert [part.name for part in instead.parts if isinstance(part, ImagePart)] == ["sounds"]
    assert instead.protocol_deviation
    with pytest.raises(NotApplicable):
        ask_caption(case(None), **{**given, "source_frames": None})


def test_schemas_admit_what_the_rules_admit() -> None:
    assert findings(CAPTION) == []
    one = case(None, prompt="Make it blue.", category="video-only", meta={"caption": "A wall."})
    for question, answer in ((ask_checklist(one)[0], WRITTEN),):
        assert question.answer_schema is not None
        assert list(problems(answer, question.answer_schema)) == []


@pytest.mark.parametrize("lacking", [{"prompt": " "}, {"meta": {}}])
def test_a_checklist_needs_an_instruction_and_a_caption(lacking: dict[str, Any]) -> None:
    whole = {"prompt": "Make it blue.", "category": "video-only", "meta": {"caption": "A wall."}}
    with pytest.raises(NotApplicable):
        ask_checklist(case(None, **{**whole, **lacking}))
