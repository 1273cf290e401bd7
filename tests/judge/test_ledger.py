"""The ledger survives kills and full disks, notices every change, and holds on to answers only.

The complaints of users of other evaluators' caches are tests here, in `test_keys` and in `test_session`.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import LedgerError, OutputError
from evaluator.judge.keys import blob_digests, blobs, keys, request
from evaluator.judge.ledger import Ledger, read_records
from evaluator.judge.record import START, Call, Opening, seal, unseal
from evaluator.judge.types import JudgeIdentity, Question, Raw, Status
from tests.judge.fakes import JUDGE, ask, ask_json, honest, picture, yes_no


def call(question: Question, raw: Raw | None = None, judge: JudgeIdentity = JUDGE, status: Status = Status.OK) -> Call:
    asked = request(question)
    return Call(
        "vision", judge, question.item, question.task, False, keys(asked, judge), asked, raw, status, "", 1, 5, "now"
    )  # fmt: skip


def answered(question: Question) -> Call:
    return call(question, honest(question))


def key(question: Question) -> str:
    return keys(request(question), JUDGE).key


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out" / "judge.jsonl"


def fill(path: Path, count: int) -> list[Question]:
    questions = [ask(f"Is it {index}?") for index in range(count)]
    with Ledger(path) as ledger:
        for question in questions:
            ledger.append(answered(question))
    return questions


# ------------------------------------------------------------------------------------------------------- records


@given(st.floats(allow_nan=False, max_value=0), st.text(), st.sampled_from(["stop", "length", "refusal"]))
def test_a_record_is_what_it_was(logprob: float, text: str, finish: str) -> None:
    raw = Raw(text, finish, {"Yes": logprob, "No": -1.5}, {"prompt_tokens": 3})
    record = replace(call(ask()), raw=raw, status=call(ask(), raw).answer.status)
    line, own = seal(record, 7, START)
    assert unseal(line, 7, START) == (record, own)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1


def test_the_hash_covers_all_bytes_before_it() -> None:
    line, own = seal(answered(ask()), 0, START)
    body, _, tail = line.rpartition(b',"self":"')
    assert hashlib.sha256(body + b"}").hexdigest() == own == tail[:64].decode()
    assert orjson.loads(line)["self"] == own


def test_numbers_that_json_lacks_are_spelled_out_and_read_back() -> None:
    for value in (math.nan, math.inf, -math.inf):
        record = replace(call(ask(), yes_no(0.5)), raw=Raw("Yes", "stop", {"Yes": value, "No": -1.0}))
        back, _ = unseal(seal(record, 0, START)[0], 0, START)
        assert isinstance(back, Call)
        assert back.raw is not None
        assert repr(back.raw.label_logprobs["Yes"]) == repr(value)


def test_half_a_surrogate_pair_does_not_stop_the_run() -> None:
    record = replace(call(ask_json(), status=Status.UNPARSED), raw=Raw('"\ud83d', "stop"), message="\ud83d")
    assert b"ud83d" in seal(record, 0, START)[0]


# ------------------------------------------------------------------------------------------------ finding answers


def test_answers_are_found_again_after_reopening(path: Path) -> None:
    questions = fill(path, 20)
    with Ledger(path, writable=False) as ledger:
        for question in questions:
            found = ledger.find(key(question))
            assert found is not None
            assert found.answer == answered(question).answer
        assert ledger.find(key(ask("never asked"))) is None


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.OK])
def test_a_failure_is_written_but_never_found(path: Path, status: Status) -> None:
    with Ledger(path) as ledger:
        ledger.append(call(ask(), status=status))
    with Ledger(path) as ledger:
        assert ledger.find(key(ask())) is None
        assert ledger.failure(key(ask())) is status
        ledger.append(answered(ask()))
        assert ledger.find(key(ask())) is not None
        ledger.append(call(ask(), status=status))
        assert ledger.find(key(ask())) is not None, "a later failure takes no answer away"
        assert ledger.failure(key(ask())) is None


def test_an_answer_that_todays_rules_cannot_read_is_not_found(path: Path) -> None:
    """Whoever wrote `ok` beside a bad reply (an older version, a bug): it is asked again, not kept for good."""
    with Ledger(path) as ledger:
        ledger.append(call(ask(), Raw("Perhaps", "stop", {"Yes": -1.0, "No": -1.0})))
        assert ledger.find(key(ask())) is None


def test_the_last_answer_wins(path: Path) -> None:
    with Ledger(path) as ledger:
        ledger.append(call(ask(), yes_no(0.9)))
        ledger.append(call(ask(), yes_no(0.2)))
        found = ledger.find(key(ask()))
    assert found is not None
    assert found.answer.label == "No"


def test_the_judges_of_the_last_run_are_known(path: Path) -> None:
    other = replace(JUDGE, engine="fake 2")
    with Ledger(path) as ledger:
        ledger.append(Opening({"vision": JUDGE}, "now"))
        ledger.append(Opening({"omni": other, "vision": JUDGE}, "now"))
    with Ledger(path, writable=False) as ledger:
        assert list(ledger.judges.items()) == [("omni", other), ("vision", JUDGE)]


# --------------------------------------------------------------------------------------------------------- damage


def test_a_torn_last_line_is_cut_and_nothing_else_is_lost(path: Path) -> None:
    questions = fill(path, 3)
    whole = path.read_bytes()
    for cut in range(1, 400, 7):
        path.write_bytes(whole[:-cut])
        with Ledger(path) as ledger:
            assert ledger.count == 2
            assert ledger.find(key(questions[1]))
            assert ledger.find(key(questions[2])) is None
            ledger.append(answered(questions[2]))
        assert path.read_bytes() == whole


def test_reading_does_not_cut(path: Path) -> None:
    fill(path, 2)
    torn = path.read_bytes()[:-10]
    path.write_bytes(torn)
    with Ledger(path, writable=False) as ledger:
        assert ledger.count == 1
    assert path.read_bytes() == torn


def change_answer(lines: list[bytes]) -> list[bytes]:
    return [lines[0].replace(b'"text":"Yes"', b'"text":"No!"').replace(b'"text":"No"', b'"text":"Yes"'), *lines[1:]]


def reseal_one(lines: list[bytes]) -> list[bytes]:
    """Change an answer and give its line a fitting hash: the next line still names the old one."""
    tree = orjson.loads(change_answer(lines)[0])
    body = orjson.dumps({name: value for name, value in tree.items() if name != "self"})
    own = hashlib.sha256(body).hexdigest().encode()
    return [body[:-1] + b',"self":"' + own + b'"}\n', *lines[1:]]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (change_answer, 1),
        (reseal_one, 2),
        (lambda lines: lines[1:], 1),
        (lambda lines: [lines[0], *lines[2:]], 2),
        (lambda lines: [lines[0], lines[0], *lines[1:]], 2),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1),
        (lambda lines: [*lines[:2], b"\n", *lines[2:]], 3),
        (lambda lines: [*lines[:2], b"[]\n", *lines[2:]], 3),
        (lambda lines: [*lines[:2], lines[2][:50] + b"\n"], 3),
    ],
    ids=["answer", "answer and hash", "first gone", "middle gone", "twice", "swapped", "empty", "not ours", "short"],
)
def test_any_other_damage_is_an_error_that_names_the_line(
    path: Path, change: Callable[[list[bytes]], list[bytes]], where: int
) -> None:
    fill(path, 3)
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    for writable in (True, False):
        with pytest.raises(LedgerError, match=rf"judge\.jsonl:{where}:"):
            Ledger(path, writable=writable)
    with pytest.raises(LedgerError):
        list(read_records(path))


def test_a_file_of_another_version_is_refused(path: Path) -> None:
    fill(path, 1)
    tree = orjson.loads(path.read_bytes())
    body = orjson.dumps({**{name: value for name, value in tree.items() if name != "self"}, "ledger": 2})
    path.write_bytes(body[:-1] + b',"self":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n')
    with pytest.raises(LedgerError, match="version 2"):
        Ledger(path)


def test_an_absent_or_unreadable_file_is_a_clear_error(path: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger(path, writable=False)
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger(tmp_path, writable=True)


def test_two_runs_cannot_write_one_ledger(path: Path) -> None:
    with Ledger(path), pytest.raises(OutputError, match="another run"):
        Ledger(path)
    Ledger(path).close()


def test_a_ledger_for_reading_takes_nothing(path: Path) -> None:
    fill(path, 1)
    with Ledger(path, writable=False) as ledger, pytest.raises(OutputError):
        ledger.append(answered(ask()))


def test_a_full_disk_leaves_a_whole_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = fill(path, 2)
    whole, write = path.read_bytes(), os.write
    written: list[int] = []

    def full(descriptor: int, data: Any) -> int:
        if written:
            raise OSError(28, "No space left on device")
        written.append(write(descriptor, bytes(data)[:100]))
        return written[0]

    with Ledger(path) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(OutputError, match="No space left"):
                ledger.append(answered(ask("one more")))
        assert path.read_bytes() == whole
        ledger.append(answered(ask("one more")))
    with Ledger(path) as ledger:
        assert ledger.count == 3
        assert ledger.find(key(questions[0]))


def test_a_record_is_synced_before_the_answer_is_used(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (real(file), synced.append(path.stat().st_size)))
    with Ledger(path) as ledger:
        for index in range(3):
            ledger.append(answered(ask(str(index))))
            assert synced[-1] == path.stat().st_size


def test_many_threads_make_one_chain(path: Path) -> None:
    with Ledger(path) as ledger:
        threads = [
            threading.Thread(target=lambda at=at: [ledger.append(answered(ask(f"{at} {n}"))) for n in range(25)])
            for at in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        head = ledger.head
    with Ledger(path) as ledger:
        assert (ledger.count, ledger.head) == (100, head)
        assert all(ledger.find(key(ask(f"{at} {n}"))) for at in range(4) for n in range(25))


# ---------------------------------------------------------------------------------------------------------- media


def media(question: Question) -> list[tuple[str, bytes]]:
    digests = [digest for digest, _ in blob_digests(request(question))]
    return list(zip(digests, blobs(question), strict=True))


def test_media_are_kept_once_by_their_content(path: Path) -> None:
    one, two = ask("1", evidence=(picture(b"a"),)), ask("2", evidence=(picture(b"a"), picture(b"b")))
    with Ledger(path) as ledger:
        for question in (one, two):
            ledger.append(answered(question), media(question))
        kept = sorted(file.read_bytes() for file in path.parent.rglob("media/*/*"))
        assert kept == [b"a", b"b"]
        digest = hashlib.sha256(b"a").hexdigest()
        assert ledger.blobs.get(digest) == b"a"
        ledger.blobs.path(digest).write_bytes(b"x")
        with pytest.raises(LedgerError, match="was changed"):
            ledger.blobs.get(digest)
        with pytest.raises(LedgerError, match="not there"):
            ledger.blobs.get("00" * 32)


def test_media_need_not_be_kept(path: Path) -> None:
    question = ask(evidence=(picture(),))
    with Ledger(path, keep_media=False) as ledger:
        ledger.append(answered(question), media(question))
    assert not (path.parent / "media").exists()
