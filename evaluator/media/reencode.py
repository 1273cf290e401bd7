"""A short clip through H.264 and AAC and back, in memory: what a script does that brings clips to one form by FFmpeg.

AVE-Compass 4.4 (profile compat): before Synchformer the published code re-encodes to 25 frames a second and 16 kHz with
the default settings of FFmpeg's encoders, which are those here: libx264 (CRF 23, preset medium) and AAC, which takes
69 kbit/s for a channel.

Pictures come here as RGB and sound as one channel, where the command line codes the decoder's planes and all channels:
a rounding of chroma, and a downmix before the coding instead of after it (two channels would get 128 kbit/s), are what
is left of a difference. Pictures are coded the same everywhere (`evaluator.media.h264`); FFmpeg's AAC and its scaler
choose their code by the processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from typing import Final

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.error import FFmpegError
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from evaluator.errors import MediaError
from evaluator.media.h264 import H264, repeatable
from evaluator.media.types import F32, I16, U8

PICTURES: Final = H264
SOUND: Final = "aac"
LOOKAHEAD = 50
"""Frames after a frame that its coding can depend on: 40 of the rate control, three of reordering, and a margin."""


def reencoded(frames: U8, samples: I16, fps: int, rate: int) -> tuple[U8, F32]:
    """(frames [N, H, W, 3] RGB, samples [T] in -1..1) of RGB frames [N, H, W, 3] and sound [T] that begins with them.

    Odd sides lose their last line. Sound grows by what fills its last packet; without samples there is none.
    Raises MediaError `unsupported_codec` where the encoders are missing, `corrupt` where they fail.
    """
    if not {PICTURES, SOUND} <= av.codecs_available:
        raise MediaError("unsupported_codec", f"this PyAV is built without {PICTURES} or {SOUND}")
    height, width = frames.shape[1] // 2 * 2, frames.shape[2] // 2 * 2
    file = BytesIO()
    try:
        with av.open(file, "w", format="mp4") as container:
            _write(container, frames[:, :height, :width], samples, fps, rate)
        return _pictures(file), _sound(file) if len(samples) else np.zeros(0, np.float32)
    except FFmpegError as error:
        raise MediaError("corrupt", f"a clip of {width} x {height} cannot be coded again: {error.strerror}") from error


def _write(container: OutputContainer, frames: U8, samples: I16, fps: int, rate: int) -> None:
    pictures = container.add_stream(PICTURES, rate=fps, options=repeatable())
    assert isinstance(pictures, VideoStream)  # noqa: S101  (it codes pictures)
    pictures.height, pictures.width, pictures.pix_fmt = *frames.shape[1:3], "yuv420p"
    sound = container.add_stream(SOUND, rate=rate, layout="mono") if len(samples) else None
    for picture in _stamped(frames, fps):
        container.mux(pictures.encode(picture))
    container.mux(pictures.encode(None))
    if isinstance(sound, AudioStream):
        heard = AudioFrame.from_ndarray(samples[None], format="s16", layout="mono")
        heard.rate, heard.pts, heard.time_base = rate, 0, Fraction(1, rate)
        container.mux(sound.encode(heard))
        container.mux(sound.encode(None))


def _stamped(frames: U8, fps: int) -> Iterator[VideoFrame]:
    for number, picture in enumerate(frames):
        frame = VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        frame.pts, frame.time_base = number, Fraction(1, fps)
        yield frame


def _pictures(file: BytesIO) -> U8:
    file.seek(0)
    with av.open(file, "r") as container:
        shown = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    return np.asarray(np.stack(shown), np.uint8)


def _sound(file: BytesIO) -> F32:
    """The first packet's delay is skipped, as the file says."""
    file.seek(0)
    with av.open(file, "r") as container:
        heard = [frame.to_ndarray()[0] for frame in container.decode(audio=0)]
    return np.asarray(np.concatenate(heard), np.float32)
