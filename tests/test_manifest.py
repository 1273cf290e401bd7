"""The manifest as its author meets it: what is accepted, what is refused, and the words of the refusal."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, field_validator

from evaluator.errors import EXIT_USAGE, ManifestError
from evaluator.manifest import Manifest, load, read
from evaluator.manifest.loader import MOST
from evaluator.manifest.reading import MAX_DEPTH, MAX_LINE
from evaluator.schema import Case, Reference
from evaluator.suites import suites

MANIFESTS = Path(__file__).resolve().parent.parent / "manifests"


class BoardData(BaseModel):
    """The data schema of a made-up suite."""

    model_config = ConfigDict(extra="forbid")

    board: Literal["B1", "B2"]
    slots: int = 1

    @field_validator("slots")
    @classmethod
    def _at_most_three(cls, value: int) -> int:
        if value > 3:
            raise ValueError("at most\nthree slots")
        return value


SUITES = {"core": None, "board": BoardData}
GOOD = {"id": "a", "suite": "core", "video": "clip.mp4"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the manifests here name, below a folder that is out of bounds."""
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    for name in ("clip.mp4", "source.mp4", "sub/face.png", "list.json"):
        (inside / name).write_bytes(b"x")
    (inside / "list.json").write_text('[{"q": 1}]')
    (tmp_path / "outside.mp4").write_bytes(b"x")
    return inside


def write(folder: Path, *cases: Any) -> Path:
    """A manifest of these lines: dictionaries as JSON, bytes as they are."""
    rows = [case if isinstance(case, bytes) else json.dumps(case).encode() for case in cases]
    path = folder / "m.jsonl"
    path.write_bytes(b"\n".join(rows))
    return path


def problems(path: Path, media_root: Path | None = None) -> list[str]:
    """The messages of a manifest that must be refused, without the folder they all begin with."""
    with pytest.raises(ManifestError) as caught:
        load(path, media_root, suites=SUITES)
    assert all(message.isprintable() for message in caught.value.problems), "a message tears the terminal's line"
    return [message.removeprefix(f"{path.parent}/") for message in caught.value.problems]


def one(folder: Path, *cases: Any) -> str:
    """The only message."""
    found = problems(write(folder, *cases))
    assert len(found) == 1, found
    return found[0]


class TestAccepted:
    def test_every_field_arrives(self, folder: Path) -> None:
        line = {
            **GOOD,
            "system": "model-a",
            "source": "source.mp4",
            "prompt": "two\nlines",
            "category": "style",
            "references": [{"kind": "image", "role": "face", "entity": "anna", "path": "sub/face.png"}],
            "checklist": "list.json",
            "shots": [{"id": 1}],
            "labels": {"level": "easy"},
            "meta": {"anything": [1, None, 2.5]},
        }
        [case] = load(write(folder, line), suites=SUITES)
        assert case == Case(
            id="a",
            suite="core",
            video=folder / "clip.mp4",
            system="model-a",
            source=folder / "source.mp4",
            prompt="two\nlines",
            category="style",
            references=(Reference("image", folder / "sub/face.png", "face", "anna"),),
            checklist=({"q": 1},),
            shots=({"id": 1},),
            labels={"level": "easy"},
            meta={"anything": [1, None, 2.5]},
        )

    def test_the_least_that_a_case_needs(self, folder: Path) -> None:
        [case] = load(write(folder, GOOD), suites=SUITES)
        assert case == Case(id="a", suite="core", video=folder / "clip.mp4")

    def test_inline_checklist(self, folder: Path) -> None:
        [case] = load(write(folder, {**GOOD, "checklist": [{"q": 1}, "two"]}), suites=SUITES)
        assert case.checklist == ({"q": 1}, "two")

    def test_data_of_a_suite_is_passed_on_as_written(self, folder: Path) -> None:
        [case] = load(write(folder, {**GOOD, "suite": "board", "data": {"board": "B1"}}), suites=SUITES)
        assert case.data == {"board": "B1"}

    def test_byte_order_mark_crlf_and_blank_lines(self, folder: Path) -> None:
        path = folder / "m.jsonl"
        second = json.dumps({**GOOD, "id": "b"}).encode()
        path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n \t\n" + second + b"\r\n")
        manifest = read(path, suites=SUITES)
        assert [case.id for case in manifest.cases] == ["a", "b"]
        assert manifest.lines == (1, 4)

    def test_unicode_line_separators_do_not_end_a_line(self, folder: Path) -> None:
        line = json.dumps({**GOOD, "prompt": "one\u2028two\u0085three"}, ensure_ascii=False).encode()
        [case] = load(write(folder, line), suites=SUITES)
        assert case.prompt == "one\u2028two\u0085three"

    def test_a_line_of_one_megabyte(self, folder: Path) -> None:
        [case] = load(write(folder, {**GOOD, "prompt": "x" * (1 << 20)}), suites=SUITES)
        assert len(case.prompt) == 1 << 20

    def test_digest_is_that_of_the_bytes(self, folder: Path) -> None:
        path = write(folder, GOOD)
        manifest = read(path, suites=SUITES)
        assert isinstance(manifest, Manifest)
        assert manifest.path == path
        assert manifest.digest == hashlib.sha256(path.read_bytes()).hexdigest()

    def test_paths_relative_to_a_media_root(self, folder: Path, tmp_path: Path) -> None:
        elsewhere = tmp_path / "lists"
        elsewhere.mkdir()
        [case] = load(write(elsewhere, {**GOOD, "source": "../inside/source.mp4"}), folder, suites=SUITES)
        assert (case.video, case.source) == (folder / "clip.mp4", folder / "source.mp4")

    def test_absolute_path_below_the_root(self, folder: Path) -> None:
        [case] = load(write(folder, {**GOOD, "video": str(folder / "clip.mp4")}), suites=SUITES)
        assert case.video == folder / "clip.mp4"

    def test_link_that_stays_below_the_root(self, folder: Path) -> None:
        (folder / "link.mp4").symlink_to("clip.mp4")
        [case] = load(write(folder, {**GOOD, "video": "link.mp4"}), suites=SUITES)
        assert case.video == folder / "clip.mp4"

    def test_manifest_given_by_a_relative_path(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(folder, GOOD)
        monkeypatch.chdir(folder)
        assert load(Path("m.jsonl"), suites=SUITES)[0].video == folder / "clip.mp4"

    @pytest.mark.parametrize("path", sorted(MANIFESTS.glob("*.jsonl")), ids=lambda path: path.name)
    def test_manifests_that_we_ship_lack_nothing_but_the_clips(self, path: Path, tmp_path: Path) -> None:
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            references = [reference["path"] for reference in row.get("references", ())]
            for name in (row["video"], row.get("source", row["video"]), *references):
                (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name).touch()
            if isinstance(row.get("checklist"), str):
                (tmp_path / row["checklist"]).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / row["checklist"]).write_bytes((MANIFESTS / row["checklist"]).read_bytes())
        shipped = {name: suite.data for name, suite in suites().items()}
        assert load(path, tmp_path, suites=shipped)


class TestRefusedFile:
    def test_missing(self, folder: Path) -> None:
        assert problems(folder / "m.jsonl") == [
            "m.jsonl:1: (file): expected a readable manifest, found No such file or directory; "
            "correct the path after --manifest"
        ]

    def test_folder(self, folder: Path) -> None:
        assert "(file): expected a regular file" in problems(folder / "sub")[0]

    @pytest.mark.timeout(20)
    def test_named_pipe_is_not_waited_for(self, folder: Path) -> None:
        os.mkfifo(folder / "m.jsonl")
        assert "(file): expected a regular file" in problems(folder / "m.jsonl")[0]

    @pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf\r\n"], ids=["nothing", "blank", "mark"])
    def test_empty(self, folder: Path, data: bytes) -> None:
        assert "(file): expected at least one case, found none" in one(folder, data)

    def test_utf16(self, folder: Path) -> None:
        assert "(file): expected UTF-8 text, found UTF-16 text; save" in one(folder, json.dumps(GOOD).encode("utf-16"))

    def test_a_clip_in_place_of_a_manifest(self, folder: Path) -> None:
        found = one(folder, b"\0\0\0\x20ftypisom\n" + bytes(range(256)) * 5000)
        assert "(file): expected UTF-8 text, found binary data; give the path of a manifest" in found

    def test_a_file_with_a_problem_on_every_line_is_not_told_to_its_end(self, folder: Path) -> None:
        path = write(folder, *[b"nonsense"] * (MOST + 500))
        found = problems(path)
        assert len(found) == MOST + 1
        assert found[-2].startswith(f"m.jsonl:{MOST}: (line)")
        assert found[-1] == f"m.jsonl: the first {MOST} problems are shown; mend these, then check again"
        assert len(problems(write(folder, *[b"nonsense"] * MOST))) == MOST

    def test_a_line_with_a_problem_in_every_key_is_not_told_to_its_end(self, folder: Path) -> None:
        assert len(problems(write(folder, {**GOOD, **{f"key {number}": 1 for number in range(3 * MOST)}}))) == MOST + 1

    def test_media_root_that_is_no_folder(self, folder: Path) -> None:
        assert "(media root): expected a folder" in problems(write(folder, GOOD), folder / "clip.mp4")[0]

    def test_the_exit_code_is_that_of_wrong_usage(self, folder: Path) -> None:
        with pytest.raises(ManifestError) as caught:
            load(folder / "m.jsonl", suites=SUITES)
        assert caught.value.exit_code == EXIT_USAGE


class TestRefusedLine:
    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (b"nonsense", "(line): expected one JSON object, found a fault at column 1 (Expecting value)"),
            (b'{"id": "a"', "(line): expected one JSON object, found a fault at column 11"),
            (b"[1, 2]", "(line): expected one JSON object, found a list"),
            (b'"text"', '(line): expected one JSON object, found "text"'),
            (b'{"id": NaN}', "(line): expected finite numbers, found NaN"),
            (b'{"id": -Infinity}', "(line): expected finite numbers, found -Infinity"),
            (b'{"meta": {"x": 1e999}}', "(line): expected finite numbers, found one beyond the range"),
            (b'{"id": "a", "id": "a"}', '"id": expected each key once'),
            (b'{"meta": {"x": {"y": 1, "y": 2}}}', '"y": expected each key once'),
            (b'{"meta": 18446744073709551616}', "(line): expected integers of at most 64 bits"),
            (b'{"meta": ' + b"9" * 100_000 + b"}", "(line): expected integers of at most 64 bits, found one of 100000"),
            (
                b'{"id": "\\ud800"}',
                '(line): expected whole Unicode characters, found half a surrogate pair in "\\ud800"',
            ),
            (b'{"\\udfff": 1}', "(line): expected whole Unicode characters"),
            (b'{"id": "\xff"}', "(line): expected UTF-8 text, found byte 0xff at column 9; save"),
        ],
    )
    def test_json_that_is_not_plain(self, folder: Path, line: bytes, message: str) -> None:
        assert one(folder, line).startswith(f"m.jsonl:1: {message}")

    def test_line_beyond_the_limit_is_not_parsed(self, folder: Path) -> None:
        found = one(folder, b"{" * (MAX_LINE + 1))
        assert found.startswith(f"m.jsonl:1: (line): expected at most {MAX_LINE} bytes, found {MAX_LINE + 1} bytes")

    @pytest.mark.parametrize("depth", [MAX_DEPTH, 100_000], ids=["just", "far"])
    def test_nesting_beyond_the_limit(self, folder: Path, depth: int) -> None:
        line = b'{"meta": ' + b"[" * depth + b"]" * depth + b"}"
        assert "expected at most 32 levels of nesting" in one(folder, line)

    def test_nesting_at_the_limit(self, folder: Path) -> None:
        inner = b"[" * (MAX_DEPTH - 2) + b"]" * (MAX_DEPTH - 2)
        line = json.dumps(GOOD).encode()[:-1] + b', "meta": {"x": ' + inner + b"}}"
        assert load(write(folder, line), suites=SUITES)


class TestRefusedField:
    def test_all_problems_at_once_in_the_order_of_the_lines(self, folder: Path) -> None:
        path = write(folder, {**GOOD, "video": "none.mp4"}, GOOD, b"nonsense", {"suite": "cor", "vidoe": "clip.mp4"})
        assert [message.split(": ")[:2] for message in problems(path)] == [
            ["m.jsonl:1", "video"],
            ["m.jsonl:2", "id"],
            ["m.jsonl:3", "(line)"],
            ["m.jsonl:4", "id"],
            ["m.jsonl:4", "video"],
            ["m.jsonl:4", "vidoe"],
            ["m.jsonl:4", "suite"],
        ]

    def test_id_used_twice_names_both_lines(self, folder: Path) -> None:
        assert one(folder, GOOD, b"", GOOD) == (
            'm.jsonl:3: id: expected an id that no other case has, found "a" again, first used on line 1; '
            "rename one of the two"
        )

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"vidoe": "x"}, 'vidoe: expected a known key, found "vidoe"; did you mean "video"?'),
            ({"qqq": 1}, 'qqq: expected a known key, found "qqq"; known are category, checklist, data, id,'),
            ({"suite": "bord"}, 'suite: expected a known suite, found "bord"; did you mean "board"?'),
            ({"suite": "qqq"}, 'suite: expected a known suite, found "qqq"; known are board, core'),
            ({"id": 9001}, "id: expected text, found the number 9001"),
            ({"id": ""}, 'id: expected at least 1 character, found ""'),
            ({"id": "x" * 201}, "id: expected at most 200 characters"),
            ({"id": "a\x1b[31m"}, 'id: expected text without control characters, found "a\\u001b[31m"'),
            ({"system": "a\nb"}, "system: expected text without control characters"),
            ({"prompt": None}, "prompt: expected text, found null"),
            ({"labels": [1]}, "labels: expected an object, found a list"),
            ({"shots": {}}, "shots: expected a list, found an object"),
            ({"checklist": 4}, "checklist: expected a path or a list of questions, found the number 4"),
            ({"references": [{"kind": "movie", "path": "clip.mp4"}]}, "references[0].kind: expected 'image', 'video'"),
            (
                {"references": [{"kind": "image"}]},
                'references[0].path: expected a value, found nothing; add the key "path"',
            ),
            ({"references": ["x"]}, "references[0]: expected"),
            (
                {"references": [{"kind": "image", "path": "clip.mp4", "rolle": ""}]},
                'references[0].rolle: expected a known key, found "rolle"; did you mean "role"?',
            ),
            ({"data": {"board": "B1"}}, 'data: expected no data: this suite takes none, found the key "board"'),
            ({"data": 1}, "data: expected an object, found the number 1"),
            ({"suite": "board"}, 'data.board: expected a value, found nothing; add the key "board"'),
            ({"suite": "board", "data": {"board": "B7"}}, "data.board: expected 'B1' or 'B2', found \"B7\""),
            (
                {"suite": "board", "data": {"board": "B1", "slotts": 2}},
                'data.slotts: expected a known key, found "slotts"; did you mean "slots"?',
            ),
            (
                {"suite": "board", "data": {"board": "B1", "slots": 4}},
                "data.slots: expected at most three slots, found the number 4",
            ),
        ],
    )
    def test_wrong_value(self, folder: Path, change: dict[str, Any], message: str) -> None:
        assert one(folder, {**GOOD, **change}).startswith(f"m.jsonl:1: {message}")

    def test_key_with_control_characters_is_escaped(self, folder: Path) -> None:
        assert '"\\u001b[2J": expected a known key' in one(folder, {**GOOD, "\x1b[2J": 1})

    def test_long_values_are_cut(self, folder: Path) -> None:
        found = one(folder, {**GOOD, "suite": "x" * 100_000})
        assert len(found) < 300
        assert "... (100002 characters)" in found


class TestRefusedPath:
    @pytest.mark.parametrize(
        "name", ["../outside.mp4", "sub/../../outside.mp4", "link.mp4", "dir/outside.mp4", "/dev/null"]
    )
    def test_out_of_the_root(self, folder: Path, name: str) -> None:
        (folder / "link.mp4").symlink_to("../outside.mp4")
        (folder / "dir").symlink_to("..")
        assert one(folder, {**GOOD, "video": name}).startswith(
            f"m.jsonl:1: video: expected a file below {folder}, found {name}, which leads outside; move the file"
        )

    def test_sibling_folder_with_the_root_as_prefix(self, folder: Path) -> None:
        sibling = folder.with_name(folder.name + "2")
        sibling.mkdir()
        (sibling / "clip.mp4").touch()
        assert "which leads outside" in one(folder, {**GOOD, "video": f"../{sibling.name}/clip.mp4"})

    def test_missing_file(self, folder: Path) -> None:
        assert one(folder, {**GOOD, "source": "none.mp4"}) == (
            f"m.jsonl:1: source: expected an existing file, found none.mp4 (No such file or directory) below {folder}; "
            "correct the path, or give its folder with --media-root"
        )

    def test_loop_of_links(self, folder: Path) -> None:
        (folder / "loop").symlink_to("loop")
        assert "video: expected an existing file, found loop (Too many levels" in one(folder, {**GOOD, "video": "loop"})

    def test_folder_instead_of_a_file(self, folder: Path) -> None:
        found = one(folder, {**GOOD, "checklist": "sub"})
        assert found == "m.jsonl:1: checklist: expected a regular file, found a folder at sub; name a file"

    def test_named_pipe(self, folder: Path) -> None:
        os.mkfifo(folder / "pipe")
        found = one(folder, {**GOOD, "references": [{"kind": "audio", "path": "pipe"}]})
        assert "references[0].path: expected a regular file, found a named pipe at pipe" in found

    def test_device(self) -> None:
        path = Path("/dev/null")
        assert "found a device at null" in located_message("null", path.parent)

    def test_empty_path_is_not_the_root(self, folder: Path) -> None:
        assert one(folder, {**GOOD, "source": ""}) == 'm.jsonl:1: source: expected at least 1 character, found ""'

    def test_nul_and_over_long_paths_reach_no_system_call(self, folder: Path) -> None:
        assert "control characters" in one(folder, {**GOOD, "source": "a\0b"})
        assert "at most 4096 characters" in one(folder, {**GOOD, "source": "a/" * 3000})
        assert "(File name too long)" in one(folder, {**GOOD, "source": "a" * 3000})


def located_message(text: str, root: Path) -> str:
    """What is said of one path, without a manifest around it."""
    from evaluator.manifest.places import located
    from evaluator.manifest.problems import Problem

    problem = located(text, root, 1, "video")
    assert isinstance(problem, Problem)
    return problem.shown("m")


KEYS = st.sampled_from([*GOOD, "source", "references", "checklist", "data", "meta", "kind", "path", "board", "é"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["clip.mp4", "core", "board", ".."]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(), inner, max_size=4),
    max_leaves=8,
)
LINES = VALUES.map(lambda value: json.dumps(value).encode()) | st.dictionaries(KEYS, VALUES, max_size=5).map(
    lambda change: json.dumps({**GOOD, **change}).encode()
)
FILES = st.lists(st.binary(max_size=40) | LINES, max_size=4).map(b"\n".join)


@settings(max_examples=300, deadline=None)
@given(data=FILES)
def test_any_bytes_load_or_raise_a_manifest_error(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    folder.mkdir(exist_ok=True)
    (folder / "clip.mp4").touch()
    (folder / "m.jsonl").write_bytes(data)
    try:
        cases = load(folder / "m.jsonl", suites=SUITES)
    except ManifestError as error:
        refused = error.problems
        cases = ()
    else:
        refused = []
    assert bool(refused) != bool(cases)
    assert all(message.isprintable() for message in refused)
    assert len({case.id for case in cases}) == len(cases)
    assert all(case.video == folder / "clip.mp4" for case in cases)
