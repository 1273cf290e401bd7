"""The figures of a GPU, as far as they are arithmetic; a whole measurement is in tests/device."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from evaluator.bench.bench import BenchOptions, bench
from evaluator.bench.gpu import BEST, copies, psnr
from evaluator.bench.gpu_decode import Clip, Decoder, limit, rate
from evaluator.errors import EngineError
from evaluator.media.decode import CollectTap, decode
from evaluator.media.probe import probe
from evaluator.media.types import Frames, VideoInfo
from evaluator.schema import View
from tests.runner.clips import clip

SEATS, FRAMES, SECONDS = 4, 10, 0.02


def chip(seats: int) -> Decoder:
    """A decoder that serves so many sessions at a time."""
    free = threading.BoundedSemaphore(seats)

    def decode(_: Clip) -> int:
        with free:
            time.sleep(SECONDS)
        return FRAMES

    return decode


@pytest.fixture
def clips(tmp_path: Path) -> list[Clip]:
    path = clip(tmp_path / "clip.mp4")
    video = probe(path).video
    assert isinstance(video, VideoInfo)
    return 4 * [(path, video)]


@pytest.fixture
def frames(tmp_path: Path) -> Frames:
    path = clip(tmp_path / "clip.mp4")
    tap = CollectTap(probe(path))
    decode(path, probe(path), [(View(), tap)], [])
    return tap.close()


def test_a_rate_counts_the_frames_of_all_sessions(clips: list[Clip]) -> None:
    shared = chip(SEATS)
    one, three = rate(lambda: shared, 1, clips), rate(lambda: shared, 3, clips)
    assert one == pytest.approx(FRAMES / SECONDS, rel=0.3)
    assert three > 2 * one


def test_the_limit_is_found_by_asking_for_more_sessions_than_there_are_seats(clips: list[Clip]) -> None:
    shared = chip(SEATS)
    most, sessions = limit(lambda: shared, clips)
    assert sessions >= SEATS
    assert most == pytest.approx(SEATS * FRAMES / SECONDS, rel=0.4)


def test_copies_have_the_same_frames_and_bytes_of_their_own(tmp_path: Path) -> None:
    path = clip(tmp_path / "clip.mp4")
    made = list(copies([path], 3, tmp_path / "copies"))
    assert len({one.read_bytes() for one in [path, *made]}) == 4
    for one in made:
        assert np.array_equal(probe(one).video.times, probe(path).video.times)  # type: ignore[union-attr]
        pictures = []
        for file in (path, one):
            tap = CollectTap(probe(file))
            decode(file, probe(file), [(View(), tap)], [])
            pictures.append(tap.close().data)
        assert np.array_equal(*pictures)


def test_equal_pictures_are_as_near_as_can_be_and_one_level_is_48_db(frames: Frames) -> None:
    brighter = Frames(np.where(frames.data < 255, frames.data + 1, 254), frames.index, frames.time, frames.clip)
    assert psnr(frames, frames) == BEST
    assert psnr(brighter, frames) == pytest.approx(20 * np.log10(255), abs=1e-9)


def test_more_noise_is_fewer_decibels(frames: Frames) -> None:
    rng = np.random.default_rng(0)
    noisy = [
        Frames(
            np.clip(frames.data + rng.normal(0, sigma, frames.data.shape), 0, 255).astype(np.uint8),
            frames.index,
            frames.time,
            frames.clip,
        )
        for sigma in (2, 4, 8)
    ]
    found = [psnr(one, frames) for one in noisy]
    assert found == sorted(found, reverse=True)
    assert found[0] < BEST


def test_other_frames_are_no_match_however_alike_they_look(frames: Frames) -> None:
    later = Frames(frames.data, frames.index + 1, frames.time, frames.clip)
    shifted = Frames(frames.data, frames.index, frames.time + 0.01, frames.clip)
    assert (psnr(later, frames), psnr(shifted, frames)) == (0.0, 0.0)


def test_without_a_gpu_nothing_is_measured_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(EngineError):
        bench(BenchOptions(clips=tmp_path / "clips", device="gpu"), say=lambda _: None)
    assert not (tmp_path / "clips").exists()
