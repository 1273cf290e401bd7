"""Generated captions and checklists: what is asked, what is accepted, what is kept beside, and going on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evaluator import commands_generate
from evaluator.errors import AnswerError, NotApplicable
from evaluator.judge.answer_schema import problems
from evaluator.judge.ledger import Ledger
from evaluator.judge.route import Routed
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import Answer, AudioPart, FramesPart, ImagePart, JudgeIdentity, Question, Status
from evaluator.runner.judging import Bench, JudgeChoice
from evaluator.suites.ave_compass.captions import findings
from evaluator.suites.ave_compass.checklist_rules import RESPONSE_WORDING
from evaluator.suites.ave_compass.generate import ask_caption, ask_checklist, generators
from evaluator.suites.repair import Repair
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


@dataclass(frozen=True)
class Desk:
    """`evaluator generate` at work: the manifest, the folder that it fills, and a judge that answers by rule."""

    cli: Cli
    manifest: Path
    out: Path
    monkeypatch: pytest.MonkeyPatch

    def answers(self, rule: Callable[[Question], str]) -> FakeBackend:
        """Put a judge that answers by this rule in the place of the chosen one."""
        backend = FakeBackend(by_rule(rule), JudgeIdentity("judge", "ab" * 32, "fake", modalities=SEES))

        @contextmanager
        def judging(choice: JudgeChoice, out: Path) -> Iterator[Bench]:
            with Ledger(out / "judge.jsonl") as ledger, JudgeSession({"judge": backend}, ledger, Mode.CACHE) as session:
                yield Bench(session, None, session.judges)

        self.monkeypatch.setattr(commands_generate, "judging", judging)
        return backend

    def generate(self, what: str, *more: object) -> Any:
        """The command; what it told."""
        folders = ("--manifest", self.manifest, "--out", self.out)
        return self.cli("generate", what, *folders, "--judge-url", "http://127.0.0.1:9", *more)

    def checklist(self, *more: object) -> Any:
        """`generate checklist` for one case that has a caption."""
        self.out.mkdir(exist_ok=True)
        (self.out / "one_caption.json").write_text(json.dumps(CAPTION))
        return self.generate("checklist", "--limit", 1, *more)

    def made(self, name: str) -> Any:
        """A document that was written."""
        return json.loads((self.out / name).read_text())

    def rejected(self, name: str) -> list[Any]:
        """What was kept beside it."""
        kept: list[Any] = self.made(f"rejected/{name}")["rejected"]
        return kept


@pytest.fixture
def desk(cli: Cli, manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:  # noqa: F811
    return Desk(cli, manifest, tmp_path / "out", monkeypatch)


def by_task(**answers: Any) -> Callable[[Question], str]:
    return lambda question: json.dumps(answers[question.task])


def replies(*texts: str) -> Callable[[Question], str]:
    """One after the other, whatever is asked."""
    left = list(texts)
    return lambda _: left.pop(0)


def test_captions_then_checklists_are_written_and_used(desk: Desk) -> None:
    asked: list[Question] = []

    def reply(question: Question) -> str:
        asked.append(question)
        return by_task(ave_caption=CAPTION, ave_checklist=WRITTEN)(question)

    desk.answers(reply)
    told = desk.generate("caption")
    assert told.code == 0, told.err
    assert desk.made("one_caption.json") == CAPTION
    assert (desk.out / "a%2Fb_caption.json").is_file()
    assert len(asked) == 1  # two cases of one source are one question
    told = desk.generate("checklist")
    assert told.code == 0, told.err
    made = desk.made("one_checklist.json")
    assert [one["question_id"] for one in made["questions"]] == [f"Q{n:02d}" for n in range(1, 9)]
    assert made["questions"][0]["dimension"] == "Edit Response"
    assert (made["edit_category"], made["edit_type"]) == ("video_only", "colour change")
    assert "A wall of grain" in made["caption"]
    assert "A wall of grain" in words(asked[-1])
    checked = desk.manifest.with_name("checked.jsonl")
    line = json.loads(desk.manifest.read_text().splitlines()[0])
    write(checked, [{**line, "checklist": "out/one_checklist.json"}])
    told = desk.cli("check", "--checklists", "--manifest", checked)
    assert told.code == 0, told.err
    assert "1 checklists: 0 errors" in told.err


BROKEN = {"questions": WRITTEN["questions"][1:]}
"""Without its first question: C07."""
WORSE = {"questions": WRITTEN["questions"][2:]}


def test_what_breaks_a_rule_is_kept_beside_with_its_reasons(desk: Desk) -> None:
    desk.answers(by_task(ave_caption={**CAPTION, "audio_caption": 'He says "no".'}, ave_checklist=BROKEN))
    told = desk.generate("caption", "--limit", 1)
    assert told.code == 3
    assert "rejected" in told.err
    assert not (desk.out / "one_caption.json").exists()
    kept = desk.rejected("one_caption.json")
    assert [one["document"]["caption"] for one in kept] == 2 * [CAPTION["caption"]]
    assert all(any(reason.startswith("K4 E") for reason in one["reasons"]) for one in kept)
    assert desk.generate("checklist", "--limit", 1).code == 3  # without a caption there is nothing to ask
    assert desk.checklist().code == 3
    assert any(reason.startswith("C07 E") for reason in desk.rejected("one_checklist.json")[-1]["reasons"])
    assert not (desk.out / "one_checklist.json").exists()


def test_a_rejected_answer_goes_back_with_its_problems_until_one_is_right(desk: Desk) -> None:
    asked: list[Question] = []
    answer = replies(json.dumps(BROKEN), "I cannot write that.", json.dumps(WRITTEN))
    desk.answers(lambda question: (asked.append(question), answer(question))[1])
    told = desk.checklist()
    assert told.code == 0, told.err
    assert len(desk.made("one_checklist.json")["questions"]) == len(ITEMS)
    first, second, third = ({part.name: part.text for part in one.parts if hasattr(part, "text")} for one in asked)
    assert "problems" not in first
    assert "C07 E" in second["problems"]
    assert json.loads(second["rejected"]) == BROKEN
    assert "rejected" not in third  # what has no form is not repeated
    assert "exactly the form" in third["problems"]
    kept = desk.rejected("one_checklist.json")
    assert [one["document"] is None for one in kept] == [False, True]
    assert kept[1]["reasons"][0].startswith("unparsed")
    assert len({one["ledger_key"] for one in kept}) == 2


def test_the_same_command_repeats_a_repair_from_the_ledger(desk: Desk) -> None:
    desk.answers(replies(json.dumps(BROKEN), json.dumps(WRITTEN)))
    assert desk.checklist().code == 0
    made = [(desk.out / name).read_bytes() for name in ("one_checklist.json", "rejected/one_checklist.json")]
    again = desk.answers(replies())
    assert desk.checklist().code == 0
    assert not again.asked
    assert made == [(desk.out / name).read_bytes() for name in ("one_checklist.json", "rejected/one_checklist.json")]


@pytest.mark.parametrize("tries", [1, 2])
def test_tries_are_bounded_and_nothing_with_an_error_is_accepted(desk: Desk, tries: int) -> None:
    backend = desk.answers(replies(*map(json.dumps, (BROKEN, WORSE)[:tries]), json.dumps(WRITTEN)))
    assert desk.checklist("--tries", tries).code == 3
    assert backend.asked.total() == tries
    assert not (desk.out / "one_checklist.json").exists()
    assert len(desk.rejected("one_checklist.json")) == tries


def test_the_same_mistake_twice_ends_it(desk: Desk) -> None:
    """At temperature 0 the next question would be the last one, and so its answer."""
    backend = desk.answers(replies(json.dumps(BROKEN), json.dumps(BROKEN), json.dumps(WRITTEN)))
    assert desk.checklist("--tries", 9).code == 3
    assert backend.asked.total() == 2


def test_an_accepted_document_leaves_no_old_rejection_behind(desk: Desk) -> None:
    desk.answers(replies(json.dumps(BROKEN)))
    assert desk.checklist("--tries", 1).code == 3
    (desk.out / "judge.jsonl").unlink()
    desk.answers(replies(json.dumps(WRITTEN)))
    assert desk.checklist().code == 0
    assert not (desk.out / "rejected/one_checklist.json").exists()


def test_a_judge_that_refuses_is_not_asked_again() -> None:
    loop = Repair(ask_checklist, lambda _case, answer: answer, lambda _case, _made: [])
    whole = case(None, prompt="Make it blue.", category="video-only", meta={"caption": "A wall."})
    for status in (Status.REFUSED, Status.NOT_AVAILABLE, Status.TRANSIENT, Status.ERROR):
        assert loop.again(whole, [Answer(status, "k")]) == []
        with pytest.raises((AnswerError, NotApplicable)):
            loop.outcome(whole, [Answer(status, "k")])
    missing, unparsed = (loop.again(whole, [Answer(status, "k")]) for status in (Status.JUDGE_MISSING, Status.UNPARSED))
    assert missing == unparsed  # a replay asks what was asked
    assert len(missing) == 1


def test_the_same_command_asks_nobody_and_writes_the_same_bytes(desk: Desk) -> None:
    desk.answers(by_task(ave_caption=CAPTION))
    assert desk.generate("caption").code == 0
    first = (desk.out / "one_caption.json").read_bytes()
    again = desk.answers(by_task(ave_caption={**CAPTION, "caption": "Something else."}))
    assert desk.generate("caption").code == 0
    assert not again.asked
    assert (desk.out / "one_caption.json").read_bytes() == first


def test_without_a_judge_or_a_case_there_is_nothing_to_do(desk: Desk) -> None:
    told = desk.cli("generate", "caption", "--manifest", desk.manifest, "--out", desk.out)
    assert told.code == 2
    assert "--judge-url" in told.err


def test_a_broken_checklist_is_told_in_full(desk: Desk) -> None:
    tree = checklist(("IF", "video", "Is it still visible?"), ("IF", "video", "Is it blue?"), branch="video-only")
    tree["questions"][1]["question_id"] = "Q01"
    bad = desk.manifest.with_name("bad.jsonl")
    bad.with_suffix(".json").write_text(json.dumps(tree))
    line = json.loads(desk.manifest.read_text().splitlines()[0])
    write(bad, [{**line, "checklist": "bad.json"}])
    told = desk.cli("check", "--checklists", "--manifest", bad, "--json")
    assert told.code == 2
    found = {one["rule"] + one["level"] for one in json.loads(told.out)[0]["findings"]}
    assert {"C04E", "C07E", "C11W", "C13W"} <= found
    assert desk.cli("check", "--manifest", bad).code == 2  # ids given twice cannot be scored


# ------------------------------------------------------------------------------------------------------- questions


def test_a_captioner_sees_and_hears_the_source_alone() -> None:
    given = {name: value for name, value in needs().items() if name.startswith("source_") and name != "source_clip"}
    assert set(given) == set(generators()["caption"].metric.needs)
    (asked,) = ask_caption(case(None), {}, **given)
    assert isinstance(asked, Routed)
    media = [(type(part), part.name) for part in asked.native.parts if not hasattr(part, "text")]
    assert media == [(FramesPart, "source"), (AudioPart, "source sound")]
    assert asked.substitute is not None
    instead = asked.substitute()
    assert [part.name for part in instead.parts if isinstance(part, ImagePart)] == ["sounds"]
    assert instead.protocol_deviation
    with pytest.raises(NotApplicable):
        ask_caption(case(None), {}, **{**given, "source_frames": None})


def test_schemas_admit_what_the_rules_admit() -> None:
    assert findings(CAPTION) == []
    one = case(None, prompt="Make it blue.", category="video-only", meta={"caption": "A wall."})
    for question, answer in ((ask_checklist(one, {})[0], WRITTEN),):
        assert question.answer_schema is not None
        assert list(problems(answer, question.answer_schema)) == []


@pytest.mark.parametrize("lacking", [{"prompt": " "}, {"meta": {}}])
def test_a_checklist_needs_an_instruction_and_a_caption(lacking: dict[str, Any]) -> None:
    whole = {"prompt": "Make it blue.", "category": "video-only", "meta": {"caption": "A wall."}}
    with pytest.raises(NotApplicable):
        ask_checklist(case(None, **{**whole, **lacking}), {})
