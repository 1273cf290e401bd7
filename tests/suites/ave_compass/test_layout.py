"""The importer: every problem of every case at once, and whatever is right becomes a line that the manifest reads."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluator.commands_suites import manifest
from evaluator.errors import UsageError
from evaluator.manifest.loader import load
from evaluator.suites import suites
from evaluator.suites.ave_compass import SUITE
from evaluator.suites.ave_compass.layout import importer
from evaluator.suites.base import Imported
from tests.runner.clips import clip
from tests.suites.ave_compass.published import Published, checklist, instruction


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clip(tmp_path_factory.mktemp("layout") / "clip.mp4", frames=110)


@pytest.fixture
def tree(tmp_path: Path, picture: Path) -> Published:
    return Published(tmp_path / "set", picture)


def read(tree: Published, **settings: str) -> Imported:
    return importer(tree.root, "model", settings)


def lines(found: Imported) -> dict[str, dict[str, Any]]:
    return {line["id"]: dict(line) for line in found.lines}


def test_a_case_of_every_branch(tree: Published) -> None:
    for stem, category in (("a.e1", "joint"), ("b_2", "speech_edit"), ("10_2.e1", "video_only"), ("d", "A1.3")):
        tree.add(stem, category)
    found = read(tree)
    assert found.problems == ()
    assert {name: line["category"] for name, line in lines(found).items()} == {
        "10_2.e1": "video-only",
        "a.e1": "joint",
        "b_2": "speech",
        "d": "audio-only",
    }
    line = lines(found)["b_2"]
    assert (line["video"], line["source"]) == ("edited_videos/b_2.mp4", "videos/clip.mp4")
    assert (line["prompt"], line["checklist"]) == ("Let it rain.", "checklists/b_2_checklist.json")
    assert line["labels"] == {"operation": "J6.1", "duration": "[4,5)"}
    assert line["data"] == {
        "operation": "J6.1",
        "instruction_id": 7,
        "case_name": "rain",
        "compat_id": "model/b.2",
        "branch_label": "speech_edit",
        "layout": {"instructions": 4, "missing_output": {}, "unusable": 0},
    }


def test_the_lines_are_a_manifest(tree: Published) -> None:
    tree.add("a.e1", "joint")
    tree.add("b", "speech")
    path = tree.root / "model.jsonl"
    path.write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in read(tree).lines))
    cases = load(path, suites={SUITE.id: SUITE.data}, examine={SUITE.id: SUITE.examine})
    assert [(case.id, case.category) for case in cases] == [("a.e1", "joint"), ("b", "speech")]
    assert cases[0].checklist["caption"] == "A meadow."


def test_raw_stems_do_not_collide_where_the_references_ids_do(tree: Published) -> None:
    tree.add("a_1", "joint")
    tree.add("a.1", "joint")
    found = lines(read(tree))
    assert set(found) == {"a_1", "a.1"}
    assert {line["data"]["compat_id"] for line in found.values()} == {"model/a.1"}


def broken(tree: Published) -> None:
    """One flaw a case, beside a good case."""
    tree.add("good", "joint")
    tree.add("no-output", "speech", output=False)
    tree.add("no-branch", "karaoke")
    tree.add("no-source", "joint", instruction("joint", video="clap.mp4"))
    tree.add("escapes", "joint", instruction("joint", video="../edited_videos/good.mp4"))
    tree.add("unnamed", "joint", instruction("joint", video=""))
    tree.add("mute", "joint", {"video": "clip.mp4", "instruction": {"category": "J1.1"}})
    tree.add("disagrees", "joint", checklist_=checklist("speech"))
    tree.add("empty", "joint", checklist_=checklist("joint", questions=[]))
    tree.add("torn", "joint")
    tree.write("edit_instructions/torn.json", '{"video": ')
    tree.add("no-list", "joint")
    (tree.root / "checklists" / "no-list_checklist.json").unlink()


FLAWS = {
    "no-output": ("edited_videos/no-output.mp4", "the edited clip"),
    "no-branch": ("edit_instructions/no-branch.json", '"karaoke"'),
    "no-source": ("edit_instructions/no-source.json", 'did you mean "clip.mp4"?'),
    "escapes": ("edit_instructions/escapes.json", "videos/"),
    "unnamed": ("edit_instructions/unnamed.json", "found nothing"),
    "mute": ("edit_instructions/mute.json", "the edit instruction"),
    "disagrees": ("edit_instructions/disagrees.json", "allow_branch_mismatch=yes"),
    "empty": ("checklists/empty_checklist.json", ""),
    "torn": ("edit_instructions/torn.json", "a JSON object"),
    "no-list": ("checklists/no-list_checklist.json", "nothing"),
}


def test_all_problems_of_all_cases_at_once(tree: Published) -> None:
    broken(tree)
    found = read(tree)
    assert set(lines(found)) == {"good"}
    for stem, (place, words) in FLAWS.items():
        own = [problem for problem in found.problems if f"/{stem}" in problem.split(":")[0]]
        assert len(own) == 1, (stem, own)
        assert own[0].startswith(f"{place}: "), own
        assert words in own[0]
        assert ": expected " in own[0]


def test_two_flaws_of_one_case_are_both_told(tree: Published) -> None:
    tree.add("both", "karaoke", output=False)
    assert len([problem for problem in read(tree).problems if "/both" in problem]) == 2


def test_every_line_says_how_many_cases_are_missing(tree: Published) -> None:
    broken(tree)
    assert lines(read(tree))["good"]["data"]["layout"] == {
        "instructions": 11,
        "missing_output": {"speech": 1},
        "unusable": 9,
    }


def test_options_that_let_a_case_pass(tree: Published) -> None:
    tree.add("odd", "karaoke", checklist_=checklist("joint"))
    tree.add("twofold", "joint", checklist_=checklist("speech"))
    assert not read(tree).lines
    found = read(tree, unknown_branch="joint", allow_branch_mismatch="yes", vram_bytes="16000000000", ids="system")
    assert {name: line["category"] for name, line in lines(found).items()} == {
        "odd/model": "joint",
        "twofold/model": "joint",
    }
    assert lines(found)["odd/model"]["data"]["vram_bytes"] == 16_000_000_000


def test_outputs_of_a_system_may_lie_in_a_folder_of_its_own(tree: Published) -> None:
    tree.add("a", "joint", output=False)
    (tree.root / "model").mkdir()
    (tree.root / "model" / "a.mp4").write_bytes(tree.clip)
    assert lines(read(tree, edited_videos="model"))["a"]["video"] == "model/a.mp4"


def test_a_misspelt_output_is_pointed_at(tree: Published) -> None:
    tree.add("rain.e1", "joint", output=False)
    (tree.root / "edited_videos" / "rain_e1.mp4").write_bytes(tree.clip)
    problems = read(tree).problems
    assert any('did you mean "rain_e1.mp4"?' in problem for problem in problems)
    assert any(problem.startswith("edited_videos/rain_e1.mp4: (file)") for problem in problems)


def test_the_first_branch_key_that_says_something_wins(tree: Published) -> None:
    inner = {"category_label": " ", "task_category": "speech_edit", "category": "V1", "prompt": "Say hi."}
    tree.add("a", "speech", {"video": "clip.mp4", "instruction": inner})
    line = lines(read(tree))["a"]
    assert (line["category"], line["prompt"], line["data"]["branch_label"]) == ("speech", "Say hi.", "speech_edit")


def test_without_a_label_the_checklist_tells_the_branch(tree: Published) -> None:
    tree.add("a", "audio_only", {"video": "clip.mp4", "prompt_en": "Louder.", "instruction": "none"})
    line = lines(read(tree))["a"]
    assert (line["category"], line["data"]["branch_label"]) == ("audio-only", "")  # which compat takes for joint
    assert line["data"]["case_name"] == "clip"  # no task: the stem of the source


def test_a_byte_order_mark_is_no_fault(tree: Published) -> None:
    tree.add("a", "joint")
    path = tree.root / "edit_instructions" / "a.json"
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert read(tree).problems == ()


def test_two_prompts_for_one_case_are_a_note(tree: Published) -> None:
    tree.add("a", "joint", checklist_=checklist("joint", edit_prompt=" Let it\nrain. "))
    tree.add("b", "joint", checklist_=checklist("joint", edit_prompt="Let it snow."))
    notes = {name: line["meta"]["notes"] for name, line in lines(read(tree)).items()}
    assert notes["a"] == []
    assert "edit_prompt differs" in notes["b"][0]


@pytest.mark.parametrize(
    "settings", [{"profile": "compat"}, {"ids": "uuid"}, {"unknown_branch": "music"}, {"vram_bytes": "24GB"}]
)
def test_unknown_options_are_refused(tree: Published, settings: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=next(iter(settings))):
        importer(tree.root, "model", settings)


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="edit_instructions"):
        importer(tmp_path, "model", {})


@pytest.mark.parametrize("name", ["ave-compass", "ave_compass"])
def test_the_command(tree: Published, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    broken(tree)
    assert manifest(name, tree.root, "model", {}, None) == 3
    written = [json.loads(line) for line in (tree.root / "model.jsonl").read_text().splitlines()]
    assert [line["id"] for line in written] == ["good"]
    assert "1 cases" in capsys.readouterr().err
    assert suites()["ave_compass"].importer is importer
