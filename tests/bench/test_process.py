"""Costs of child processes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from evaluator.bench.process import run, until
from evaluator.errors import EvaluatorError

BUSY = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_cpu_time_is_work_and_not_waiting() -> None:
    assert run(python(BUSY.format(0.3))).cpu == pytest.approx(0.35, abs=0.2)
    idle = run(python("import time; time.sleep(0.4)"))
    assert idle.cpu < 0.3 < idle.wall


def test_peak_memory_and_words_are_seen() -> None:
    found = run(python("import sys; x = b'1' * 300_000_000; print('out'); print('err', file=sys.stderr)"))
    assert 300e6 < found.rss < 400e6
    assert (found.output, found.errors) == (b"out\n", b"err\n")


def test_the_memory_of_whoever_measures_is_not_counted() -> None:
    ballast = np.ones(100_000_000)  # 800 MB, really there
    assert run(python("pass")).rss < 100e6
    assert ballast[-1] == 1


def test_a_failure_is_told_with_its_last_words() -> None:
    with pytest.raises(EvaluatorError, match=r"exit 7: .*oh no"):
        run(python("import sys; print('oh no', file=sys.stderr); sys.exit(7)"))


def test_the_clock_stops_when_something_has_happened(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    used = until(python(f"{BUSY.format(0.2)}open({str(seen)!r}, 'w').close()\n{BUSY.format(1.0)}"), seen.exists)
    assert 0.15 < used < 0.7


def test_nothing_seen_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError, match="before anything was seen"):
        until(python("pass"), (tmp_path / "never").exists)
