"""Checklists by a judge: what it is told, what is accepted, what is sent back, and one per sample for all systems."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evaluator import commands_multiref
from evaluator.errors import UsageError
from evaluator.judge.answer_schema import problems
from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import Question, Raw, TextPart
from evaluator.metrics.base import Outcome
from evaluator.runner.judging import Bench, JudgeChoice
from evaluator.schema import Case
from evaluator.suites.multiref_compass.checklist import examine_items
from evaluator.suites.multiref_compass.data import of
from evaluator.suites.multiref_compass.generate import categories, generator
from evaluator.suites.multiref_compass.layout import importer
from tests.judge.fakes import FakeBackend
from tests.runner.clips import clip
from tests.suites.judging import HEARING, Court, written
from tests.suites.multiref_compass.cases import case
from tests.test_cli import Cli, cli, write  # noqa: F401  (fixture)

FACTS = {"sfx": True, "ordered_actions": True, "exact_lines": [{"speaker": "Mia", "text": "Hello there", "lang": "en"}]}
CASE = case(facts=FACTS)


def entry(category: str, span: str, question: str = "Is it so?", subdim: str = "") -> dict[str, str]:
    return {"category": category, "subdim": subdim, "question": question, "source_span": span}


GOOD = [
    entry("VTF", "stand in a kitchen", subdim="Basic Setting"),
    entry("VTF", "a red robot", subdim="Detail"),
    entry("ATF", "A door slams"),
    entry("TOF", "then the robot waves"),
    entry("ESM", "A door slams"),
    entry("SC", "A door slams"),
]


def told(question: Question) -> Mapping[str, str]:
    return {part.name: part.text for part in question.parts if isinstance(part, TextPart) and part.name}


def made(folder: Path, *replies: Any, one: Case = CASE, tries: int = 3) -> tuple[Any, list[Question]]:
    left = iter(replies)
    with Court(folder, lambda _: _raw(next(left))) as court:
        return court.hear(generator(tries), one), court.asked


def _raw(reply: Any) -> Raw:
    return reply if isinstance(reply, Raw) else written({"items": reply})


def test_a_checklist_is_made_of_prompt_and_metadata_alone(tmp_path: Path) -> None:
    found, (asked,) = made(tmp_path, GOOD)
    assert isinstance(found, Outcome)
    assert found.value == 1
    assert [one["id"] for one in found.details["document"]] == ["vtf1", "vtf2", "atf1", "tof1", "esm1", "sc1"]
    assert "subdim" not in found.details["document"][2]
    assert all(isinstance(part, TextPart) for part in asked.parts)  # no clip, no reference picture
    assert told(asked)["categories"] == "VTF, ATF, TOF, ESM, SC"
    assert "ordered_actions: True" in told(asked)["facts"]
    accepted = tuple(found.details["document"])
    with_it = case(facts=FACTS, checklist=[*accepted])
    assert list(examine_items(with_it, of(with_it))) == []


def test_only_what_the_router_calls_for_can_be_written() -> None:
    silent = case(facts={})
    assert categories(silent) == ["VTF"]
    (question,) = generator().judged.ask(silent)  # type: ignore[union-attr]
    assert question.answer_schema is not None
    assert list(problems({"items": [entry("VTF", "x", subdim="Detail")]}, question.answer_schema)) == []
    assert list(problems({"items": [entry("ATF", "x")]}, question.answer_schema))


BROKEN = {
    "an invented demand": ([*GOOD, entry("VTF", "a blue hat", subdim="Wearing")], "words of the prompt"),
    "too many of a kind": ([*GOOD, *(entry("TOF", "then the robot waves", f"Is {k} so?") for k in "abc")], "1 to 3"),
    "speech among sounds": ([*GOOD, entry("ATF", "Mia says", "Is Mia's speech heard?")], "non-speech"),
    "a kind left out": ([one for one in GOOD if one["category"] != "TOF"], "an item of TOF"),
    "a sort left out": ([*GOOD, entry("VTF", "a red robot")], "one of Basic Setting"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_checklist_that_breaks_a_rule_goes_back_with_what_is_wrong(tmp_path: Path, name: str) -> None:
    bad, says = BROKEN[name]
    found, (first, second) = made(tmp_path, bad, GOOD)
    assert isinstance(found, Outcome)
    assert (found.value, found.details["tries"]) == (1, 2)
    assert says in told(second)["problems"]
    assert json.loads(told(second)["rejected"]) == {"items": bad}
    assert "problems" not in told(first)
    (refused,) = found.details["rejected"]
    assert any(says in reason for reason in refused["reasons"])


@pytest.mark.parametrize("tries", [1, 2, 3])
def test_after_so_many_tries_there_is_no_checklist(tmp_path: Path, tries: int) -> None:
    bad, _ = BROKEN["an invented demand"]
    found, asked = made(tmp_path, bad, Raw("no idea", "stop"), Raw('{"items"', "length"), tries=tries)
    assert isinstance(found, Outcome)
    assert (found.value, found.details["document"]) == (0, None)
    assert (len(asked), len(found.details["rejected"])) == (tries, tries)


# --------------------------------------------------------------------------------------------- on the command line

RECORD = {
    "sample_id": "one/a",
    "board": "B2",
    "entities": [{"entity_id": "mia", "kind": "human", "name": "Mia", "views": ["x.mp4"]}],
    "prompt": {"integrated": "Mia walks, then a door slams."},
    "meta": {"sfx": True, "ordered_actions": True},
    "outputs": {"x": "x.mp4", "y": "x.mp4"},
}
ITEMS = [entry("VTF", "Mia walks", subdim="Action"), *(entry(name, "a door slams") for name in ("ATF", "ESM", "SC"))]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    clip(tmp_path / "x.mp4", seed=0, frames=8)
    (tmp_path / "samples.jsonl").write_text(json.dumps(RECORD) + "\n")
    write(tmp_path / "m.jsonl", list(importer(tmp_path, "*", {}).lines))
    return tmp_path


def install(monkeypatch: pytest.MonkeyPatch, reply: Callable[[Question], Raw]) -> None:
    @contextmanager
    def judging(choice: JudgeChoice, out: Path) -> Iterator[Bench]:
        backends = {"judge": FakeBackend(reply, HEARING)}
        with Ledger(out / "judge.jsonl") as ledger, JudgeSession(backends, ledger, Mode.CACHE) as session:
            yield Bench(session, None, session.judges)

    monkeypatch.setattr(commands_multiref, "judging", judging)


def test_one_question_and_one_file_serve_all_systems(
    cli: Cli,  # noqa: F811
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Question] = []
    replies = iter([ITEMS, [*ITEMS, entry("TOF", "then a door slams")]])

    def reply(question: Question) -> Raw:
        asked.append(question)
        return written({"items": next(replies)})

    install(monkeypatch, reply)
    common = ("generate", "multiref", "--manifest", root / "m.jsonl", "--out", root / "lists")
    done = cli(*common, "--judge-url", "http://127.0.0.1:9")
    assert done.code == 0, done.err
    assert len(asked) == 2  # two systems, one sample; the first answer lacked an item
    assert (root / "lists" / "rejected" / "one%2Fa_checklist.json").is_file()
    lines = importer(root, "*", {"checklists": "lists"}).lines
    assert [line["checklist"] for line in lines] == ["lists/one%2Fa_checklist.json"] * 2
    write(root / "with.jsonl", list(lines))
    assert cli("check", "--manifest", root / "with.jsonl").code == 0
    assert cli(*common).code == 2  # somebody has to be asked


def test_a_refused_checklist_is_an_exit_code_and_no_file(
    cli: Cli,  # noqa: F811
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, lambda _: written({"items": ITEMS}))
    done = cli(
        "generate", "multiref", "--manifest", root / "m.jsonl", "--out", root / "lists",
        "--judge-url", "http://127.0.0.1:9", "--tries", "2",
    )  # fmt: skip
    assert done.code == 3
    assert "an item of TOF" in done.err
    assert not (root / "lists" / "one%2Fa_checklist.json").exists()
    assert "checklist" not in importer(root, "*", {"checklists": "lists"}).lines[0]


def test_a_folder_of_checklists_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="checklists=none: expected a folder"):
        importer(tmp_path, "*", {"checklists": "none"})
