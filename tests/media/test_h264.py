"""The same frames give the same bytes of H.264: each time, and with the code of any processor."""

from __future__ import annotations

import ast
from fractions import Fraction
from io import BytesIO

import av
import numpy as np
import pytest

from evaluator.media import h264
from evaluator.media.h264 import H264, repeatable
from evaluator.media.types import U8
from tests.conftest import ROOT

FRAMES = 60


def texture() -> U8:
    """[FRAMES, 64, 96, 3] moving noise: where the fast code of the encoder was seen to differ between two codings."""
    noise = np.random.default_rng(0).integers(0, 256, (9, 96 + 2 * FRAMES, 3), np.uint8)
    plane = np.repeat(np.repeat(noise, 8, 0), 8, 1)[:64]
    return np.stack([plane[:, 2 * k : 2 * k + 96] for k in range(FRAMES)])


def coded(frames: U8, options: dict[str, str]) -> bytes:
    file = BytesIO()
    with av.open(file, "w", format="mp4", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream(H264, rate=25, options=options)
        stream.height, stream.width, stream.pix_fmt = frames.shape[1], frames.shape[2], "yuv420p"
        for number, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 25)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


@pytest.mark.parametrize("preset", ["veryfast", "medium"])
def test_every_coding_has_the_bytes_of_the_code_in_c(preset: str) -> None:
    frames, options = texture(), {"preset": preset, "crf": "23"}
    plain = coded(frames, {**options, "threads": "1", "x264-params": "asm=0"})
    assert {coded(frames, repeatable(options)) for _ in range(6)} == {plain}


def test_options_and_parameters_of_x264_are_kept() -> None:
    given = {"qp": "44", "threads": "4", "x264-params": "keyint=infinite:bframes=0"}
    found = repeatable(given)
    assert (found["qp"], found["threads"]) == ("44", "1")
    assert found["x264-params"].startswith("keyint=infinite:bframes=0:asm=")
    assert given["threads"] == "4"
    assert repeatable()["x264-params"].startswith("asm=")


def test_nothing_here_codes_h264_in_another_way() -> None:
    """Who names the encoder himself also chooses its code."""
    naming = {
        path.relative_to(ROOT / "evaluator").as_posix()
        for path in (ROOT / "evaluator").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Constant) and node.value == h264.H264
    }
    assert naming == {"media/h264.py", "doctor/codecs.py"}  # the doctor only tries whether it works here
