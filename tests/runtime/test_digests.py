"""The memory of digests: when it is believed, and that nothing in it can do harm."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest

from evaluator.errors import PrerequisiteError
from evaluator.runtime import digests
from evaluator.runtime.digests import DigestCache, cache_folder, sha256_file
from tests.runtime.build import sha


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights.bin"
    path.write_bytes(b"one")
    return path


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "digests.json"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every file that is really hashed."""
    seen: list[Path] = []
    real = digests._hash
    monkeypatch.setattr(digests, "_hash", lambda path: (seen.append(path), real(path))[1])
    return seen


def test_a_file_is_hashed_once(weights: Path, memory: Path, reads: list[Path]) -> None:
    cache = DigestCache(memory)
    assert cache.sha256(weights) == cache.sha256(weights) == sha(b"one") == sha256_file(weights)
    assert reads.count(weights) == 2  # once by the cache, once by sha256_file


def test_another_process_need_not_hash_it(weights: Path, memory: Path, reads: list[Path]) -> None:
    DigestCache(memory).sha256(weights)
    assert DigestCache(memory).sha256(weights) == sha(b"one")
    assert len(reads) == 1


def test_fresh_reads_again(weights: Path, memory: Path, reads: list[Path]) -> None:
    cache = DigestCache(memory)
    cache.sha256(weights)
    cache.sha256(weights, fresh=True)
    assert len(reads) == 2


def test_a_changed_file_is_hashed_again_even_with_its_old_size_and_time(weights: Path, memory: Path) -> None:
    before = weights.stat()
    cache = DigestCache(memory)
    cache.sha256(weights)
    weights.write_bytes(b"two")
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert weights.stat().st_mtime_ns == before.st_mtime_ns
    assert cache.sha256(weights) == sha(b"two")


def test_a_replaced_file_is_hashed_again(weights: Path, memory: Path, tmp_path: Path) -> None:
    cache = DigestCache(memory)
    cache.sha256(weights)
    other = tmp_path / "other"
    other.write_bytes(b"two")
    os.utime(other, ns=(weights.stat().st_atime_ns, weights.stat().st_mtime_ns))
    other.replace(weights)
    assert cache.sha256(weights) == sha(b"two")


BROKEN = [b"", b"{", b"[]", b'"x"', b'{"a": 1}', b'{"a": [[1, 2], "b"]}', b'{"a": [["x", 2, 3, 4], "b"]}', b"\xff\xfe"]


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_memory_is_ignored_and_replaced(weights: Path, memory: Path, content: bytes) -> None:
    memory.parent.mkdir()
    memory.write_bytes(content)
    assert DigestCache(memory).sha256(weights) == sha(b"one")
    assert list(orjson.loads(memory.read_bytes())) == [str(weights.resolve())]


def test_a_memory_that_cannot_be_written_only_costs_time(weights: Path, tmp_path: Path, reads: list[Path]) -> None:
    (tmp_path / "taken").write_bytes(b"a file where a folder should be")
    cache = DigestCache(tmp_path / "taken" / "digests.json")
    assert cache.sha256(weights) == cache.sha256(weights) == sha(b"one")
    assert len(reads) == 1


def test_two_processes_keep_what_the_other_wrote(tmp_path: Path, memory: Path) -> None:
    names = [tmp_path / name for name in "ab"]
    for path in names:
        path.write_bytes(path.name.encode())
    caches = [DigestCache(memory), DigestCache(memory)]
    for cache, path in zip(caches, names, strict=True):
        cache.sha256(path)
    assert set(orjson.loads(memory.read_bytes())) == {str(path.resolve()) for path in names}


def test_many_threads_leave_a_whole_memory(tmp_path: Path, memory: Path) -> None:
    paths = [tmp_path / f"{number}.bin" for number in range(40)]
    for path in paths:
        path.write_bytes(path.name.encode())
    cache = DigestCache(memory)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(cache.sha256, paths))
    assert found == [sha(path.name.encode()) for path in paths]
    assert len(orjson.loads(memory.read_bytes())) == 40
    assert [path.name for path in memory.parent.iterdir()] == [memory.name]


def test_a_file_that_changes_while_it_is_read_is_not_remembered(
    weights: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamps = iter([(1, 2, 3, 4), (1, 2, 9, 4)])
    monkeypatch.setattr(digests, "_of", lambda stat: next(stamps))
    assert DigestCache(memory).sha256(weights) == sha(b"one")
    assert not memory.exists()


def test_an_absent_file_is_named(tmp_path: Path, memory: Path) -> None:
    with pytest.raises(PrerequisiteError, match=r"none\.bin.*No such file"):
        DigestCache(memory).sha256(tmp_path / "none.bin")


def test_where_the_memory_lies() -> None:
    assert cache_folder({"EVALUATOR_CACHE": "/e", "XDG_CACHE_HOME": "/x", "HOME": "/h"}) == Path("/e")
    assert cache_folder({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == Path("/x/evaluator")
    assert cache_folder({"HOME": "/h"}) == Path("/h/.cache/evaluator")


def test_many_files_are_remembered_with_one_write(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{number}.bin" for number in range(20)]
    for path in paths:
        path.write_text(path.name)
    written: list[Path] = []
    real = digests._replace
    monkeypatch.setattr(digests, "_replace", lambda file, content: (written.append(file), real(file, content))[1])
    cache = DigestCache(memory)
    with cache.together():
        found = [cache.sha256(path) for path in paths]
    assert written == [memory]
    assert [DigestCache(memory).sha256(path) for path in paths] == found == [sha256_file(path) for path in paths]
    assert written == [memory]  # all were known


def remembered(memory: Path) -> list[str]:
    """Names of the files in the memory, in its order."""
    return [Path(path).name for path in orjson.loads(memory.read_bytes())]


def files(folder: Path, names: str) -> list[Path]:
    """One file per letter."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(name)
    return [folder / name for name in names]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    """A memory of four files."""
    monkeypatch.setattr(digests, "LIMIT", 4)
    return 4


def test_what_was_not_asked_for_the_longest_is_forgotten(tmp_path: Path, memory: Path, small: int) -> None:
    a, b, c, d, e = files(tmp_path / "clips", "abcde")
    for path in (a, b, c, d):
        DigestCache(memory).sha256(path)  # a process each
    later = DigestCache(memory)
    later.sha256(a)
    later.sha256(e)
    assert remembered(memory) == ["c", "d", "a", "e"]


def test_a_file_that_is_gone_is_forgotten_before_one_that_is_there(tmp_path: Path, memory: Path, small: int) -> None:
    a, b, c, d, e = files(tmp_path / "clips", "abcde")
    for path in (a, b, c, d):
        DigestCache(memory).sha256(path)
    d.unlink()
    DigestCache(memory).sha256(e)
    assert remembered(memory) == ["a", "b", "c", "e"]


def test_below_the_limit_a_file_that_is_gone_is_kept(tmp_path: Path, memory: Path, small: int) -> None:
    """It may lie on a disk that is mounted again tomorrow, and looking for every file on every write takes time."""
    a, b = files(tmp_path / "clips", "ab")
    DigestCache(memory).sha256(a)
    a.unlink()
    DigestCache(memory).sha256(b)
    assert remembered(memory) == ["a", "b"]


def test_a_run_over_more_files_than_the_limit_keeps_its_own(
    tmp_path: Path, memory: Path, small: int, reads: list[Path]
) -> None:
    (other,), own = files(tmp_path / "others", "x"), files(tmp_path / "clips", "abcdef")
    DigestCache(memory).sha256(other)
    for _ in range(2):  # the second time nothing is read again
        cache = DigestCache(memory)
        with cache.together():
            assert [cache.sha256(path) for path in own] == [sha(path.name.encode()) for path in own]
    assert remembered(memory) == list("abcdef")
    assert reads == [other, *own]


def test_a_process_does_not_bring_back_what_another_one_forgot(tmp_path: Path, memory: Path, small: int) -> None:
    a, b, c, d, e, f = files(tmp_path / "clips", "abcdef")
    for path in (a, b, c, d):
        DigestCache(memory).sha256(path)
    old = DigestCache(memory)  # has read all four
    DigestCache(memory).sha256(e)  # forgets a
    old.sha256(f)
    assert remembered(memory) == ["c", "d", "e", "f"]


@pytest.mark.parametrize("path", ["", "\\udcff", "a\u0000b", "relative", "/" + "x" * 5000])
def test_a_foreign_path_in_the_memory_is_only_forgotten(
    weights: Path, tmp_path: Path, memory: Path, small: int, path: str
) -> None:
    memory.parent.mkdir()
    clips = files(tmp_path / "clips", "abcd")
    entries = {name: [[1, 2, 3, 4], "0" * 64] for name in (path, *map(str, clips))}
    memory.write_bytes(orjson.dumps(entries))
    DigestCache(memory).sha256(weights)
    assert remembered(memory) == ["b", "c", "d", weights.name]


def test_processes_that_write_at_once_leave_a_whole_memory_within_its_limit(tmp_path: Path, memory: Path) -> None:
    clips = files(tmp_path / "clips", "abcdefghijkl")
    program = (
        "import sys; from pathlib import Path; from evaluator.runtime import digests; digests.LIMIT = 4;"
        "cache = digests.DigestCache(Path(sys.argv[1])); [cache.sha256(Path(name)) for name in sys.argv[2:]]"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(memory), *map(str, clips[first : first + 4])])
        for first in (0, 4, 8)
    ]
    assert [one.wait(60) for one in started] == [0, 0, 0]
    assert 1 <= len(remembered(memory)) <= 4
    assert [path.name for path in memory.parent.iterdir()] == [memory.name]
