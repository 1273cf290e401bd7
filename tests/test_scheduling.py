"""Nothing that the project does makes its process a real-time one: one library does, when it is asked to encode."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evaluator.doctor import codecs
from tests.media import oddfiles


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="scheduling classes are told on Linux only")
def test_the_process_stays_an_ordinary_one(tmp_path: Path) -> None:
    list(codecs.findings(tmp_path))
    [clip] = [clip for clip in oddfiles.CLIPS if clip.codec == oddfiles.REAL_TIME]
    oddfiles._elsewhere(clip, tmp_path)
    assert (tmp_path / clip.name).stat().st_size > 0
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
