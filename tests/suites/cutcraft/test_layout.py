"""The published files: both forms of option E, mixed labels, the Chinese twin, ids by file name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import UsageError
from evaluator.suites.cutcraft import example
from evaluator.suites.cutcraft.data import examine, prompt_of, time_range
from evaluator.suites.cutcraft.layout import _case, clip_id, importer, line_of
from tests.conftest import ROOT
from tests.suites.cutcraft.cases import QUESTIONS, case, cut, shot


def put(root: Path, prompts: list[Any], bank: list[Any], *clips: str) -> None:
    (root / "prompt.json").write_text(json.dumps(prompts), encoding="utf-8")
    (root / "question_bank.json").write_text(json.dumps({"question_bank": bank}), encoding="utf-8")
    for name in clips:
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.touch()


def entry(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "source_seed": "Parallel Montage_Ships_Experimental Style_2",
        "title": "Ships",
        "overall_description_prompt": "ships",
        "global_editing_style": "Parallel Montage",
        "number_of_shots": 2,
        "shots": [shot(1, 0, 5, transition_to_next=cut()), shot(2, 5, 15)],
        **more,
    }


def bank(number: int) -> dict[str, Any]:
    return {"video_id": number, "questions": QUESTIONS}


def test_the_example_data_is_read_whole(shared: Path, tmp_path: Path) -> None:
    prompts = json.loads((shared / "data/cutcraft/prompt.example.json").read_text())
    questions = json.loads((shared / "data/cutcraft/question_bank.example.json").read_text())
    put(tmp_path, prompts, questions["question_bank"], *(f"m/{one['id']}_x.mp4" for one in prompts))
    made = importer(tmp_path, "m", {})
    assert made.problems == ()
    assert [line["id"] for line in made.lines] == [f"{one['id']}/m" for one in prompts]
    found = {line["data"]["prompt_id"]: prompt_of(_case(line)) for line in made.lines}
    assert found[9004].montage == "Attractions"
    assert found[9005].style == "Social Media/Vlog Style"
    assert found[9003].shots[0].transition is not None
    assert found[9001].spans == ((0, 5), (5, 10), (10, 15))
    assert found[9001].shots[0].description.startswith("A baker")
    assert [len(found[number].stored) for number in found] == [6] * 5
    assert found[9002].stored["D1"].target == "3->4"
    assert found[9001].stored["A3"].options[found[9001].stored["A3"].key].startswith("Filling the tin")


def test_clips_without_prompt_and_prompts_without_clip_are_named(tmp_path: Path) -> None:
    put(tmp_path, [entry(7), entry(9)], [bank(7), bank(9)], "m/7_a.mp4", "m/8_b.mp4", "m/x_c.mp4")
    made = importer(tmp_path, "m", {})
    assert [line["id"] for line in made.lines] == ["7/m"]
    assert len(made.problems) == 3
    assert any("8_b.mp4" in one for one in made.problems)
    assert any("x_c.mp4" in one for one in made.problems)
    assert any("prompt 9" in one for one in made.problems)


def test_ids_ranges_and_all_systems(tmp_path: Path) -> None:
    numbers = [3, 5, 8]
    clips = [f"{system}/{n}_x.mp4" for system in ("a", "b") for n in numbers]
    put(tmp_path, [entry(n) for n in numbers], [bank(n) for n in numbers], *clips)
    assert [line["id"] for line in importer(tmp_path, "*", {"ids": "8"}).lines] == ["8/a", "8/b"]
    assert [line["id"] for line in importer(tmp_path, "a", {"range": "1-2"}).lines] == ["3/a", "5/a"]
    assert len(importer(tmp_path, "a", {"range": "1-1", "ids": "8"}).lines) == 2
    for wrong in ("0-2", "3-1", "2", "1-2-3"):
        with pytest.raises(UsageError, match="range"):
            importer(tmp_path, "a", {"range": wrong})
    with pytest.raises(UsageError, match="colour"):
        importer(tmp_path, "a", {"colour": "red"})
    with pytest.raises(UsageError, match="no prompt 4"):
        importer(tmp_path, "a", {"ids": "4"})


def test_files_of_different_releases_are_refused(tmp_path: Path) -> None:
    put(tmp_path, [entry(1)], [bank(2)], "m/1_a.mp4")
    with pytest.raises(UsageError, match="none of the prompts"):
        importer(tmp_path, "m", {})


def test_an_unknown_label_is_never_some_class() -> None:
    wrong = case(shot(1, 0, 3.6, transition_to_next=cut(optical="flash-to-red")), shot(2, 3.6, 7.2))
    (problem,) = examine(wrong)
    assert problem.field == "shots[0].transition_to_next.optical_effect"
    assert "flash-to-white" in problem.expected or "flash" in problem.expected


def test_the_chinese_twin_has_the_same_classes() -> None:
    twin = case(
        shot(1, 0, 3.6, transition_to_next=cut("动作匹配", "闪白", "J切")),
        shot(2, 3.6, 7.2),
        source_seed="平行蒙太奇_船_实验风格_2",
    )
    assert list(examine(twin)) == []
    assert (prompt_of(twin).montage, prompt_of(twin).style) == ("Parallel", "Experimental Style")


def test_what_contradicts_itself_is_a_problem() -> None:
    assert list(examine(case())) == []
    assert list(examine(case(shot(1, 0, 3.6), shot(2, 3.6, 7.2))))  # no transition between
    assert list(examine(case(source_seed="Sequential Montage")))


def test_names_and_times() -> None:
    assert [clip_id(name) for name in ("100_T.mp4", "7.mp4", "a_1.mp4", "²_x.mp4")] == [100, 7, None, None]
    assert time_range("Shot 3 [ 10.5 - 12s ] rain") == (10.5, 12.0)
    assert time_range("no times") == (0.0, 0.0)


def test_the_worked_example_is_what_its_files_give() -> None:
    folder = ROOT / "manifests"
    lines = [json.loads(line) for line in (folder / example.MANIFEST).read_text(encoding="utf-8").splitlines()]
    (prompt,) = json.loads((folder / "cutcraft" / "prompt.json").read_text(encoding="utf-8"))
    bank_file = json.loads((folder / "cutcraft" / "question_bank.json").read_text(encoding="utf-8"))
    questions = bank_file["question_bank"][0]["questions"]
    place = f"{example.CLIPS}/{example.SYSTEM}/{example.VIDEO}"
    assert lines == [line_of(prompt, questions, example.SYSTEM, place)]
    assert list(examine(_case(lines[0]))) == []
