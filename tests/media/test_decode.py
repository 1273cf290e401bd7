"""The one pass: right frames for every odd file, shared arrays, chunks, damaged files, bounded memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from evaluator.errors import MediaError, NotApplicable
from evaluator.media import container
from evaluator.media.decode import CHUNK, LARGE, CollectTap, Restartable, decode
from evaluator.media.limits import Limits
from evaluator.media.probe import probe
from evaluator.media.sampling import select
from evaluator.media.types import ClipInfo, DecodeReport, FrameChunk, Frames
from evaluator.media.views import Drawing, Renderer
from evaluator.schema import ALL_FRAMES, AudioView, Filter, Fit, Sampling, View
from tests.media.oddfiles import FPS, read_index

TEN = View(Sampling("linspace", (10,)))


class WatchTap:
    """Remembers chunks and cannot restart."""

    def __init__(self) -> None:
        self.chunks: list[FrameChunk] = []

    def push(self, chunk: FrameChunk) -> None:
        self.chunks.append(chunk)

    def close(self) -> list[int]:
        return [int(index) for chunk in self.chunks for index in chunk.index]


def collect(path: Path, *views: View) -> tuple[list[Frames], DecodeReport]:
    info = probe(path)
    taps = [(view, CollectTap(info)) for view in views]
    report = decode(path, info, taps, [])[1]
    return [tap.close() for _, tap in taps], report


INTACT = (
    "plain.mp4 vfr.mp4 vfr.mkv tenbit.mp4 full_chroma.mp4 interlaced.mp4 bframes.avi h264.avi stream.ts raw.h264 "
    "vp9.webm av1.mp4 moving.gif one.mp4 odd_size.mp4 bt709_full.mp4 late_sound.mkv whole.mkv truncated.mkv"
)


@pytest.mark.parametrize("name", INTACT.split())
def test_every_frame_is_the_one_that_its_index_says(odd: Path, name: str) -> None:
    info = probe(odd / name).video
    assert info is not None
    (everything, ten), report = collect(odd / name, View(), TEN)
    assert [read_index(image) for image in everything.data] == list(range(info.frames))
    assert [read_index(image) for image in ten.data] == ten.index.tolist()
    assert np.array_equal(ten.index, select(TEN.sampling, info.times))
    assert np.array_equal(everything.time, info.times)
    assert np.array_equal(ten.time, info.times[ten.index])
    assert (report.passes, report.notes, report.frames_decoded) == (1, (), info.frames)


def test_edit_list_shows_the_later_frames(odd: Path) -> None:
    (shown,), _ = collect(odd / "edited.mp4", View())
    assert [read_index(image) for image in shown.data] == list(range(10, 50))
    assert shown.index.tolist() == list(range(40))


def test_repeated_frames_arrive_repeated(odd: Path) -> None:
    (found,), _ = collect(odd / "plain.mp4", View(Sampling("fps", (2 * FPS,))))
    assert found.index.tolist() == [index for index in range(50) for _ in range(2)]
    assert [read_index(image) for image in found.data] == found.index.tolist()
    assert np.allclose(found.time, found.index / FPS)


def test_variable_rate_is_sampled_by_time(odd: Path) -> None:
    (found,), _ = collect(odd / "vfr.mp4", View(Sampling("fps", (10,))))
    assert [read_index(image) for image in found.data] == [1, 2, 4, 6, 6, 9, 9, 9, 9, 11] == found.index.tolist()


def test_one_open_file_feeds_all_views_and_sounds(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = probe(odd / "plain.mp4")
    opened: list[str] = []
    real = av.open
    monkeypatch.setattr(container.av, "open", lambda *args, **named: (opened.append(args[0]), real(*args, **named))[1])
    taps = [(view, CollectTap(info)) for view in (View(), TEN, View(fit=Fit.SQUASH, height=8, width=8))]
    sounds, report = decode(odd / "plain.mp4", info, taps, [AudioView(), AudioView(44_100)])
    assert opened == [str(odd / "plain.mp4")]
    assert len(sounds) == 2
    assert report.frames_decoded == 50


def test_unwanted_frames_are_not_converted(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Drawing] = []
    real = Renderer._render
    monkeypatch.setattr(Renderer, "_render", lambda self, drawing: (drawn.append(drawing), real(self, drawing))[1])
    small = View(Sampling("every", (10,)), Fit.SQUASH, 8, 8)
    same_picture = View(Sampling("every", (5,)), Fit.SQUASH, 8, 8)
    _, report = collect(odd / "plain.mp4", small, same_picture)
    assert report.frames_converted == len(drawn) == 10


def test_equal_views_share_read_only_arrays(odd: Path) -> None:
    info = probe(odd / "plain.mp4")
    one, two = WatchTap(), WatchTap()
    decode(odd / "plain.mp4", info, [(TEN, one), (View(Sampling("linspace", (10,))), two)], [])
    assert one.chunks[0].data is two.chunks[0].data
    with pytest.raises(ValueError, match="read-only"):
        one.chunks[0].data[0] = 0


def test_chunks_are_short_and_complete(odd: Path) -> None:
    tap = WatchTap()
    decode(odd / "plain.mp4", probe(odd / "plain.mp4"), [(View(), tap)], [])
    assert [len(chunk.data) for chunk in tap.chunks] == [CHUNK, 50 - CHUNK]
    assert tap.close() == list(range(50))


def test_large_pictures_come_alone_and_are_the_same(odd: Path) -> None:
    """Enlarged by whole pixels of nothing: the fifty times asked for and the twice repeated are what small ones are."""
    tap = WatchTap()
    large = View(Sampling("fps", (2 * FPS / 5,)), Fit.SQUASH, 300, 300)
    assert LARGE <= 300 * 300 * 3
    decode(odd / "plain.mp4", probe(odd / "plain.mp4"), [(large, tap)], [])
    assert {len(chunk.data) for chunk in tap.chunks} == {1}
    (native,), _ = collect(odd / "plain.mp4", View(large.sampling))
    assert tap.close() == native.index.tolist()
    expected = [np.asarray(Image.fromarray(one).resize((300, 300), Image.Resampling.BICUBIC)) for one in native.data]
    assert all(np.array_equal(chunk.data[0], one) for chunk, one in zip(tap.chunks, expected, strict=True))
    with pytest.raises(ValueError, match="read-only"):
        tap.chunks[0].data[0] = 0


def test_a_large_cut_does_not_keep_the_whole_picture(odd: Path) -> None:
    tap = WatchTap()
    cut = View(Sampling("every", (25,)), Fit.SHORT_SIDE_CROP, 400, 400)
    decode(odd / "plain.mp4", probe(odd / "plain.mp4"), [(cut, tap)], [])
    held = tap.chunks[0].data
    while isinstance(held.base, np.ndarray):
        held = held.base
    assert held.nbytes == 400 * 400 * 3


def test_a_view_that_picks_nothing(odd: Path) -> None:
    with pytest.raises(NotApplicable, match="no frame"):
        collect(odd / "one.mp4", View(Sampling("triplets", (3,))))


# --------------------------------------------------------------------------------------------- damaged files


def test_damage_in_the_middle_restarts_with_the_true_count(odd: Path) -> None:
    (everything, ten), report = collect(odd / "corrupt.mp4", View(), TEN)
    assert report.clip is not None
    assert report.clip.video is not None
    true = report.clip.video
    assert report.passes == 2
    assert true.frames < 50
    assert true.indexed_by == "decode"
    assert len(everything.data) == true.frames
    assert np.array_equal(ten.index, select(TEN.sampling, true.times))
    assert np.array_equal(ten.data, everything.data[ten.index])
    assert np.array_equal(everything.time, true.times)
    assert everything.clip is ten.clip is report.clip
    assert any(f"50 frames indexed by packets, {true.frames} decoded" in note for note in report.notes)
    assert any("video packets could not be decoded" in note for note in report.notes)
    assert report.frames_decoded == 2 * true.frames


def test_frames_that_survive_damage_keep_their_own_time(odd: Path) -> None:
    (everything,), _ = collect(odd / "corrupt.mp4", View())
    for part in (slice(5), slice(-5, None)):
        spelled = [read_index(image) for image in everything.data[part]]
        assert np.allclose(everything.time[part], np.array(spelled) / FPS)
    assert everything.time[-1] == pytest.approx(49 / FPS)


def test_a_tap_that_cannot_restart_keeps_what_is_right_anyhow(odd: Path) -> None:
    info = probe(odd / "corrupt.mp4")
    tap = WatchTap()
    report = decode(odd / "corrupt.mp4", info, [(View(), tap)], [])[1]
    assert report.clip is not None
    assert report.clip.video is not None
    assert tap.close() == list(range(report.clip.video.frames))


def test_a_tap_that_cannot_restart_is_not_left_with_wrong_frames(odd: Path) -> None:
    info = probe(odd / "corrupt.mp4")
    with pytest.raises(MediaError) as caught:
        decode(odd / "corrupt.mp4", info, [(TEN, WatchTap())], [])
    assert caught.value.code == "frame_count_mismatch"


@pytest.mark.parametrize("name", ["corrupt.ts", "truncated_faststart.mp4"])
def test_damage_that_the_packets_show_costs_one_pass(odd: Path, name: str) -> None:
    (everything,), report = collect(odd / name, View())
    assert report.passes == 1
    assert report.frames_decoded == len(everything.data) == everything.clip.video.frames


def test_a_wrong_index_is_corrected(odd: Path) -> None:
    """The facts of another clip: more frames than there are."""
    tap = CollectTap(probe(odd / "plain.mp4"))
    report = decode(odd / "vfr.mp4", probe(odd / "plain.mp4"), [(TEN, tap)], [])[1]
    assert report.passes == 2
    assert tap.close().index.tolist() == select(TEN.sampling, probe(odd / "vfr.mp4").video.times).tolist()


def test_what_a_view_may_hold_is_bounded(odd: Path) -> None:
    """Also after a restart: what was held before it is let go and no longer counts."""
    info = probe(odd / "plain.mp4")
    (frames,), _ = collect(odd / "plain.mp4", TEN)
    tap = CollectTap(info, Limits(held_bytes=frames.data.nbytes))
    chunk = FrameChunk(frames.data, frames.index, frames.time)
    tap.push(chunk)
    tap.restart(info)
    tap.push(chunk)
    with pytest.raises(MediaError) as caught:
        tap.push(chunk)
    assert caught.value.code == "too_large"


def test_collect_tap_restarts() -> None:
    assert isinstance(CollectTap(ClipInfo("mov", None, None)), Restartable)
    assert not isinstance(WatchTap(), Restartable)


@pytest.mark.parametrize("seed", range(24))
def test_damage_anywhere_gives_frames_or_a_typed_error(odd: Path, tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    name = ["plain.mp4", "stream.ts", "whole.mkv", "h264.avi", "vp9.webm", "raw.h264"][seed % 6]
    data = bytearray((odd / name).read_bytes())
    for place in rng.integers(0, len(data), 40):
        data[place] = rng.integers(256)
    path = tmp_path / "damaged.bin"
    path.write_bytes(data)
    try:
        (found,), report = collect(path, View())
    except MediaError as error:
        assert error.code in {"corrupt", "incomplete", "not_media", "no_streams", "unsupported_codec", "too_large"}  # noqa: PT017
    else:
        assert report.clip is not None
        assert len(found.data) == report.clip.video.frames
        assert (np.diff(found.time) > 0).all()


# ---------------------------------------------------------------------------------------------------- costs

LONG_CLIP = """
import sys
from pathlib import Path
from evaluator.media.decode import CollectTap, decode
from evaluator.media.probe import probe
from evaluator.schema import *

class Count:
    frames = 0
    def push(self, chunk): self.frames += len(chunk.data)
    def close(self): return self.frames

path = Path(sys.argv[1])
info = probe(path)
native, gray = Count(), Count()
fifty = CollectTap(info)
taps = [(View(), native), (View(colour="gray"), gray), (View(Sampling("linspace", (50,)), Fit.SQUASH, 224, 224), fifty)]
decode(path, info, taps, [AudioView()])
assert native.close() == gray.close() == info.video.frames
assert fifty.close().data.shape == (50, 224, 224, 3)
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(info.video.duration, peak.split()[1])
"""


@pytest.mark.slow
def test_a_minute_of_1080p_stays_far_below_a_gigabyte(tmp_path: Path) -> None:
    path = tmp_path / "long.mp4"
    write_long(path)
    result = subprocess.run([sys.executable, "-c", LONG_CLIP, path], capture_output=True, text=True, check=True)
    duration, kilobytes = result.stdout.split()
    assert float(duration) == pytest.approx(60)
    assert int(kilobytes) < 400_000  # all frames at once would be 2.2 GB


def write_long(path: Path, seconds: int = 60, rate: int = 6) -> None:
    """A minute of 1080p; a low rate makes the test quick and changes nothing about what must not be held."""
    rng = np.random.default_rng(0)
    textures = [np.kron(rng.integers(0, 255, (34, 60, 3), np.uint8), np.ones((32, 32, 1), np.uint8)) for _ in range(4)]
    with av.open(str(path), "w") as output:
        video = output.add_stream("libx264", rate=rate, options={"preset": "ultrafast"})
        video.width, video.height, video.pix_fmt = 1920, 1080, "yuv420p"
        audio = output.add_stream("aac", rate=48_000, layout="stereo")
        for index in range(seconds * rate):
            frame = av.VideoFrame.from_ndarray(textures[index % 4][:1080], format="rgb24")
            output.mux(video.encode(frame))
        for begin in range(0, seconds * 48_000, 1024):
            sound = av.AudioFrame.from_ndarray(np.zeros((2, 1024), np.float32), format="fltp", layout="stereo")
            sound.sample_rate, sound.pts = 48_000, begin
            output.mux(audio.encode(sound))
        output.mux(video.encode(None))
        output.mux(audio.encode(None))


@pytest.mark.slow
def test_private_clips_decode_to_their_packet_table(shared: Path) -> None:
    for path in sorted((shared / "data" / "clips").glob("*.mp4")):
        tiny = View(ALL_FRAMES, Fit.SQUASH, 8, 8, Filter.FFMPEG_BICUBIC)
        (found,), report = collect(path, tiny)
        assert report.passes == 1
        assert len(found.data) == probe(path).video.frames
