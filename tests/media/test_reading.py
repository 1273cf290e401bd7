"""A file that the probe has looked through: opened once, and the same frames as from a file that is opened anew."""

from __future__ import annotations

import struct
from pathlib import Path

import av
import numpy as np
import pytest

from evaluator.errors import MediaError
from evaluator.media import container, reading
from evaluator.media.decode import CollectTap, decode
from evaluator.media.limits import Limits
from evaluator.media.probe import probe
from evaluator.media.reading import Reading
from evaluator.media.types import Audio, DecodeReport, Frames
from evaluator.schema import AudioView, View

FILES = (
    "plain.mp4 vfr.mkv bframes.avi stream.ts raw.h264 vp9.webm moving.gif one.mp4 edited.mp4 late_sound.mkv sound.m4a "
    "truncated.mkv corrupt.mp4 corrupt.ts"
)
SOUND = AudioView(missing="silence")


def everything(source: Path | Reading) -> tuple[Frames | None, Audio, DecodeReport]:
    """All pictures and the sound."""
    info = probe(source)
    taps = [(View(), CollectTap(info))] if info.video else []
    sounds, report = decode(source, info, taps, [SOUND])
    return taps[0][1].close() if taps else None, sounds[SOUND], report


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every file that PyAV opens from now on."""
    names: list[str] = []
    real = av.open
    monkeypatch.setattr(container.av, "open", lambda name, **how: (names.append(name), real(name, **how))[1])
    return names


def assert_same(found: tuple[Frames | None, Audio, DecodeReport], path: Path) -> None:
    pictures, heard, report = everything(path)
    assert np.array_equal(found[1].samples, heard.samples)
    assert (found[1].start, found[1].present) == (heard.start, heard.present)
    assert (found[2].passes, found[2].frames_decoded) == (report.passes, report.frames_decoded)
    assert found[2].notes == report.notes
    if pictures is not None:
        assert found[0] is not None
        assert np.array_equal(found[0].data, pictures.data)
        assert np.array_equal(found[0].time, pictures.time)


@pytest.mark.parametrize("name", FILES.split())
def test_a_probed_file_gives_what_a_fresh_one_gives(odd: Path, name: str) -> None:
    with Reading(odd / name) as file:
        found = everything(file)
    assert_same(found, odd / name)


def test_probe_and_pass_open_the_file_once(odd: Path, opened: list[str]) -> None:
    with Reading(odd / "plain.mp4") as file:
        everything(file)
    assert opened == [str(odd / "plain.mp4")]


def test_a_file_with_more_packets_than_fit_is_opened_again(
    odd: Path, monkeypatch: pytest.MonkeyPatch, opened: list[str]
) -> None:
    monkeypatch.setattr(reading, "KEPT", 2_000)
    with Reading(odd / "plain.mp4") as file:
        found = everything(file)
    assert opened == 2 * [str(odd / "plain.mp4")]
    assert_same(found, odd / "plain.mp4")


def element(name: str, *content: bytes) -> bytes:
    """One element of Matroska."""
    data = b"".join(content)
    return bytes.fromhex(name) + struct.pack(">Q", len(data) | 1 << 56) + data


def test_what_hangs_on_a_packet_takes_room_too(tmp_path: Path) -> None:
    """Matroska lets a block of 20 ms of sound carry as many bytes of something else as the file has."""
    sound = element("e1", element("b5", struct.pack(">d", 8000.0)), element("9f", b"\1"), element("6264", b"\x10"))
    names = element("d7", b"\1"), element("73c5", b"\1"), element("83", b"\2"), element("86", b"A_PCM/INT/LIT")
    track = element("ae", *names, sound)
    addition = element("75a1", element("a6", element("ee", b"\1"), element("a5", bytes(1 << 20))))
    block = element("a0", element("a1", b"\x81\0\0\0" + b"\1\0" * 160), addition)
    clusters = [element("1f43b675", element("e7", bytes([20 * number])), block) for number in range(3)]
    info = element("1549a966", element("2ad7b1", (10**6).to_bytes(4, "big")))
    path = tmp_path / "laden.mkv"
    path.write_bytes(
        element("1a45dfa3", element("4282", b"matroska"))
        + element("18538067", info, element("1654ae6b", track), *clusters)
    )
    with Reading(path) as file:
        probe(file)
        assert reading.KEPT - file._room > 2 << 20  # the first of three is decoded


def test_frames_can_be_had_as_often_as_one_asks(odd: Path) -> None:
    with Reading(odd / "plain.mp4") as file:
        probe(file)
        counts = [[stream.type for stream, _ in file.frames(*wanted)] for wanted in ((True, True), (True, False))]
    assert [one.count("video") for one in counts] == [50, 50]
    assert counts[0].count("audio") > 0 == counts[1].count("audio")


def test_a_reading_has_the_limits_that_it_was_given(odd: Path) -> None:
    with Reading(odd / "plain.mp4", Limits(frames=10)) as file, pytest.raises(MediaError) as caught:
        probe(file)
    assert caught.value.code == "too_large"


def test_nothing_is_opened_before_something_is_asked(tmp_path: Path) -> None:
    with Reading(tmp_path / "nowhere.mp4") as file, pytest.raises(MediaError) as caught:
        probe(file)
    assert caught.value.code == "missing"
