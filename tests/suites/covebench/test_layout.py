"""`evaluator manifest covebench`: names of outputs, places of sources, and what is left out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import UsageError
from evaluator.manifest import load
from evaluator.suites.covebench import SUITE
from evaluator.suites.covebench.layout import importer, task_number
from tests.suites.covebench.judging import GROUPS


def task(number: int, source: str = "", **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "editing_instruction": f"Edit {number}.",
        "original_description": "A thing.",
        "evaluation_groups": GROUPS,
        "videoA_path": source or f"data/{number}.mp4",
        "category": [
            {"Level 1": "Subject", "Level 2": "Removal", "Level 3": "x"},
            {"Level 1": "Style", "Level 2": "Art", "Level 3": "y"},
            {"Level 1": "Subject", "Level 2": "Addition", "Level 3": "z"},
        ],
        **more,
    }


def put(path: Path, content: bytes = b"clip") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "bench"
    put(folder / "checklist.json", b"\xef\xbb\xbf" + json.dumps([task(1), task(2), task(10)]).encode())
    for number in (1, 2, 10):
        put(folder / "data" / f"{number}.mp4")
    for name in ("1.mp4", "deep/er/task_2_output.MOV", "notes.txt"):
        put(folder / "model" / name)
    return folder


@pytest.mark.parametrize(
    ("stem", "number"),
    [
        ("7", 7),
        ("0012", 12),
        ("task_41_output", 41),
        ("run2_TASK_41_Output", 41),
        ("x9_output_id77", 77),
        ("clip5_video_3", 3),
        ("clip5-Video-3", 3),
        ("task_41_output_8", 8),  # not at the end: the last digits
        ("kiwi2_0012_v3", 3),
        ("2024run", 2024),
        ("final", None),
        ("", None),
        ("٣", None),  # a digit, but none that a file of the benchmark has
    ],
)
def test_the_task_is_in_the_name_of_a_file(stem: str, number: int | None) -> None:
    assert task_number(stem) == number


def test_a_line_per_task_that_has_both_clips(root: Path) -> None:
    made = importer(root, "model", {})
    assert [line["id"] for line in made.lines] == ["1/model", "2/model"]
    first, second = made.lines
    assert (first["video"], first["source"]) == ("model/1.mp4", "data/1.mp4")
    assert second["video"] == "model/deep/er/task_2_output.MOV"
    assert first["prompt"] == "Edit 1."
    assert first["category"] == "Subject + Style"
    assert first["checklist"] == GROUPS
    assert first["data"] == {
        "task": 1,
        "description": "A thing.",
        "categories": [["Subject", "Removal", "x"], ["Style", "Art", "y"], ["Subject", "Addition", "z"]],
    }
    assert made.problems == ("tasks 10: expected an output, found none; 1 tasks are left out",)


def test_the_lines_are_a_manifest(root: Path, tmp_path: Path) -> None:
    made = importer(root, "model", {"exclusions": "none", "sequential_of": "other"})
    path = tmp_path / "m.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in made.lines))
    cases = load(path, root, suites={"covebench": SUITE.data}, examine={"covebench": SUITE.examine})
    assert [case.data["task"] for case in cases] == [1, 2]
    assert cases[0].data["excluded"] == []
    assert cases[0].data["sequential_of"] == "other"


class TestSources:
    @pytest.mark.parametrize(
        ("written", "place"),
        [
            ("clips/a.mp4", "src/clips/a.mp4"),
            ("clips/a.mp4", "src/a.mp4"),
            ("clips/a.mp4", "lists/clips/a.mp4"),
            ("clips/a.mp4", "project/clips/a.mp4"),
        ],
    )
    def test_every_place_is_tried(self, tmp_path: Path, written: str, place: str) -> None:
        assert self.found(tmp_path, written, [place]) == place

    def test_the_first_place_wins(self, tmp_path: Path) -> None:
        places = ["project/clips/a.mp4", "lists/clips/a.mp4", "src/a.mp4", "src/clips/a.mp4"]
        for count in range(1, 5):
            assert self.found(tmp_path / str(count), "clips/a.mp4", places[:count]) == places[count - 1]

    def test_an_absolute_path_is_taken_as_it_is(self, tmp_path: Path) -> None:
        written = put(tmp_path / "elsewhere" / "a.mp4")
        assert self.found(tmp_path, str(written), ["src/a.mp4"]) == "elsewhere/a.mp4"

    def test_an_absolute_path_that_is_not_there_goes_by_its_name(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, "/nowhere/a.mp4", ["src/a.mp4"]) == "src/a.mp4"

    def found(self, root: Path, written: str, places: list[str]) -> str:
        put(root / "lists" / "checklist.json", json.dumps([task(1, written)]).encode())
        put(root / "model" / "1.mp4")
        for place in places:
            put(root / place)
        settings = {"checklist": "lists/checklist.json", "source_root": "src", "project_root": "project"}
        made = importer(root, "model", settings)
        assert made.problems == ()
        return str(made.lines[0]["source"])


class TestLeftOut:
    @pytest.mark.parametrize("name", ["a" * 5000, "a\0b", ""])
    def test_a_task_whose_source_has_a_name_that_no_file_can_have(self, root: Path, name: str) -> None:
        put(root / "checklist.json", json.dumps([{**task(1), "videoA_path": name}, task(2)]).encode())
        made = importer(root, "model", {})
        assert [line["id"] for line in made.lines] == ["2/model"]
        assert made.problems == ("tasks 1: expected a source, found none; 1 tasks are left out",)

    def test_a_task_without_a_source(self, root: Path) -> None:
        (root / "data" / "1.mp4").unlink()
        made = importer(root, "model", {})
        assert [line["id"] for line in made.lines] == ["2/model"]
        assert any("tasks 1: expected a source" in problem for problem in made.problems)

    def test_two_outputs_of_one_task(self, root: Path) -> None:
        put(root / "model" / "video_1.mp4")
        made = importer(root, "model", {})
        assert [line["id"] for line in made.lines] == ["2/model"]
        assert any("task 1: expected one output, found" in problem for problem in made.problems)

    def test_an_output_of_no_task_and_one_without_a_number(self, root: Path) -> None:
        put(root / "model" / "99.mp4")
        put(root / "model" / "best.webm")
        problems = "\n".join(importer(root, "model", {}).problems)
        assert "found 99" in problems
        assert "best.webm" in problems

    def test_a_source_outside_of_the_root(self, root: Path, tmp_path: Path) -> None:
        outside = put(tmp_path / "outside.mp4")
        os.symlink(outside, root / "data" / "3.mp4")
        put(root / "checklist.json", json.dumps([task(1), task(3)]).encode())
        put(root / "model" / "3.mp4")
        made = importer(root, "model", {})
        assert [line["id"] for line in made.lines] == ["1/model"]
        assert any("task 3: source: expected a file below" in problem for problem in made.problems)


class TestSettings:
    def test_lists_of_ones_own(self, root: Path) -> None:
        lists = {"lists": [{"metrics": ["ssim"], "count": 1, "tasks": "2"}]}
        put(root / "mine.json", json.dumps(lists).encode())
        made = importer(root, "model", {"exclusions": "mine.json"})
        assert [line["data"]["excluded"] for line in made.lines] == [[], ["ssim"]]

    @pytest.mark.parametrize(
        "cached",
        [
            [{"description": "a red kite"}, {"description": "the beach"}],
            {"status": "completed", "entities": [{"description": "a red kite"}, {"description": "the beach"}]},
            {
                "gdino_records": [{"description": "a red kite", "box": None}],
                "preserved_entities": [{"description": "a red kite"}, {"description": "the beach"}],
            },
        ],
    )
    def test_grounding_phrases(self, root: Path, cached: object) -> None:
        put(root / "cache" / "1" / "metadata.json", json.dumps(cached).encode())
        put(root / "cache" / "2" / "metadata.json", b'{"status": "skipped"}')
        made = importer(root, "model", {"entities": "cache"})
        assert [line["data"]["entities"] for line in made.lines] == [["a red kite", "the beach"], []]

    def test_a_task_that_names_nothing_has_no_phrases(self, root: Path) -> None:
        put(root / "cache" / "1" / "metadata.json", b'{"preserved_entities": [], "other": [{"description": "x"}]}')
        made = importer(root, "model", {"entities": "cache"})
        assert made.lines[0]["data"]["entities"] == []

    def test_another_folder_of_outputs(self, root: Path) -> None:
        put(root / "runs" / "seven" / "10.mp4")
        made = importer(root, "model", {"edited": "runs/seven"})
        assert [line["id"] for line in made.lines] == ["10/model"]
        assert [line["system"] for line in made.lines] == ["model"]

    @pytest.mark.parametrize(
        ("settings", "word"),
        [
            ({"exclusion": "none"}, "did you mean"),
            ({"edited": "nowhere"}, "--set edited=DIR"),
            ({"checklist": "nowhere.json"}, "--set checklist=FILE"),
            ({"exclusions": "nowhere.json"}, "cannot be read"),
            ({"entities": "nowhere"}, "--set entities=DIR"),
        ],
    )
    def test_what_cannot_be_meant_is_a_usage_error(self, root: Path, settings: dict[str, str], word: str) -> None:
        with pytest.raises(UsageError, match=word):
            importer(root, "model", settings)

    @pytest.mark.parametrize(
        "text",
        [
            b"{",
            b'{"id": 1}',
            b'[{"name": 1}]',
            b'[{"id": "x"}]',
            b'[{"id": 1}, {"id": 1}]',
            b'[{"id": 1, "category": ["Style"]}]',
            b'[{"id": 1, "category": "Style"}]',
            b'[{"id": 1, "category": {"Level 1": "Style"}}]',
        ],
    )
    def test_a_checklist_of_another_form_is_refused(self, root: Path, text: bytes) -> None:
        put(root / "checklist.json", text)
        with pytest.raises(UsageError, match=r"checklist\.json"):
            importer(root, "model", {})


def test_defect_14_sources_and_outputs_are_matched_before_anything_is_cut_off(root: Path) -> None:
    """The reference limits both lists first: with outputs of the last tasks only, nothing is left of its first two."""
    (root / "model" / "1.mp4").unlink()
    put(root / "model" / "10.mp4")
    made = importer(root, "model", {})
    assert [line["id"] for line in made.lines][:2] == ["2/model", "10/model"]
