"""`check`: every distinct file is opened once, bad ones are named with the line of their first use."""

from __future__ import annotations

import json
import wave
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from evaluator.manifest import check as module
from evaluator.manifest import read
from evaluator.manifest.check import Facts, check
from evaluator.media.probe import probe
from tests.media.oddfiles import Clip, Sound

FRAMES, RATE = 12, 6


def write_clip(path: Path, sound: bool = False) -> None:
    """FRAMES gray pictures at RATE per second, with as much silence if asked for."""
    with av.open(path, "w") as out:
        video = out.add_stream("mpeg4", rate=RATE)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        audio = out.add_stream("aac", rate=16_000, layout="mono") if sound else None
        for index in range(FRAMES):
            gray = np.full((72, 64), 10 * index, np.uint8)
            out.mux(video.encode(av.VideoFrame.from_ndarray(gray, format="yuv420p")))
        out.mux(video.encode(None))
        if audio is not None:
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 32_000), np.float32), format="fltp", layout="mono")
            frame.rate = 16_000
            out.mux([*audio.encode(frame), *audio.encode(None)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_clip(tmp_path / "silent.mp4")
    write_clip(tmp_path / "loud.mp4", sound=True)
    Image.new("RGB", (8, 6)).save(tmp_path / "face.png")
    with wave.open(str(tmp_path / "voice.wav"), "wb") as out:
        out.setparams((1, 2, 8000, 8000, "NONE", ""))
        out.writeframes(bytes(16_000))
    (tmp_path / "broken.mp4").write_bytes(b"no clip at all")
    (tmp_path / "broken.png").write_bytes((tmp_path / "face.png").read_bytes()[:40])
    return tmp_path


def checked(folder: Path, *cases: dict[str, Any]) -> module.Report:
    """What `check` says of a manifest of these cases."""
    path = folder / "m.jsonl"
    rows = [json.dumps({"id": str(index), "suite": "core", **case}) for index, case in enumerate(cases)]
    path.write_text("\n\n".join(rows))
    return check(read(path, suites={"core": None}))


def reference(kind: str, path: str) -> dict[str, Any]:
    return {"video": "loud.mp4", "references": [{"kind": kind, "path": path}]}


def test_facts_count_every_file_once(folder: Path) -> None:
    report = checked(
        folder,
        {"video": "loud.mp4", "source": "silent.mp4"},
        {"video": "silent.mp4", "source": "silent.mp4"},
        reference("image", "face.png"),
        reference("audio", "voice.wav"),
        reference("video", "silent.mp4"),
    )
    assert report.problems == ()
    assert report.facts == Facts(
        clips=2, images=1, with_sound=1, without_sound=1, sounds=1, frames=2 * FRAMES, seconds=report.facts.seconds
    )
    assert report.facts.seconds == pytest.approx(2 + 2 + 1, abs=0.1)


def test_every_file_is_opened_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr(module, "probe", lambda path: (opened.append(path.name), probe(path))[1])
    checked(folder, {"video": "loud.mp4", "source": "silent.mp4"}, reference("audio", "loud.mp4"))
    assert sorted(opened) == ["loud.mp4", "silent.mp4"]


def test_a_broken_clip_is_named_at_its_first_use_and_hides_nothing(folder: Path) -> None:
    report = checked(folder, {"video": "loud.mp4", "source": "broken.mp4"}, {"video": "broken.mp4"})
    [problem] = report.problems
    assert problem.startswith(
        f"{folder}/m.jsonl:1: source: expected a clip with a video stream, found broken.mp4, which"
    )
    assert problem.isprintable()
    assert report.facts.clips == 1


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ({"video": "voice.wav"}, "video: expected a clip with a video stream, found voice.wav"),
        (
            reference("audio", "silent.mp4"),
            "references[0].path: expected a file with an audio stream, found silent.mp4, which holds video",
        ),
        (reference("image", "loud.mp4"), "references[0].path: expected a picture, found loud.mp4"),
        (
            reference("image", "broken.png"),
            "references[0].path: expected a picture, found broken.png, which cannot be used",
        ),
    ],
    ids=["sound as clip", "no sound", "clip as picture", "torn picture"],
)
def test_file_of_the_wrong_kind(folder: Path, case: dict[str, Any], expected: str) -> None:
    [problem] = checked(folder, {"video": "silent.mp4"}, case).problems
    assert problem.startswith(f"{folder}/m.jsonl:3: {expected}")


def test_a_clip_whose_sound_cannot_be_decoded_is_one(folder: Path) -> None:
    """What listens will fail, and a clip without sound is another thing."""
    path = Clip("strange.mkv", sound=Sound()).write(folder)
    path.write_bytes(path.read_bytes().replace(b"A_AAC", b"A_XYZ"))
    [problem] = checked(folder, {"video": "strange.mkv"}, {"video": "silent.mp4"}).problems
    assert "found strange.mkv, whose audio cannot be used (unsupported_codec: " in problem
    path = Clip("blind.mkv", sound=Sound()).write(folder)
    path.write_bytes(path.read_bytes().replace(b"V_MPEG4/ISO/AVC", b"V_MPEG9/ISO/AVC"))
    assert checked(folder, reference("audio", "blind.mkv")).problems == ()
    [problem] = checked(folder, {"video": "blind.mkv"}).problems
    assert "found blind.mkv, whose video cannot be used (unsupported_codec: " in problem


def test_problems_come_in_the_order_of_the_lines(folder: Path) -> None:
    report = checked(folder, reference("image", "broken.png"), {"video": "broken.mp4"})
    assert [problem.removeprefix(f"{folder}/").split(": ")[0] for problem in report.problems] == [
        "m.jsonl:1",
        "m.jsonl:3",
    ]
