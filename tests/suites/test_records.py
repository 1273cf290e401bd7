"""Records of a benchmark: what is read, and the words for what is not one."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.errors import UsageError
from evaluator.suites.records import existing, records, said


def test_records_come_with_their_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n{"b": 2}\n')
    assert list(records(path)) == [(1, {"a": 1}), (3, {"b": 2})]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"a": 1', "column"),
        (b"[1]", "one JSON object"),
        (b'{"a": NaN}', "finite numbers"),
        (b'{"a": 1, "a": 2}', "each key once"),
        (b'{"a": "\xff"}', "UTF-8"),
    ],
)
def test_what_two_readers_could_take_differently_is_refused_with_its_line(
    tmp_path: Path, line: bytes, words: str
) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b'{"a": 1}\n' + line)
    with pytest.raises(UsageError, match=r"records\.jsonl:2: .*" + words):
        list(records(path))


def test_a_missing_file_says_how_to_name_another(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--set records=FILE"):
        list(records(tmp_path / "none.jsonl"))


def test_a_place_must_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").touch()
    assert existing(tmp_path, "clip.mp4") == "clip.mp4"
    with pytest.raises(ValueError, match=r"gone\.mp4: expected a file, found none"):
        existing(tmp_path, "gone.mp4")
    assert said(KeyError("outputs")) == "outputs: expected a value, found nothing"


def test_a_place_outside_the_root_is_no_file_of_the_benchmark(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.mp4").touch()
    (tmp_path / "secret").touch()
    (root / "link.mp4").symlink_to(tmp_path / "secret")
    assert existing(root, "a.mp4") == "a.mp4"
    for place in ("/etc/passwd", "/etc/none", "../secret", "link.mp4", "."):
        with pytest.raises(ValueError, match="found none below"):
            existing(root, place)
