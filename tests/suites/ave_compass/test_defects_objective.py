"""Known pitfalls of the reference (spec 10), objective half: our behaviour, and compat where it repeats the fault.

`test_pitfalls` lists the tests of all pitfalls by number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluator.experts.features import Embeddings, SyncOffset, WindowEmbeddings
from evaluator.experts.rife import difference
from evaluator.experts.synchformer import EXPERT as SYNCHFORMER
from evaluator.experts.synchformer import FILE, GRID, VIEWS
from evaluator.experts.videoclip_xl import EXPERT as VIDEOCLIP
from evaluator.media.sampling import select
from evaluator.media.types import Audio, ClipInfo, Frames
from evaluator.runtime.lock import read_lock
from evaluator.runtime.store import LOCK_FILE
from evaluator.schema import ExpertNeed, Sampling
from evaluator.suites.ave_compass import SUITE
from evaluator.suites.ave_compass.frame_counts import mismatch
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import clip_of
from tests.metrics.build import silent, sound, tone
from tests.suites.ave_compass.cases import case

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


def test_4_a_truncation_is_told_and_lowers_the_strict_score_only() -> None:
    whole = tone(2.0)
    half = sound(whole.samples[:16_000] / 32767)
    paper, compat, strict = (
        SUITE.variants[profile].get("audio_similarity", SUITE.metric("audio_similarity")).compute
        for profile in SUITE.profiles
    )
    ours = paper(output=half, source=whole)
    assert ours.value > 0.9
    assert ours.details["duration_ratio"] == pytest.approx(0.5)
    assert compat(output=half, source=whole).value == pytest.approx(ours.value)
    assert strict(output=half, source=whole).value < 0.6 * ours.value


def test_5_whole_frames_are_the_documented_default_and_strict_follows_faces() -> None:
    """Another rate than 25 is told; strict takes 25 frames a second and cuts faces out; compat adds the JPEG files."""
    metric = SUITE.metric("lip_sync")
    one = np.ones((3, 4), np.float32)
    rated = metric.compute(lips=WindowEmbeddings(one, 30.0), voice=WindowEmbeddings(one, 25.0), sound=tone(1.0))
    assert (rated.details["input"], rated.details["fps_mismatch"]) == ("whole frame", True)
    strict, compat = (SUITE.variants[profile]["lip_sync"].needs for profile in ("strict", "compat"))
    assert strict["lips"] == ExpertNeed("face_lip_embedding")
    assert strict["whole"] == ExpertNeed("lip_embedding", sampling=Sampling("fps", (25,)))
    assert compat["lips"] == replace(metric.needs["lips"], options=(("jpeg", True),))  # type: ignore[type-var]


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


def test_8_no_card_changes_a_score_unless_the_case_names_one_in_compat() -> None:
    small, any_ = case("one", "joint", vram_bytes=8_000_000_000), case("one", "joint")
    ours = SUITE.metric("motion_smoothness")
    assert ours.needs_for(small) == ours.needs_for(any_)
    theirs = COMPAT["motion_smoothness"]
    assert theirs.needs_for(small) != theirs.needs_for(any_)


def test_9_speech_is_rated_as_published_and_on_the_full_band_in_strict() -> None:
    paper, compat, strict = (
        SUITE.variants[profile].get("speech_quality", SUITE.metric("speech_quality")).needs["quality"]
        for profile in SUITE.profiles
    )
    assert paper == compat == ExpertNeed("speech_quality")
    assert strict == ExpertNeed("speech_quality", options=(("rate", 48_000),))


def test_10_causes_keep_their_names() -> None:
    """A missing checkpoint, silence and sound elsewhere are three different records, not one null."""
    metric = SUITE.metric("av_sync")
    assert metric.optional == {"offset"}  # absent for a reason of the clip; a model that is not there never arrives
    assert metric.compute(offset=None, sound=silent(1.0)).details["silent"]


def test_10_compat_codes_the_clip_again_as_the_reference_does() -> None:
    assert COMPAT["av_sync"].needs["offset"] == ExpertNeed("av_sync", options=(("reencode", True),))
    assert SUITE.metric("av_sync").needs["offset"] == ExpertNeed("av_sync")


def test_24_a_wrong_count_is_told_and_only_compat_believes_it() -> None:
    """A container that promises 250 frames and holds 125."""
    whole = clip_of(125)
    assert whole.video is not None
    wrong = replace(whole, video=replace(whole.video, promised=250))
    vectors = Embeddings(np.eye(3, dtype=np.float32), np.arange(3))
    for profile in SUITE.profiles:
        metric = SUITE.variants[profile].get("subject_consistency", SUITE.metric("subject_consistency"))
        told = metric.compute(embeddings=vectors, video_clip=wrong).details
        assert told["frame_count_mismatch"] == {"video": {"container": 250, "decoded": 125}}
        assert "frame_count_mismatch" not in metric.compute(embeddings=vectors, video_clip=whole).details
        need = metric.needs["embeddings"]
        assert isinstance(need, ExpertNeed)
        assert need.sampling is not None
        seen = select(need.sampling, wrong.video.times, promised=wrong.video.promised)  # type: ignore[union-attr]
        assert len(seen) == (25 if profile == "compat" else 50)


@pytest.mark.parametrize("metric", ["video_aesthetic", "subject_consistency", "videoclip_video_similarity"])
def test_24_compat_samples_by_the_containers_count(metric: str) -> None:
    rules = {
        need.sampling.rule
        for need in COMPAT[metric].needs.values()
        if isinstance(need, ExpertNeed) and need.sampling is not None
    }
    assert rules <= {"ave_f1_promised", "linspace_promised"}
    assert rules


@pytest.mark.parametrize(("promised", "told"), [(125, False), (126, False), (124, False), (127, True), (0, False)])
def test_24_one_frame_more_or_less_is_no_mismatch(promised: int, told: bool) -> None:
    clip = clip_of(125)
    assert clip.video is not None
    assert bool(mismatch(replace(clip, video=replace(clip.video, promised=promised)))) is told


def test_interpolated_pictures_are_truncated_not_rounded() -> None:
    assert difference(np.full((3, 2, 2), 99.9 / 255, np.float32), np.full((2, 2, 3), 99, np.uint8)) == 0.0


def test_20_nothing_holds_a_whole_clip() -> None:
    """The two metrics that see every frame watch it pass."""
    from evaluator.experts.amt_g import AmtG
    from evaluator.experts.base import StreamingExpert
    from evaluator.experts.syncnet_lip import SyncnetLip

    assert issubclass(AmtG, StreamingExpert)
    assert issubclass(SyncnetLip, StreamingExpert)
