"""Known pitfalls of the reference (spec 10), objective half: our behaviour, and compat where it repeats the fault.

Pitfalls with a test elsewhere: 1 (test_routing), 4 and 19 (test_objective), 8 (tests/experts/test_amt_g.py), 13 to 15
(test_layout, tests/runner), 18 and 21 (no shell, no network: tests/system), 24 (tests/media). The aesthetic
head is in tests/export/test_fold.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.experts.features import SyncOffset
from evaluator.experts.rife import difference
from evaluator.experts.synchformer import EXPERT as SYNCHFORMER
from evaluator.experts.synchformer import FILE, GRID, VIEWS
from evaluator.experts.videoclip_xl import EXPERT as VIDEOCLIP
from evaluator.media.sampling import select
from evaluator.media.types import Audio, ClipInfo, Frames
from evaluator.runtime.lock import read_lock
from evaluator.runtime.store import LOCK_FILE
from evaluator.schema import ExpertNeed
from evaluator.suites.ave_compass import SUITE
from tests.experts.fakes import FakeSession, FakeSource
from tests.metrics.build import silent, sound, tone

COMPAT = SUITE.variants["compat"]


def faint() -> Audio:
    """Noise of 0.4 of the last bit, rounded: RMS below one unit and not zero."""
    values = np.random.default_rng(0).normal(0.0, 0.4, 32_000)
    return Audio(np.round(values).astype(np.int16), 16_000, True)


def test_2_removing_the_track_is_no_better_than_silencing_it() -> None:
    offset = SyncOffset(np.eye(21, dtype=np.float32)[10], GRID, False)
    rated = SUITE.metric("av_sync").compute
    assert (
        rated(offset=offset, sound=silent(2.0)).value == rated(offset=None, sound=silent(2.0, present=False)).value == 0
    )


def test_3_faint_noise_and_digital_silence_are_both_silence() -> None:
    ours = SUITE.metric("audio_similarity").compute(output=faint(), source=silent(2.0))
    theirs = COMPAT["audio_similarity"].compute(output=faint(), source=silent(2.0))
    assert (ours.value, ours.details["method"]) == (1.0, "both_silent")
    assert theirs.value == 0.0


def test_3_compat_still_calls_digital_silence_silence() -> None:
    assert COMPAT["audio_similarity"].compute(output=silent(1.0), source=silent(1.0)).value == 1.0


def test_4_what_the_score_does_not_see_stands_beside_it() -> None:
    loud = tone(2.0, amplitude=0.5)
    quiet = sound(0.1 * loud.samples / 32767)
    found = SUITE.metric("audio_similarity").compute(output=quiet, source=loud)
    assert found.value == pytest.approx(1.0, abs=1e-3)
    assert found.details["gain_db"] == pytest.approx(-20, abs=0.1)


def test_6_a_padded_clip_says_so_and_strict_looks_at_the_end() -> None:
    times = np.arange(250) / 25
    assert select(VIEWS["first"].sampling, times)[-1] == 124
    assert select(VIEWS["last"].sampling, times).tolist() == list(range(125, 250))
    logits = np.zeros((1, 21), np.float32)
    session = FakeSession(lambda feeds: {"logits": logits}, inputs={"video": ((1,), "tensor(float)")})
    frames = Frames(np.zeros((50, 224, 224, 3), np.uint8), np.arange(50), np.arange(50) / 25, ClipInfo("x", None, None))
    found = SYNCHFORMER(FakeSource({FILE: session})).run(
        ExpertNeed("av_sync"), {"frames": frames, "audio": tone(2.0)}
    )  # fmt: skip
    assert found.padded


def test_6_windows_are_first_or_last() -> None:
    with pytest.raises(ValueError, match="window"):
        SYNCHFORMER(FakeSource({})).needs(ExpertNeed("av_sync", options=(("window", "middle"),)))


def test_7_one_file_and_no_fallback_for_videoclip() -> None:
    """Its absence is told, and what stands in says for what."""
    lock = read_lock(LOCK_FILE)
    assert [entry.id for entry in lock.answering("video_embedding")] == [VIDEOCLIP.id]
    instead = SUITE.metric("videoclip_video_similarity").instead
    assert instead is not None
    assert instead.stands_in_for == {"image_embedding": "VideoCLIP-XL"}


def test_10_causes_keep_their_names() -> None:
    """A missing checkpoint, silence and sound elsewhere are three different records, not one null."""
    metric = SUITE.metric("av_sync")
    assert metric.optional == {"offset"}  # absent for a reason of the clip; a model that is not there never arrives
    assert metric.compute(offset=None, sound=silent(1.0)).details["silent"]


def test_interpolated_pictures_are_truncated_not_rounded() -> None:
    assert difference(np.full((3, 2, 2), 99.9 / 255, np.float32), np.full((2, 2, 3), 99, np.uint8)) == 0.0


def test_20_nothing_holds_a_whole_clip() -> None:
    """The two metrics that see every frame watch it pass."""
    from evaluator.experts.amt_g import AmtG
    from evaluator.experts.base import StreamingExpert
    from evaluator.experts.syncnet_lip import SyncnetLip

    assert issubclass(AmtG, StreamingExpert)
    assert issubclass(SyncnetLip, StreamingExpert)
