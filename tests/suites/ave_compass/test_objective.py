"""The nine metrics on hand-made features: formula values of spec 12.4, SyncNet's arithmetic, the profiles."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import (
    AudioAesthetics,
    Embeddings,
    InterpolationError,
    SpeechQuality,
    SyncOffset,
    WindowEmbeddings,
)
from evaluator.experts.synchformer import GRID
from evaluator.metrics.base import Metric
from evaluator.schema import AudioNeed, ExpertNeed
from evaluator.suites.ave_compass import SUITE
from evaluator.suites.ave_compass.lip_sync import mean_distances
from evaluator.suites.ave_compass.pictures import on_a_card
from tests.experts.pictures import clip_of
from tests.metrics.build import activity, noise, silent, sound, tone
from tests.metrics.lcg import melody
from tests.suites.ave_compass.cases import case

PAPER, COMPAT, STRICT = SUITE.profiles


def metric(name: str, profile: str = PAPER) -> Metric:
    return SUITE.variants.get(profile, {}).get(name) or SUITE.metric(name)


def offset(seconds: float) -> SyncOffset:
    probability = np.where(np.isclose(GRID, seconds), 0.5, 0.025).astype(np.float32)
    return SyncOffset(probability, GRID, padded=False)


# ----------------------------------------------------------------------------------------------------- formula values


def test_audio_aesthetic() -> None:
    axes = {"PQ": 7.220, "CU": 5.779, "CE": 5.146, "PC": 2.148}
    found = metric("audio_aesthetic").compute(aesthetics=AudioAesthetics(axes, 1), sound=tone(1.0))
    assert found.value == pytest.approx(0.64995)
    assert found.details["axes"] == axes


@pytest.mark.parametrize(("delta", "score"), [(0.0, 1.0), (0.2, 0.9), (-1.4, 0.3), (2.0, 0.0)])
def test_av_sync(delta: float, score: float) -> None:
    found = metric("av_sync").compute(offset=offset(delta), sound=tone(1.0))
    assert found.value == pytest.approx(score)
    assert found.raw == pytest.approx(delta)


@pytest.mark.parametrize(("mos", "score"), [(1, 0), (3, 0.5), (5, 1), (0.8113, 0)])
def test_speech_quality(mos: float, score: float) -> None:
    quality = SpeechQuality(mos, {"noisiness": 2.0})
    found = metric("speech_quality").compute(quality=quality, activity=activity(2.5, 5.0), sound=tone(1.0))
    assert found.value == pytest.approx(score)
    assert found.raw == mos
    assert found.details["speech_ratio"] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(("d", "score"), [(0, 1), (2.55, 0.99), (255, 0)])
def test_motion_smoothness(d: float, score: float) -> None:
    error = InterpolationError(np.array([d], np.float32), np.array([1]), False, "")
    assert metric("motion_smoothness").compute(interpolation=error).value == pytest.approx(score)


def test_subject_consistency() -> None:
    vectors = Embeddings(np.array([[1, 0], [0, 1], [1, 0]], np.float32), np.arange(3))
    found = metric("subject_consistency").compute(embeddings=vectors, video_clip=clip_of(3))
    assert (found.value, found.raw) == (0.5, 0.0)
    assert found.details["pairwise_cosine"] == pytest.approx(1 / 3)


def test_opposite_clips_are_not_similar() -> None:
    there, back = (Embeddings(sign * np.array([[0.6, 0.8]], np.float32), np.arange(8)) for sign in (1, -1))
    compute = partial(metric("videoclip_video_similarity").compute, video_clip=clip_of(8), source_clip=clip_of(8))
    assert compute(output=there, source=back).value == pytest.approx(0.0)
    assert compute(output=there, source=there).value == pytest.approx(1.0)


# ------------------------------------------------------------------------------------------------------------ SyncNet


def windows(vectors: np.ndarray, rate: float = 25.0) -> WindowEmbeddings:
    return WindowEmbeddings(vectors.astype(np.float32), rate)


def by_definition(lips: np.ndarray, voice: np.ndarray) -> list[float]:
    """Spec 4.3, step 7, in loops."""
    count, size = lips.shape
    padded = np.concatenate([np.zeros((15, size)), voice, np.zeros((15, size))])
    return [
        float(np.mean([np.sqrt(((lips[t] - padded[t + j] + 1e-6) ** 2).sum()) for t in range(count)]))
        for j in range(31)
    ]


@given(st.integers(1, 40), st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_distances_are_the_definition(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lips, voice = rng.standard_normal((2, count, 6)).astype(np.float32)
    np.testing.assert_allclose(mean_distances(lips, voice), by_definition(lips, voice), rtol=1e-9)


@pytest.mark.parametrize("shift", [-7, 0, 3])
def test_the_offset_of_a_known_shift(shift: int) -> None:
    """What is seen at t is heard at t + shift, so a positive shift is late sound and a negative offset."""
    track = np.random.default_rng(0).standard_normal((90, 32))
    lips, voice = track[20:70], track[20 - shift : 70 - shift]
    found = metric("lip_sync", COMPAT).compute(lips=windows(lips), voice=windows(voice))
    assert found.details["offset_frames"] == -shift
    assert found.details["min_distance"] < 3
    assert found.value == 1.0


@pytest.mark.parametrize(("kappa", "score"), [(0.5, 0.25), (1, 0.5), (2, 1), (3, 1)])
def test_lip_sync(kappa: float, score: float) -> None:
    """One window: the zero vectors of the padding are `kappa` further away than the sound itself."""
    lips, voice = np.array([[kappa, 0.0]]), np.array([[kappa, 0.0]])
    found = metric("lip_sync", COMPAT).compute(lips=windows(lips), voice=windows(voice))
    assert found.value == pytest.approx(score, abs=1e-5)
    assert found.raw == pytest.approx(kappa, abs=1e-5)
    assert found.details["gamma"] == 2.0


def test_the_shorter_stream_decides_how_many_windows() -> None:
    lips, voice = np.random.default_rng(1).standard_normal((2, 30, 8))
    whole = metric("lip_sync", COMPAT).compute(lips=windows(lips), voice=windows(voice[:12]))
    assert whole.details["windows"] == 12
    assert whole == metric("lip_sync", COMPAT).compute(lips=windows(lips[:12]), voice=windows(voice[:12]))


@pytest.mark.parametrize(("rate", "mismatch"), [(25.0, False), (24.0, True), (29.97, True)])
def test_other_frame_rates_are_told(rate: float, mismatch: bool) -> None:
    one = np.ones((3, 4))
    assert (
        metric("lip_sync", COMPAT).compute(lips=windows(one, rate), voice=windows(one)).details["fps_mismatch"]
        is mismatch
    )


def test_too_short_for_syncnet() -> None:
    nothing = windows(np.empty((0, 8)))
    with pytest.raises(NotApplicable, match="too short"):
        metric("lip_sync", COMPAT).compute(lips=nothing, voice=windows(np.ones((4, 8))))


# ----------------------------------------------------------------------------------------------------------- profiles

SILENT = {
    "lip_sync": {"lips": windows(np.ones((3, 4))), "voice": windows(np.ones((3, 4)))},
    "av_sync": {"offset": offset(0.0)},
    "audio_aesthetic": {"aesthetics": AudioAesthetics({"PQ": 7.0, "CU": 7.0, "CE": 7.0, "PC": 7.0}, 1)},
    "speech_quality": {"quality": SpeechQuality(2.1, {}), "activity": activity()},
}


@pytest.mark.parametrize("name", SILENT)
def test_silence_scores_zero_and_says_so(name: str) -> None:
    """Spec 3.2: also where a model would have given zeros a figure above zero."""
    found = metric(name).compute(sound=silent(2.0), **SILENT[name])
    assert (found.value, found.raw) == (0.0, None)
    assert found.details == {"silent": True, "audio_stream": True}
    assert metric(name).compute(sound=tone(2.0), **SILENT[name]).value > 0.0 or name == "lip_sync"


@pytest.mark.parametrize("name", SILENT)
def test_a_model_without_an_answer_is_no_silence(name: str) -> None:
    """A sound that is too short for a model has no score; the record says which."""
    first = next(iter(SILENT[name]))
    with pytest.raises(NotApplicable, match=rf"too short or too long.*{first}"):
        metric(name).compute(sound=tone(0.05), **{**SILENT[name], first: None})


@pytest.mark.parametrize("name", SILENT)
def test_what_each_profile_asks_of_the_sound(name: str) -> None:
    """Paper and strict turn a missing stream into silence; compat lets the clip drop out."""
    for profile in (PAPER, STRICT):
        need = metric(name, profile).needs["sound"]
        assert isinstance(need, AudioNeed)
        assert need.view.missing == "silence"
    streams = [need for need in metric(name, COMPAT).needs.values() if isinstance(need, AudioNeed)]
    assert all(need.view.missing == "skip" for need in streams)
    assert metric(name, COMPAT).optional.isdisjoint({"sound"})


def test_compat_lip_sync_knows_no_silence() -> None:
    assert set(metric("lip_sync", COMPAT).needs) == {"lips", "voice"}


def options(need: object) -> dict[str, object]:
    assert isinstance(need, ExpertNeed)
    return dict(need.options)


def test_compat_crops_and_strict_never_shrinks() -> None:
    assert options(metric("subject_consistency", COMPAT).needs["embeddings"]) == {"preprocess": "hf_crop"}
    assert options(metric("subject_consistency").needs["embeddings"]) == {}
    assert options(metric("motion_smoothness", STRICT).needs["interpolation"]) == {"scale": 1}
    assert options(metric("speech_quality", STRICT).needs["quality"]) == {"rate": 48_000}


def test_compat_imitates_the_card_that_the_case_names() -> None:
    compat = metric("motion_smoothness", COMPAT)
    assert options(compat.needs_for(case("one", "joint"))["interpolation"]) == {}
    named = compat.needs_for(case("one", "joint", vram_bytes=16_000_000_000))["interpolation"]
    assert options(named) == {"vram_bytes": 16_000_000_000}
    assert on_a_card(case("one", "joint")) == compat.needs_for(case("one", "joint"))


def test_strict_av_sync_looks_at_both_ends() -> None:
    found = metric("av_sync", STRICT).compute(offset=offset(0.4), last=offset(-1.2), sound=tone(1.0))
    assert found.raw == pytest.approx(0.8)
    assert found.value == pytest.approx(0.6)
    assert found.details["first"]["offset_sec"] == pytest.approx(0.4)
    assert found.details["last"]["offset_sec"] == pytest.approx(-1.2)


# --------------------------------------------------------------------------------------------------- audio similarity


def test_strict_audio_similarity_sees_a_truncation() -> None:
    """Keeping the first second of five scores 0.99 by the paper's definition, and a fifth of that in strict."""
    whole, cut = sound(melody()), sound(melody()[:16_000])
    paper = metric("audio_similarity").compute(output=cut, source=whole)
    strict = metric("audio_similarity", STRICT).compute(output=cut, source=whole)
    assert paper.value == pytest.approx(0.992856, abs=1e-5)
    assert strict.details["overlap"] == pytest.approx(33 / 158)
    assert strict.value == pytest.approx(paper.value * 33 / 158, rel=1e-6)


@pytest.mark.parametrize("profile", SUITE.profiles)
def test_the_same_sound_is_the_same_in_every_profile(profile: str) -> None:
    assert metric("audio_similarity", profile).compute(output=noise(2.0), source=noise(2.0)).value == pytest.approx(1.0)


@pytest.mark.parametrize("samples", [512, 700, 1023])
def test_very_short_sound(samples: int) -> None:
    """Null in the reference; ours extends it by zeros."""
    short = noise(samples / 16_000)
    with pytest.raises(NotApplicable, match="1024"):
        metric("audio_similarity", COMPAT).compute(output=short, source=noise(1.0))
    assert metric("audio_similarity").compute(output=short, source=short).value == pytest.approx(1.0)
