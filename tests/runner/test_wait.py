"""An interrupt waits for what is in flight: the run's files are closed after the last worker, not beside it."""

from __future__ import annotations

import signal
import threading

import pytest

from evaluator.runner.engine import Engine


def test_workers_are_waited_for_after_an_interrupt() -> None:
    """CPython 3.11 forgets a thread whose join was interrupted; the run would end while it still computes."""
    engine = Engine.__new__(Engine)
    engine._stop = threading.Event()
    end = threading.Event()
    finished_at: list[str] = []
    main = threading.get_ident()

    def worker() -> None:
        signal.pthread_kill(main, signal.SIGINT)  # to the thread that waits below
        if engine._stop.wait(10):
            finished_at.append("worker")
        end.set()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread = threading.Timer(0.1, worker)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            engine._wait([end])
        finished_at.append("run")
    finally:
        signal.signal(signal.SIGINT, before)
        thread.join()
    assert finished_at == ["worker", "run"]
