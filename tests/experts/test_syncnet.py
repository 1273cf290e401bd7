"""Both halves of SyncNet by sessions that honour the contract: which windows, in which order of colours and time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from evaluator.errors import ExpertError
from evaluator.experts import syncnet_aud, syncnet_lip
from evaluator.experts.features import WindowEmbeddings
from evaluator.experts.mfcc import mfcc
from evaluator.media.types import U8, Audio, ClipInfo
from evaluator.runtime.session import Array
from evaluator.schema import ALL_FRAMES, ExpertNeed, Filter, Fit, Sampling
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import clip_of, watch

LIPS = ExpertNeed("lip_embedding", sampling=ALL_FRAMES)
VOICE = ExpertNeed("voice_embedding")
SIZE = syncnet_lip.SIZE


def levels(count: int) -> U8:
    """Frame k is red k, green 100, blue 200 everywhere."""
    data = np.empty((count, SIZE, SIZE, 3), np.uint8)
    data[...] = np.array([0, 100, 200], np.uint8)
    data[..., 0] = np.arange(count)[:, None, None]
    return data


def corner(feeds: Mapping[str, Array]) -> Mapping[str, Array]:
    """Embedding that begins with the corner pixel of every plane and frame [3, 5], flattened."""
    frames = feeds["frames"]
    out = np.zeros((len(frames), 1024), np.float32)
    out[:, :15] = frames[:, :, :, 0, 0].reshape(len(frames), 15)
    return {"embedding": out}


def see(data: U8, chunk: int = 32, want: ExpertNeed = LIPS) -> tuple[WindowEmbeddings, FakeSession]:
    session = FakeSession(corner, ["embedding"])
    return watch(syncnet_lip.EXPERT(FakeSource({syncnet_lip.FILE: session})), want, data, chunk), session


@pytest.mark.parametrize("chunk", [1, 3, 32])
@pytest.mark.parametrize("count", [4, 5, 6, 7, 23])
def test_every_window_but_the_last_however_the_frames_arrive(count: int, chunk: int) -> None:
    found, _ = see(levels(count), chunk)
    assert found.vectors.shape == (max(0, count - 5), 1024)
    seen = found.vectors[:, :15].reshape(-1, 3, 5)
    np.testing.assert_array_equal(seen[:, 2], np.arange(max(0, count - 5))[:, None] + np.arange(5))


def test_blue_comes_first_and_levels_are_as_they_are() -> None:
    found, session = see(levels(9))
    np.testing.assert_array_equal(found.vectors[0, :15].reshape(3, 5)[:, 0], [200, 100, 0])
    fed = session.fed[0]["frames"]
    assert (fed.shape[1:], fed.dtype) == ((3, 5, SIZE, SIZE), np.float32)


def test_the_whole_frame_is_squashed_as_opencv_does_it() -> None:
    view = syncnet_lip.EXPERT(FakeSource({})).view(LIPS)
    assert (view.fit, view.height, view.width) == (Fit.SQUASH, SIZE, SIZE)
    assert (view.filter, view.antialias) == (Filter.BILINEAR, False)


def test_the_published_scripts_jpeg_files_are_an_option() -> None:
    lossy = ExpertNeed("lip_embedding", sampling=ALL_FRAMES, options=(("jpeg", True),))
    view = syncnet_lip.EXPERT(FakeSource({})).view(lossy)
    assert (view.fit, view.height, view.filter) == (Fit.SQUASH, SIZE, Filter.FFMPEG_JPEG)


@pytest.mark.parametrize(("sampling", "rate"), [(ALL_FRAMES, 25.0), (Sampling("fps", (12,)), 12.0)])
def test_the_rate_is_that_of_the_windows(sampling: Sampling, rate: float) -> None:
    found, _ = see(levels(8), want=ExpertNeed("lip_embedding", sampling=sampling))
    assert found.rate == pytest.approx(rate)


def echo(feeds: Mapping[str, Array]) -> Mapping[str, Array]:
    """Embedding that begins with the log energies of the window's twenty columns."""
    out = np.zeros((len(feeds["mfcc"]), 1024), np.float32)
    out[:, :20] = feeds["mfcc"][:, 0, 0]
    return {"embedding": out}


def hear(audio: Audio, clip: ClipInfo | None = None, session: FakeSession | None = None) -> WindowEmbeddings:
    source = FakeSource({syncnet_aud.FILE: session or FakeSession(echo, ["embedding"])})
    return syncnet_aud.EXPERT(source).run(VOICE, {"audio": audio, "clip": clip or clip_of(100)})


def noise(samples: int) -> Audio:
    return Audio(np.random.default_rng(1).integers(-9000, 9000, samples).astype(np.int16), 16_000, True)


@pytest.mark.parametrize(("samples", "windows"), [(640 * 5, 0), (640 * 6 - 1, 0), (640 * 6, 1), (16_000, 20)])
def test_windows_of_sound(samples: int, windows: int) -> None:
    assert hear(noise(samples)).vectors.shape == (windows, 1024)


def test_windows_start_four_columns_apart_and_each_holds_twenty() -> None:
    audio = noise(16_000)
    found, energy = hear(audio).vectors, mfcc(audio.samples)[:, 0]
    for t in (0, 1, 19):
        np.testing.assert_allclose(found[t, :20], energy[4 * t : 4 * t + 20], rtol=1e-6)


def test_sound_that_begins_late_is_preceded_by_silence() -> None:
    audio = noise(16_000)
    late = Audio(audio.samples, 16_000, True, start=0.08)
    np.testing.assert_allclose(hear(late).vectors[8, :20], hear(audio).vectors[6, :20], rtol=1e-5)


def test_another_network_is_noticed() -> None:
    other = FakeSession(lambda feeds: {"embedding": np.zeros((len(feeds["mfcc"]), 512), np.float32)}, ["embedding"])
    with pytest.raises(ExpertError, match="1024"):
        hear(noise(16_000), session=other)
