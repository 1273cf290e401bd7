"""`evaluator judge ...` as a person types it: what is said, what is written, which exit code."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.cli import command
from evaluator.judge import probes
from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession
from evaluator.judge.types import Modality
from tests.conftest import ROOT
from tests.judge.conftest import Connect
from tests.judge.fake_server import Behaviour, running
from tests.judge.test_launch import gone, worker

QUESTIONS = probes.mixed(4, frozenset({Modality.TEXT, Modality.IMAGE}))


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVALUATOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def evaluator(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "evaluator", "judge", *arguments]


def told(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout, stderr of a command run in this process."""
    with pytest.raises(SystemExit) as end:
        command(["judge", *map(str, arguments)])
    captured = capfd.readouterr()
    assert isinstance(end.value.code, int)
    return end.value.code, captured.out, captured.err


@pytest.fixture
def ledger(connect: Connect, tmp_path: Path) -> Path:
    return answered(connect, Behaviour(), tmp_path / "first")


def answered(connect: Connect, how: Behaviour, folder: Path) -> Path:
    with Ledger(folder / "judge.jsonl") as ledger, JudgeSession({"judge": connect(how)}, ledger) as session:
        session.ask_all(QUESTIONS)
    return folder / "judge.jsonl"


def test_a_whole_ledger_is_verified(ledger: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = told(capfd, "verify", ledger)
    assert (code, out) == (0, "")
    assert "4 ok" in err
    assert err.endswith("whole\n")
    code, out, _ = told(capfd, "verify", ledger, "--json")
    assert code == 0
    assert json.loads(out)["problem_count"] == 0


def test_a_changed_answer_gives_exit_code_2(ledger: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ledger.write_text(ledger.read_text().replace("Yes", "No", 1))
    code, _, err = told(capfd, "verify", ledger)
    assert code == 2
    assert "problems\n" in err


def test_show_writes_the_records_of_an_item(ledger: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = told(capfd, "show", ledger, "probe 2")
    (record,) = json.loads(out)
    assert code == 0
    assert record["item"] == "probe 2"
    assert told(capfd, "show", ledger, "nobody")[0] == 2


def test_diff_compares_two_ledgers(
    ledger: Path, connect: Connect, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert told(capfd, "diff", ledger, ledger)[0] == 0
    other = answered(connect, Behaviour(blind=True), tmp_path / "other")  # the same judge by name, other answers
    code, _, err = told(capfd, "diff", ledger, other)
    assert code == 3
    assert "P changes by up to" in err
    code, out, _ = told(capfd, "diff", ledger, other, "--json")
    assert code == 3
    assert len(json.loads(out)["changed"]) + json.loads(out)["equal"] == 4


def test_a_foreign_address_is_a_usage_error(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = told(capfd, "check", "--judge-url", "http://example.org")
    assert code == 2
    assert "is refused" in err


def test_an_unknown_modality_is_a_usage_error(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = told(capfd, "check", "--judge-url", "http://127.0.0.1:9", "--modalities", "smell")
    assert code == 2
    assert "text, image, video, audio" in err


def test_no_vllm_gives_exit_code_4(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = told(capfd, "serve", "--vllm", "no-such-program")
    assert code == 4
    assert "vLLM is needed" in err
    assert told(capfd, "check", "--vllm", "no-such-program")[0] == 4


def test_serve_says_when_it_is_ready_and_leaves_nothing_behind(vllm: Path, model: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = evaluator("serve", "--judge-model", str(model), "--vllm", str(vllm), "--log", str(log), "--json")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        ready = next(line for line in lines if line.startswith("ready: --judge-url http://127.0.0.1:"))
        url = ready.split()[2]
        checked = subprocess.run(evaluator("check", "--judge-url", url), capture_output=True, text=True, check=False)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 130
    assert checked.returncode == 0, checked.stderr
    assert "usable" in checked.stderr
    assert gone(worker(log))


def test_check_gives_4_for_a_server_that_ignores_constraints() -> None:
    with running(Behaviour(ignores_labels=True)) as url:
        done = subprocess.run(evaluator("check", "--judge-url", url), capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "FAILED  obeys label constraints" in done.stderr
    assert "not usable" in done.stderr


def test_the_command_line_is_printed_for_the_image() -> None:
    done = subprocess.run(
        evaluator("serve", "--print-command", "--port", "9000", "--", "--tensor-parallel-size", "2"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("env VLLM_BATCH_INVARIANT=1 ")
    assert " vllm serve /models/judge --host 127.0.0.1 --port 9000 " in done.stdout
    assert done.stdout.endswith("--tensor-parallel-size 2\n")
