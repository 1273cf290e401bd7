"""scores.jsonl survives kills, torn lines and second writers, and ends in the order of the plan."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import OutputError
from evaluator.runner.writer import Record, ScoreWriter, locked, read_records, read_scores, write_in_order
from evaluator.runtime.files import write_atomic
from evaluator.schema import Score, encode
from tests.test_schema import score

ONE, TWO, THREE = (score(case=name) for name in "abc")


def recorded(*scores: Score) -> list[Record]:
    return [Record.of(item) for item in scores]


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    with ScoreWriter(path) as writer:
        writer.append(recorded(ONE, TWO))
        writer.append(recorded(THREE))
    assert list(read_scores(path).values()) == [ONE, TWO, THREE]


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_a_torn_last_line_is_dropped_and_overwritten(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_bytes(encode(ONE) + encode(TWO)[:-cut])
    assert list(read_scores(path)) == [ONE.key]
    with ScoreWriter(path) as writer:
        writer.append(recorded(THREE))
    assert path.read_bytes() == encode(ONE) + encode(THREE)


def test_wherever_the_last_two_lines_are_cut_the_rest_is_written_as_if_nothing_had_happened(tmp_path: Path) -> None:
    path, whole = tmp_path / "scores.jsonl", encode(ONE) + encode(TWO) + encode(THREE)
    for size in range(len(encode(ONE)), len(whole) + 1):
        path.write_bytes(whole[:size])
        left = [one for one in (ONE, TWO, THREE) if one.key not in read_scores(path)]
        assert len(left) == 3 - whole[:size].count(b"\n")
        with ScoreWriter(path) as writer:
            writer.append(recorded(*left))
        assert path.read_bytes() == whole


@given(data=st.lists(st.binary(max_size=60) | st.sampled_from([encode(ONE), encode(TWO)[:-1], b"\0" * 40, b"\r"])))
def test_any_bytes_are_read_or_refused_with_their_line(
    tmp_path_factory: pytest.TempPathFactory, data: list[bytes]
) -> None:
    path = tmp_path_factory.getbasetemp() / "scores.jsonl"
    path.write_bytes(b"\n".join(data))
    try:
        found = read_records(path)
    except OutputError as error:
        number = int(re.search(r"scores\.jsonl:(\d+): .*--fresh", str(error), re.DOTALL)[1])  # type: ignore[index]
        before = path.read_bytes().split(b"\n")[: number - 1]
        path.write_bytes(b"".join(line + b"\n" for line in before))
        found = read_records(path)  # nothing above it was wrong
    assert set(found) <= {ONE.key, TWO.key}


def test_a_broken_line_in_the_middle_is_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_bytes(encode(ONE) + b"{broken\n" + encode(TWO))
    with pytest.raises(OutputError, match=r"scores\.jsonl:2: .*--fresh"):
        read_scores(path)


def test_the_last_record_of_a_key_wins(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    newer = score(case="a", value=0.75)
    path.write_bytes(encode(ONE) + encode(newer))
    assert read_scores(path) == {ONE.key: newer}


def test_a_record_that_was_read_has_the_line_it_was_read_from(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_bytes(encode(ONE) + encode(TWO))
    assert list(read_records(path).values()) == recorded(ONE, TWO)
    assert read_records(path)[ONE.key].labelled("other").line == encode(replace(ONE, system="other"))


def test_no_file_means_no_scores(tmp_path: Path) -> None:
    assert read_scores(tmp_path / "nothing") == {}


def test_the_final_file_is_in_the_order_of_the_plan(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    records = {item.key: Record.of(item) for item in (ONE, TWO)}
    write_in_order(path, [TWO.key, THREE.key, ONE.key], records)
    assert path.read_bytes() == encode(TWO) + encode(ONE)


def test_an_atomic_write_leaves_no_part_behind(tmp_path: Path) -> None:
    write_atomic(tmp_path / "f", b"1")
    write_atomic(tmp_path / "f", b"2")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_bytes() == b"2"


def test_a_second_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from evaluator.runner.writer import locked\nwith locked(pathlib.Path(sys.argv[1])): pass"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with locked(tmp_path):
        other = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "another run is writing there" in other.stderr
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="choose another --out"), locked(tmp_path / "file" / "out"):
        pass


def test_lines_of_one_case_are_written_together(tmp_path: Path) -> None:
    """A kill between two appends leaves whole cases: every append is one write."""
    path = tmp_path / "scores.jsonl"
    with ScoreWriter(path) as writer:
        before = os.stat(path).st_size
        writer.append(recorded(ONE, TWO))
        assert os.stat(path).st_size == before + len(encode(ONE) + encode(TWO))
