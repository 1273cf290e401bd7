"""`evaluator distill export|agree` from the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.cli import command
from evaluator.errors import EXIT_OK, EXIT_USAGE
from tests.judge.fakes import JUDGE
from tests.judge.test_distill import STUDENT, flipped, judged


@pytest.fixture
def teacher(tmp_path: Path) -> Path:
    return judged(tmp_path / "teacher" / "judge.jsonl", judge=replace(JUDGE, trained=False))


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        command([str(argument) for argument in arguments])
    assert isinstance(end.value.code, int)
    return end.value.code


def test_export_and_agree_tell_people_what_matters(
    teacher: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows"
    assert run("distill", "export", teacher, "--out", rows) == EXIT_OK
    told = capsys.readouterr()
    assert told.out == ""
    assert f"{rows / 'held_out.jsonl'}: " in told.err
    assert "yes_no: " in told.err
    assert "wiring fixture" in told.err
    student = judged(tmp_path / "student" / "judge.jsonl", flipped(4), STUDENT)
    assert run("distill", "agree", teacher, student, "--rows", rows / "held_out.jsonl") == EXIT_OK
    told = capsys.readouterr()
    assert "kappa" in told.err
    assert "teacher Yes, student No: " in told.err


def test_machines_get_json(teacher: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("distill", "export", teacher, "--out", tmp_path / "rows", "--held-out", "0.5", "--json")
    exported = json.loads(capsys.readouterr().out)
    assert sum(exported["rows"].values()) == 80
    run("distill", "agree", teacher, teacher, "--json")
    (task,) = json.loads(capsys.readouterr().out)
    assert (task["task"], task["n"], task["kappa"]) == ("yes_no", 80, 1.0)


def test_what_cannot_be_done_is_a_usage_error(
    teacher: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("distill", "export", teacher, "--out", tmp_path / "rows", "--held-out", "0") == EXIT_USAGE
    assert "no rows for held_out" in capsys.readouterr().err
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(teacher.read_bytes()[100:])
    assert run("distill", "agree", teacher, broken) == EXIT_USAGE
    assert f"{broken}:1:" in capsys.readouterr().err
