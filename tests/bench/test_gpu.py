"""The figures of a GPU, as far as they are arithmetic; a whole measurement is in tests/device."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluator.bench import gpu
from evaluator.bench.bench import BenchOptions, bench
from evaluator.bench.board import Board
from evaluator.bench.gpu import BEST, copies, psnr
from evaluator.bench.gpu_decode import Clip, Decoder, limit, rate
from evaluator.bench.sessions import Ledger
from evaluator.errors import EngineError
from evaluator.media.decode import CollectTap, decode
from evaluator.media.probe import probe
from evaluator.media.types import Frames, VideoInfo
from evaluator.runner.equipment import CPU, Equipment
from evaluator.runner.header import RunStatus
from evaluator.runner.run import RunResult
from evaluator.schema import Reason, Score, Status, View
from tests.runner.clips import clip

SEATS, FRAMES, SECONDS = 4, 10, 0.05


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
    assert 0.4 < one / (FRAMES / SECONDS) <= 1  # a busy machine is late, and nobody wakes early
    assert 1.5 * one < three <= 3 * FRAMES / SECONDS


def test_the_limit_is_found_by_asking_for_more_sessions_than_there_are_seats(clips: list[Clip]) -> None:
    shared = chip(SEATS)
    most, sessions = limit(lambda: shared, clips)
    assert sessions >= SEATS
    assert 0.4 < most / (SEATS * FRAMES / SECONDS) <= 1


def test_the_search_for_the_limit_ends_where_there_is_no_room(clips: list[Clip]) -> None:
    made: list[Decoder] = []

    def make() -> Decoder:
        if len(made) == 1 + 2 + SEATS:
            raise RuntimeError("out of memory")
        made.append(chip(1))
        return made[-1]

    most, sessions = limit(make, clips)
    assert sessions <= SEATS
    assert most > FRAMES / SECONDS


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


def test_networks_are_run_again_on_the_stream_of_the_device() -> None:
    inside, seen = [False], []

    @contextmanager
    def current() -> Iterator[None]:
        inside[0] = True
        yield
        inside[0] = False

    ledger = Ledger()
    ledger.timed(Path("m/n.onnx"), {"x": np.zeros(1)}, lambda _: seen.append(inside[0]))
    gpu._networks(ledger, Equipment(ordered=current))
    assert seen == [False, *(len(seen) - 1) * [True]]
    assert len(seen) > 1


def test_the_passes_of_a_run_are_found_behind_a_link_too(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    subject = gpu.Subject(CPU, metrics=("loudness",))
    found = gpu._overlap(Board(), tmp_path / "link", [clip(tmp_path / "clip.mp4")], subject, workers=1)
    assert [one.path.name for one in found] == ["0-clip.mp4"]


def score(status: Status) -> Score:
    reason = None if status is Status.OK else Reason("network", "the network did not run")
    return Score("a", "core", "s", "ssim", 1.0 if reason is None else None, status, reason, None, {}, (), "paper", "f")


def test_a_run_in_which_something_failed_is_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed took no time: the rest of the run would look fast."""
    for statuses in ([Status.OK], [Status.OK, Status.FAILED]):
        found = RunResult(RunStatus.PARTIAL, tuple(map(score, statuses)), 0, ())
        monkeypatch.setattr(gpu, "run", lambda *_, found=found: found)
        board = Board()
        gpu.measure(board, tmp_path, [clip(tmp_path / "clip.mp4")], gpu.Subject(CPU))
        assert (board.figures["G4"].value is None) == (Status.FAILED in statuses)
    assert board.figures["G4"].note == "1 scores failed, the first ssim of a: the network did not run"


def test_what_cannot_be_measured_takes_no_other_figure_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("Error in mixed operator\n  CUDA out of memory")

    monkeypatch.setattr(gpu, "run", lambda *_: RunResult(RunStatus.SUCCESS, (score(Status.OK),), 0, ()))
    monkeypatch.setattr(gpu.gpu_decode, "measure", broken)
    board = Board()
    gpu.measure(board, tmp_path, [clip(tmp_path / "clip.mp4")], gpu.Subject(replace(CPU, decoder="dali")))
    assert board.figures["G1"].value is None
    assert board.figures["G1"].note == "could not be measured: Error in mixed operator CUDA out of memory"
    assert board.figures["G4"].value is not None
    assert "took no clip" in board.figures["G9"].note


def test_without_a_gpu_nothing_is_measured_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(EngineError):
        bench(BenchOptions(clips=tmp_path / "clips", device="gpu"), say=lambda _: None)
    assert not (tmp_path / "clips").exists()
