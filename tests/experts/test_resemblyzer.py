"""Resemblyzer: partials, loudness, speech only, and telling voices apart."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import stft

from evaluator.errors import NotApplicable
from evaluator.experts import silero_vad
from evaluator.experts.features import SpeakerEmbedding, SpeechActivity
from evaluator.experts.resemblyzer import EXPERT, FILE, louder, partial_starts, partials, speech_only
from evaluator.media.types import Audio
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.sounds import clip_sound, lcg, part, readings, sound

WANT = ExpertNeed("speaker_embedding", roles=("source",))


def activity(pattern: list[int]) -> SpeechActivity:
    """One value per 0.1 s."""
    return SpeechActivity(np.array(pattern, np.float32), step=0.1, duration=len(pattern) / 10)


def embed(models: SessionSource, audio: Audio) -> SpeakerEmbedding:
    heard = silero_vad.EXPERT(models).run(ExpertNeed("speech_activity"), {"audio": audio})
    return EXPERT(models).run(WANT, {"audio": audio, "speech": heard})


def test_it_asks_for_speech_activity_of_the_same_clip() -> None:
    assert EXPERT(FakeSource({})).needs(WANT)["speech"] == ExpertNeed("speech_activity", roles=("source",))


@given(st.integers(25_600, 2_000_000))
def test_partials_are_those_of_the_package(samples: int) -> None:
    """Its rule in its own terms: as many steps of 77 frames as begin early enough, the last if 75 % are covered."""
    frames = ceil((samples + 1) / 160)
    expected = [k for k in range(frames) if k % 77 == 0 and k < frames - 160 + 77 + 1]
    if len(expected) > 1 and (samples / 160 - expected[-1]) / 160 < 0.75:
        expected.pop()
    assert partial_starts(samples) == expected
    assert expected[-1] + 160 > frames - 77 - 41


def test_one_second_and_six_tenths_are_one_partial() -> None:
    assert partial_starts(25_600) == [0]
    assert partial_starts(100) == [0]


def test_mel_power_is_that_of_scipy() -> None:
    samples = 0.1 * lcg(40_000)
    padded = np.pad(samples, (200, 60_000))
    _, _, spectrum = stft(padded, window="hann", nperseg=400, noverlap=240, boundary=None, padded=False)
    mel = np.linspace(0, 15 + np.log(8) * 27 / np.log(6.4), 42)
    edges = np.where(mel < 15, mel * 200 / 3, 1000 * 6.4 ** ((mel - 15) / 27))
    bins = np.arange(201) * 40.0
    bank = [np.interp(bins, edges[k : k + 3], [0, 2 / (edges[k + 2] - edges[k]), 0]) for k in range(40)]
    expected = (np.array(bank) @ (np.abs(spectrum) * 200) ** 2).T
    found = partials(samples.astype(np.float32))
    assert found.shape == (2, 160, 40)
    np.testing.assert_allclose(found[0], expected[:160], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found[1], expected[77:237], rtol=1e-3, atol=1e-6)


@given(st.floats(1e-4, 1.0))
def test_loudness_is_raised_and_never_lowered(amplitude: float) -> None:
    square = np.float32(amplitude) * np.tile(np.array([1, -1], np.float32), 500)
    found = louder(square)
    assert float(np.sqrt(np.mean(found.astype(np.float64) ** 2))) == pytest.approx(max(amplitude, 10**-1.5), rel=1e-4)


def test_digital_silence_stays() -> None:
    assert not louder(np.zeros(10, np.float32)).any()


def test_only_speech_is_kept() -> None:
    samples = np.repeat(np.arange(6, dtype=np.float32), 1600)
    found = speech_only(samples, activity([0, 1, 1, 0, 0, 1]))
    np.testing.assert_array_equal(found, np.repeat([1.0, 2.0, 5.0], 1600))
    assert not len(speech_only(samples, activity([0] * 6)))


def test_too_little_speech() -> None:
    pattern = [1] * 15 + [0] * 15
    with pytest.raises(NotApplicable, match=r"1\.6 s of speech.*1\.50 s"):
        EXPERT(FakeSource({})).run(WANT, {"audio": sound(np.zeros(48_000)), "speech": activity(pattern)})


def test_mean_direction_of_the_partials() -> None:
    """Batches are always eight; what fills the last one up does not count."""

    def respond(feeds: dict[str, np.ndarray]) -> dict[str, object]:
        loud = feeds["mels"].max(axis=(1, 2)) > 0
        return {"embedding": np.where(loud[:, None], [[1.0, 0.0]], [[0.0, 1.0]])}

    session = FakeSession(respond, outputs=["embedding"])
    samples = np.concatenate([0.1 * lcg(160_000), np.zeros(160_000)])
    found = EXPERT(FakeSource({FILE: session})).run(WANT, {"audio": sound(samples), "speech": activity([1] * 200)})
    assert {feeds["mels"].shape for feeds in session.fed} == {(8, 160, 40)}
    starts = partial_starts(320_000)
    heard = sum(start * 160 < 160_000 + 200 for start in starts)
    expected = np.array([heard, len(starts) - heard])
    np.testing.assert_allclose(found.vector, expected / np.linalg.norm(expected), rtol=1e-6)
    assert found.seconds == 20.0


def test_the_same_voice_is_closer_than_another_one(models: SessionSource, shared: object) -> None:
    """Halves of two talking heads."""
    clips = [clip_sound(shared / "data" / "clips" / name) for name in ("talking1.mp4", "talking2.mp4")]
    tell_apart(models, clips)


def test_recorded_readings(models: SessionSource) -> None:
    if not (voices := readings()):
        pytest.skip("the wheel with recorded readings is not in the wheel folder of the model store")
    tell_apart(models, [part(voices["two_cities"], 0, 20), part(voices["endgame_nagg_nell"], 0, 20)])


def tell_apart(models: SessionSource, clips: list[Audio]) -> None:
    """Every half is closest to the other half of its clip."""
    vectors = []
    for clip in clips:
        end = len(clip.samples) / 16_000
        vectors += [embed(models, part(clip, 0, end / 2)).vector, embed(models, part(clip, end / 2, end)).vector]
    likeness = np.array(vectors) @ np.array(vectors).T
    np.testing.assert_allclose(np.diag(likeness), 1.0, atol=1e-5)
    np.fill_diagonal(likeness, -1)
    assert likeness.argmax(axis=1).tolist() == [1, 0, 3, 2]
    assert likeness[0, 1] > likeness[:2, 2:].max() + 0.1


def test_volume_does_not_matter(models: SessionSource, speech: Audio) -> None:
    """Below -30 dBFS, where the same segments are speech."""
    heard = silero_vad.EXPERT(models).run(ExpertNeed("speech_activity"), {"audio": speech})
    waves = [sound(speech.samples / 32768 * volume) for volume in (0.1, 0.05)]
    vectors = [EXPERT(models).run(WANT, {"audio": wave, "speech": heard}).vector for wave in waves]
    assert float(vectors[0] @ vectors[1]) > 0.999
