"""Workers that are killed as the kernel would, for tests: the case's id says over which case and how often."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence

from evaluator.runner.worker import Asked, Made, Told, Worker
from evaluator.runner.writer import Key
from evaluator.schema import Case


class Mortal(Worker):
    """`fatal` in a case's id kills whoever begins it; `once` kills after the first record of its group, one time."""

    def score(self, cases: Sequence[Case], asked: Mapping[Key, Asked]) -> Iterator[Made | Told]:
        if any("fatal" in case.id for case in cases):
            os.kill(os.getpid(), signal.SIGKILL)
        for item in super().score(cases, asked):
            yield item
            for case in cases:
                grave = case.video.with_suffix(".grave")
                if "once" in case.id and not grave.exists():
                    grave.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
