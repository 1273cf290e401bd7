"""Facts of odd files: exact times and counts, or a typed reason why there are none."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import av
import numpy as np
import pytest

from evaluator.errors import MediaError
from evaluator.media import container
from evaluator.media.limits import Limits
from evaluator.media.probe import probe
from evaluator.media.types import VideoInfo
from tests.media.oddfiles import FPS, HEIGHT, VFR, WIDTH, Clip

PLAIN = np.arange(50) / FPS


def video(odd: Path, name: str) -> VideoInfo:
    info = probe(odd / name).video
    assert info is not None
    return info


def full_decode(path: Path) -> int:
    with av.open(str(path)) as container:
        return sum(1 for _ in container.decode(video=0))


@pytest.mark.parametrize(
    ("name", "codec", "indexed_by"),
    [
        ("plain.mp4", "h264", "packets"),
        ("tenbit.mp4", "hevc", "packets"),
        ("full_chroma.mp4", "h264", "packets"),
        ("interlaced.mp4", "h264", "packets"),
        ("vp9.webm", "vp9", "packets"),
        ("av1.mp4", "libdav1d", "packets"),
        ("moving.gif", "gif", "packets"),
        ("whole.mkv", "h264", "packets"),
        ("bframes.avi", "mpeg4", "decode"),
        ("h264.avi", "h264", "decode"),
        ("raw.h264", "h264", "decode"),
    ],
)
def test_constant_rate(odd: Path, name: str, codec: str, indexed_by: str) -> None:
    info = video(odd, name)
    assert (info.codec, info.indexed_by) == (codec, indexed_by)
    assert np.allclose(info.times, PLAIN, atol=0.0011)
    assert info.duration == pytest.approx(2.0, abs=0.0011)
    assert info.rate == pytest.approx(FPS, rel=1e-3)
    assert (info.width, info.height, info.rotation, info.sample_aspect) == (WIDTH, HEIGHT, 0, (1, 1))
    assert probe(odd / name).notes == ()


@pytest.mark.parametrize("name", ["vfr.mp4", "vfr.mkv"])
def test_variable_rate(odd: Path, name: str) -> None:
    assert np.allclose(video(odd, name).times, np.array(VFR) / 1000, atol=1e-6)


def test_offset_is_kept(odd: Path) -> None:
    info = video(odd, "stream.ts")
    assert np.allclose(np.diff(info.times), 1 / FPS)
    assert info.times[0] > 0
    assert info.duration == pytest.approx(2.0)


def test_edit_list_hides_frames(odd: Path) -> None:
    info = video(odd, "edited.mp4")
    assert np.allclose(info.times, np.arange(40) / FPS)
    assert info.frames == full_decode(odd / "edited.mp4")


def test_one_frame(odd: Path) -> None:
    info = video(odd, "one.mp4")
    assert info.times.tolist() == [0.0]
    assert info.duration == pytest.approx(1 / FPS)


@pytest.mark.parametrize(("turn", "degrees"), [(90, 270), (180, 180), (270, 90)])
def test_rotation_is_clockwise_and_sizes_are_upright(odd: Path, turn: int, degrees: int) -> None:
    info = video(odd, f"turned{turn}.mp4")
    assert info.rotation == degrees
    assert (info.width, info.height) == ((WIDTH, HEIGHT) if turn == 180 else (HEIGHT, WIDTH))


@pytest.mark.parametrize(("degrees", "mirror"), [(45, False), (0, True), (90, True)])
def test_what_cannot_be_shown_upright_is_refused(tmp_path: Path, degrees: int, mirror: bool) -> None:
    class Tilted(Clip):
        def _pictures(self, output: av.container.OutputContainer) -> Iterator[av.Packet]:
            packets = super()._pictures(output)
            first = next(packets)
            output.streams.video[0].set_display_rotation(degrees, hflip=mirror)
            yield first
            yield from packets

    with pytest.raises(MediaError) as caught:
        probe(Tilted("tilted.mp4", frames=3).write(tmp_path))
    assert caught.value.code == "unsupported_rotation"


@pytest.mark.parametrize(
    ("name", "matrix", "full_range"),
    [
        ("plain.mp4", "bt601", False),
        ("bt709.mp4", "bt709", False),
        ("bt709_full.mp4", "bt709", True),
        ("bt601_full.mp4", "bt601", True),
        ("moving.gif", "rgb", True),
    ],
)
def test_colour_tags(odd: Path, name: str, matrix: str, full_range: bool) -> None:
    info = video(odd, name)
    assert (info.matrix, info.full_range) == (matrix, full_range)


def test_formats(odd: Path) -> None:
    assert video(odd, "tenbit.mp4").pixel_format == "yuv420p10le"
    assert video(odd, "full_chroma.mp4").pixel_format == "yuv444p"
    assert video(odd, "interlaced.mp4").interlaced
    assert not video(odd, "plain.mp4").interlaced
    assert (video(odd, "odd_size.mp4").width, video(odd, "odd_size.mp4").height) == (97, 63)


def test_audio_facts(odd: Path) -> None:
    info = probe(odd / "plain.mp4").audio
    assert info is not None
    assert (info.codec, info.rate, info.channels, info.start) == ("aac", 48_000, 2, 0.0)
    assert info.duration == pytest.approx(2.0, abs=0.03)
    late = probe(odd / "late_sound.mkv").audio
    assert late is not None
    assert late.start == pytest.approx(0.5)
    assert late.duration == pytest.approx(1.0, abs=0.002)
    assert probe(odd / "whole.mkv").audio is None


def test_audio_only(odd: Path) -> None:
    info = probe(odd / "sound.m4a")
    assert info.video is None
    assert info.audio is not None
    assert info.duration == pytest.approx(2.0, abs=0.03)


@pytest.mark.parametrize("name", ["truncated_faststart.mp4", "truncated.mkv"])
def test_early_end_that_still_plays(odd: Path, name: str) -> None:
    info = probe(odd / name)
    assert info.video is not None
    assert info.video.frames == full_frames_before_error(odd / name)
    assert "truncated: the header says 2.000 s" in info.notes[0]


def full_frames_before_error(path: Path) -> int:
    frames = 0
    with av.open(str(path)) as container:
        try:
            for packet in container.demux(video=0):
                frames += len(packet.decode())
        except av.error.InvalidDataError:
            frames += len(container.streams.video[0].decode(None))
    return frames


def test_damaged_packets_are_counted_by_decoding(odd: Path) -> None:
    info = video(odd, "corrupt.ts")
    assert info.indexed_by == "decode"
    assert info.frames < 50


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("absent.mp4", "missing"),
        ("plain.mp4/inside", "unreadable"),
        ("folder.mp4", "not_a_file"),
        ("empty.mp4", "empty"),
        ("text.mp4", "not_media"),
        ("playlist.mp4", "not_media"),
        ("concat.mp4", "not_media"),
        ("truncated.mp4", "incomplete"),
        ("huge.gif", "corrupt"),
    ],
)
def test_files_that_cannot_be_used(odd: Path, name: str, code: str) -> None:
    with pytest.raises(MediaError) as caught:
        probe(odd / name)
    assert caught.value.code == code
    assert str(odd / name) in str(caught.value)


def test_a_file_of_tiny_boxes_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gigabyte of them would keep a walk over all boxes busy for minutes, and none of them is a film."""
    path = tmp_path / "boxes.mp4"
    path.write_bytes(b"\0\0\0\x10ftypisom\0\0\0\0" + b"\0\0\0\x08free" * 50 + b"\0\0\1\0mdat")
    codes = []
    for most in (100, 50):
        monkeypatch.setattr(container, "BOXES", most)
        with pytest.raises(MediaError) as caught:
            probe(path)
        codes.append(caught.value.code)
    assert codes == ["incomplete", "corrupt"]


def test_a_fifo_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mp4")
    with pytest.raises(MediaError, match="not a regular file"):
        probe(tmp_path / "pipe.mp4")


@contextmanager
def without_privileges() -> Iterator[None]:
    """Permissions mean nothing to root: be nobody for a while."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_no_permission(odd: Path, tmp_path: Path) -> None:
    path = tmp_path / "secret.mp4"
    path.write_bytes((odd / "plain.mp4").read_bytes())
    path.chmod(0)
    with without_privileges(), pytest.raises(MediaError, match="read access") as caught:
        probe(path)
    assert caught.value.code == "unreadable"


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("plain.mp4", Limits(pixels=WIDTH * HEIGHT - 1)),
        ("plain.mp4", Limits(frames=49)),
        ("plain.mp4", Limits(seconds=1.9)),
        ("plain.mp4", Limits(total_pixels=50 * WIDTH * HEIGHT - 1)),
        ("bframes.avi", Limits(total_pixels=50 * WIDTH * HEIGHT - 1)),
        ("plain.mp4", Limits(packet_bytes_ratio=0.1, packet_bytes_slack=0)),
    ],
)
def test_limits(odd: Path, name: str, limits: Limits) -> None:
    with pytest.raises(MediaError) as caught:
        probe(odd / name, limits)
    assert caught.value.code == "too_large"


def test_limits_allow_what_they_name(odd: Path) -> None:
    size = WIDTH * HEIGHT
    limits = Limits(pixels=size, frames=100, seconds=2.0, total_pixels=50 * size)
    assert probe(odd / "plain.mp4", limits).video is not None


def test_a_gigapixel_header_costs_no_memory(odd: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(MediaError):
        probe(odd / "huge.gif")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes


def test_private_clips(shared: Path) -> None:
    clips = sorted((shared / "data" / "clips").glob("*.mp4"))
    assert clips
    for path in clips:
        info = probe(path).video
        assert info is not None
        assert info.indexed_by == "packets"
        assert info.frames == full_decode(path)
