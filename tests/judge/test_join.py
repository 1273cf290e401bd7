"""Ledgers of shards become one that answers everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.errors import LedgerError
from evaluator.judge.audit import diff, verify
from evaluator.judge.join import join
from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession, Mode
from tests.judge.test_audit import QUESTIONS, judged


def test_a_joined_ledger_replays_what_its_parts_answered(tmp_path: Path) -> None:
    whole = judged(tmp_path / "whole" / "judge.jsonl")
    parts = [judged(tmp_path / str(at) / "judge.jsonl", questions=QUESTIONS[at::2]) for at in range(2)]
    joined = tmp_path / "joined" / "judge.jsonl"
    assert join(parts, joined) == 7
    audit = verify(joined)
    assert (audit.problem_count, audit.records, audit.statuses) == (0, 7, {"ok": 5})
    assert diff(whole, joined).equal == 5
    with Ledger(joined, writable=False) as ledger, JudgeSession({}, ledger, Mode.REPLAY) as session:
        assert [answer.status for answer in session.ask_all(QUESTIONS)] == ["ok"] * 5


def test_a_damaged_part_is_an_error(tmp_path: Path) -> None:
    part = judged(tmp_path / "1" / "judge.jsonl")
    part.write_bytes(part.read_bytes().replace(b'"Yes"', b'"Yea"', 1))
    with pytest.raises(LedgerError):
        join([part], tmp_path / "joined" / "judge.jsonl")
