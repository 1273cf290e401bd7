"""What fails, fails alone: sound leaves pictures as they are, pictures leave sound, one view leaves the others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import cv2
import numpy as np
import pytest
from av.error import FFmpegError

from evaluator.errors import EngineError, MediaError
from evaluator.media import jpeg_files
from evaluator.media.decode import CollectTap, Decoded, decode, decode_each
from evaluator.media.decode_dali import DaliSource
from evaluator.media.decode_device import decode_each_on
from evaluator.media.limits import LIMITS, Limits
from evaluator.media.probe import probe
from evaluator.media.swscale import Swscale
from evaluator.media.types import DecodeReport, Frames
from evaluator.schema import AudioView, Filter, Fit, Sampling, View
from tests.media.oddfiles import Clip, Sound, nine_channels

SMALL = View(fit=Fit.SQUASH, height=16, width=16)
TEN = View(Sampling("linspace", (10,)))
MONO, STEREO = AudioView(), AudioView(44_100, channels=2)


def looked(
    path: Path, views: Sequence[View], audio: Sequence[AudioView], limits: Limits = LIMITS
) -> tuple[dict[View, Frames], Decoded]:
    info = probe(path)
    taps = [(view, CollectTap(info)) for view in views]
    found = decode_each(path, info, taps, audio, limits)
    return {view: tap.close() for view, tap in taps if view not in found[1].lost}, found


def codes(report: DecodeReport) -> dict[Any, str]:
    return {view: getattr(error, "code", type(error).__name__) for view, error in report.lost.items()}


def same(one: Frames, other: Frames) -> bool:
    return one.data.tobytes() == other.data.tobytes() and np.array_equal(one.time, other.time)


@pytest.mark.parametrize("seconds", [0.25, 3.0], ids=["at its end", "on its way"])
def test_sound_that_cannot_be_converted_leaves_the_pictures_of_the_same_pass(tmp_path: Path, seconds: float) -> None:
    seen, (heard, report) = looked(nine_channels(tmp_path / "nine.mkv", seconds), [SMALL, TEN], [MONO, STEREO])
    wanted, _ = looked(nine_channels(tmp_path / "mute.mkv", mute=True), [SMALL, TEN], [])
    assert codes(report) == {MONO: "unsupported_sound", STEREO: "unsupported_sound"}
    assert "nine.mkv: FFmpeg cannot convert its sound format s16" in str(report.lost[MONO])
    assert heard == {}
    assert report.passes == 1
    assert all(same(seen[view], wanted[view]) for view in (SMALL, TEN))


def test_whoever_wants_all_or_nothing_is_told_what_is_lost(tmp_path: Path) -> None:
    path = nine_channels(tmp_path / "nine.mkv")
    info = probe(path)
    with pytest.raises(MediaError) as caught:
        decode(path, info, [(SMALL, CollectTap(info))], [MONO])
    assert caught.value.code == "unsupported_sound"


def test_one_format_that_cannot_be_made_leaves_the_other(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evaluator.media import audio

    kept = audio._Output.take

    def fails(self: Any, frame: Any) -> None:
        if self._channels == 2:
            raise FFmpegError(22, "no matrix")
        kept(self, frame)

    alone = decode(odd / "plain.mp4", probe(odd / "plain.mp4"), [], [MONO])[0][MONO]
    monkeypatch.setattr(audio._Output, "take", fails)
    _, (heard, report) = looked(odd / "plain.mp4", [], [MONO, STEREO])
    assert codes(report) == {STEREO: "unsupported_sound"}
    assert np.array_equal(heard[MONO].samples, alone.samples)


def test_too_much_sound_is_a_fault_of_the_sound(odd: Path) -> None:
    seen, (heard, report) = looked(odd / "long_sound.mp4", [SMALL], [MONO], Limits(seconds=2.5))
    assert codes(report) == {MONO: "too_large"}
    assert len(seen[SMALL].data) == 50
    assert heard == {}


def test_a_surprise_in_the_sound_is_one_of_the_sound(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evaluator.media.audio import Track

    def broken(self: Any, frame: Any, time: float) -> None:
        raise ZeroDivisionError("a rate of nought")

    monkeypatch.setattr(Track, "push", broken)
    seen, (_, report) = looked(odd / "plain.mp4", [SMALL], [MONO])
    assert codes(report) == {MONO: "ZeroDivisionError"}
    assert len(seen[SMALL].data) == 50


def test_pictures_that_cannot_be_converted_leave_the_sound(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = decode(odd / "plain.mp4", probe(odd / "plain.mp4"), [], [MONO])[0][MONO]

    def broken(self: Any, frame: av.VideoFrame) -> Any:
        raise FFmpegError(22, "no such scaler")

    monkeypatch.setattr(Swscale, "__call__", broken)
    _, (heard, report) = looked(odd / "plain.mp4", [SMALL, TEN], [MONO])
    assert codes(report) == {SMALL: "unsupported_picture", TEN: "unsupported_picture"}
    assert "plain.mp4: FFmpeg cannot convert its picture format yuv420p" in str(report.lost[TEN])
    assert np.array_equal(heard[MONO].samples, alone.samples)


def test_more_pictures_than_allowed_leave_the_sound(odd: Path) -> None:
    _, (heard, report) = looked(odd / "plain.mp4", [SMALL], [MONO], Limits(frames=49))
    assert codes(report) == {SMALL: "too_large"}
    assert len(heard[MONO].samples) >= 32_000


def test_a_view_that_fails_leaves_the_others(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    coarse = View(fit=Fit.SHORT_SIDE, height=32, filter=Filter.FFMPEG_JPEG)
    monkeypatch.setattr(jpeg_files.cv2, "imdecode", lambda *_: None)
    seen, (_, report) = looked(odd / "plain.mp4", [SMALL, coarse], [])
    assert codes(report) == {coarse: "unsupported_picture"}
    assert len(seen[SMALL].data) == 50


def test_a_view_that_fails_is_not_asked_for_again_in_a_second_pass(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    coarse = View(fit=Fit.SHORT_SIDE, height=32, filter=Filter.FFMPEG_JPEG)
    wanted, _ = looked(odd / "corrupt.mp4", [SMALL], [])
    monkeypatch.setattr(jpeg_files.cv2, "imdecode", lambda *_: None)
    seen, (_, report) = looked(odd / "corrupt.mp4", [coarse, SMALL], [])
    assert (report.passes, codes(report)) == (2, {coarse: "unsupported_picture"})
    assert same(seen[SMALL], wanted[SMALL])


@pytest.mark.parametrize(("width", "height"), [(20_000, 1), (1, 20_000)])
def test_a_picture_too_narrow_for_one_view_is_no_gigapixel_and_serves_the_others(
    tmp_path: Path, width: int, height: int
) -> None:
    cv2.imwrite(str(tmp_path / "thin.png"), np.zeros((height, width, 3), np.uint8))
    tall = View(fit=Fit.SHORT_SIDE_CROP, height=224, width=224)
    seen, (_, report) = looked(tmp_path / "thin.png", [tall, SMALL], [])
    assert codes(report) == {tall: "too_large"}
    assert seen[SMALL].data.shape == (1, 16, 16, 3)


@pytest.mark.parametrize(
    ("name", "kind", "wrong"),
    [
        ("clip.mkv", "audio", (b"A_AAC", b"A_XYZ")),
        ("clip.mkv", "video", (b"V_MPEG4/ISO/AVC", b"V_MPEG9/ISO/AVC")),
        ("clip.mp4", "video", (b"avc1", b"xxxx")),
    ],
)
def test_a_codec_that_nobody_knows_leaves_the_other_stream(
    tmp_path: Path, name: str, kind: str, wrong: tuple[bytes, bytes]
) -> None:
    path = Clip(name, sound=Sound()).write(tmp_path)
    wanted, (whole, _) = looked(path, [SMALL], [MONO])
    path.write_bytes(path.read_bytes().replace(*wrong))
    info = probe(path)
    (damage,) = info.damaged
    assert damage[:2] == (kind, "unsupported_codec")
    assert f"its {kind} stream has a codec" in damage[2]
    if kind == "audio":
        assert info.audio is None
        assert same(looked(path, [SMALL], [])[0][SMALL], wanted[SMALL])
    else:
        assert info.video is None
        heard = decode(path, info, [], [MONO])[0][MONO]
        assert np.array_equal(heard.samples, whole[MONO].samples)


def test_a_file_of_nothing_but_a_codec_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    path = Clip("mute.mp4").write(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"avc1", b"xxxx"))
    with pytest.raises(MediaError, match=r"mute\.mp4: its video stream has a codec") as caught:
        probe(path)
    assert caught.value.code == "unsupported_codec"


def test_sound_in_more_packets_than_allowed_leaves_the_pictures(odd: Path) -> None:
    info = probe(odd / "plain.mp4", Limits(frames=60))  # 50 pictures, 94 packets of sound
    assert [damage[:2] for damage in info.damaged] == [("audio", "too_large")]
    assert info.audio is None
    assert info.notes == ()
    assert info.video == replace(probe(odd / "plain.mp4").video, times=info.video.times, keys=info.video.keys)


@pytest.mark.parametrize("packet", [24, 59])
def test_what_a_damaged_sound_becomes_does_not_depend_on_whether_pictures_are_wanted(
    odd: Path, tmp_path: Path, packet: int
) -> None:
    """A packet that runs on into others has FFmpeg's AAC decoder hand out frames that it did not write: they hold what
    lay in their memory before, and which memory that is depends on when earlier frames were let go.
    """
    data = bytearray((odd / "plain.mp4").read_bytes())
    sizes = data.rindex(b"stsz") + 4 + 4 + 4 + 4  # of the sound's packets: behind version, common size and count
    data[sizes + 4 * packet : sizes + 4 * packet + 4] = (9000).to_bytes(4)
    path = tmp_path / "long_packet.mp4"
    path.write_bytes(data)
    alone = looked(path, [], [MONO])[1][0][MONO]
    beside = looked(path, [SMALL], [MONO])[1][0][MONO]
    assert np.array_equal(alone.samples, beside.samples)


# ------------------------------------------------------------------------------------------------ on a device


class Dali:
    """A source that makes grey pictures of what it is asked for, or fails."""

    device = "gpu"
    keep = None

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def frames(self, path: Path, video: Any, index: Any) -> Any:
        yield index, np.full((len(index), video.height, video.width, 3), 7, np.uint8)

    def pictures(self, frames: Any, view: View, video: Any) -> Any:
        if self._error is not None:
            raise self._error
        return frames[:, :16, :16]

    def host(self, tensor: Any) -> Any:
        return tensor


def on_dali(path: Path, source: Dali) -> tuple[CollectTap, Decoded]:
    info = probe(path)
    tap = CollectTap(info)
    return tap, decode_each_on(source, path, info, [(SMALL, tap)], [MONO])  # type: ignore[arg-type]


def test_on_a_device_too_sound_leaves_the_pictures(tmp_path: Path) -> None:
    tap, (_, report) = on_dali(nine_channels(tmp_path / "nine.mkv"), Dali())
    assert report.notes[0] == "decoder dali"
    assert codes(report) == {MONO: "unsupported_sound"}
    assert (tap.close().data == 7).all()


def test_on_a_device_a_surprise_in_the_pictures_leaves_the_sound(odd: Path) -> None:
    _, (heard, report) = on_dali(odd / "plain.mp4", Dali(RuntimeError("a kernel fell over")))
    assert codes(report) == {SMALL: "RuntimeError"}
    assert len(heard[MONO].samples) >= 32_000


def test_on_a_device_a_missing_prerequisite_ends_the_pass(odd: Path) -> None:
    with pytest.raises(EngineError):
        on_dali(odd / "plain.mp4", Dali(EngineError("no memory")))


def test_pictures_that_dali_cannot_scale_are_left_to_the_other_decoder(odd: Path) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise RuntimeError("Error in GPU operator `Resize`\nthe output is too large")

    source = object.__new__(DaliSource)
    source._context, source._types = nullcontext(), SimpleNamespace(INTERP_CUBIC=0)
    source._dynamic = SimpleNamespace(resize=refuses)
    video = probe(odd / "plain.mp4").video
    assert video is not None
    with pytest.raises(MediaError, match=r"DALI cannot scale the pictures: .*the output is too large") as caught:
        source.pictures(np.zeros((1, 64, 96, 3), np.uint8), SMALL, video)
    assert caught.value.code == "unsupported_picture"
