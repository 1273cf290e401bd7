"""Run in the environment that has DALI: decode clips both ways, and write what was found as JSON.

    python -m tests.device.dali_report FOLDER

Leaves `device.npz` in the folder: pictures made by DALI's scalers, for a comparison with torch's elsewhere.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import nvidia.dali.experimental.dynamic as dynamic
from nvidia.dali import Pipeline, fn, types

from evaluator.doctor import device
from evaluator.doctor.codecs import BITS, BLOCK, number, picture
from evaluator.media.decode import CollectTap, decode
from evaluator.media.decode_dali import BT709_FROM_BT601, DaliSource, apply, corrected
from evaluator.media.decode_device import decode_on
from evaluator.media.probe import probe
from evaluator.media.source_route import not_for_dali
from evaluator.media.steps import steps
from evaluator.media.types import U8, ClipInfo, Frames
from evaluator.runtime.engine_cache import EngineCache
from evaluator.schema import AudioView, View
from tests.device.views import VIEWS

FRAMES = 75


def moving(index: int) -> U8:
    """A numbered frame above a coloured texture that moves."""
    y, x = np.mgrid[:96, : BITS * BLOCK]
    lower = np.stack([(2 * x + 5 * index) % 256, 255 * y // 96, (x + y + 3 * index) % 256], -1).astype(np.uint8)
    lower[:32] = picture(index)[:32]
    return lower


def index_of(frame: U8) -> int:
    """The number that a frame carries in its upper third."""
    return number(frame[4:28])


def clip(path: Path, encoder: str, pixels: str, times: Sequence[int], matrix: str = "", sound: bool = False) -> Path:
    """Frames `moving` at `times` (in 1/50 s), tagged with a colour matrix if one is named."""
    options = (
        {"threads": "1", "crf": "12", "b": "0", "cpu-used": "5"} if "vp9" in encoder else {"threads": "1", "q": "2"}
    )
    with av.open(str(path), "w") as container:
        video: Any = container.add_stream(encoder, rate=50, options=options)
        video.width, video.height, video.pix_fmt = BITS * BLOCK, 96, pixels
        video.codec_context.time_base = Fraction(1, 50)
        if encoder == "mjpeg":
            video.codec_context.qscale = True
            video.codec_context.global_quality = 2 * 118
        wanted = {"bt709": 1, "bt601": 6}.get(matrix)
        if wanted:
            video.codec_context.colorspace, video.codec_context.color_range = wanted, 1
        audio: Any = container.add_stream("libopus", rate=48_000) if sound else None
        for index, time in enumerate(times):
            frame = av.VideoFrame.from_ndarray(moving(index), format="rgb24")
            if wanted:
                frame = frame.reformat(format=pixels, dst_colorspace=wanted, dst_color_range=1)
                frame.colorspace, frame.color_range = wanted, 1
            frame.pts, frame.time_base = time, Fraction(1, 50)
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        if audio is not None:
            for start in range(0, 48_000, 960):
                block = av.AudioFrame.from_ndarray(np.full((1, 960), 5000, np.int16), format="s16", layout="mono")
                block.sample_rate, block.pts = 48_000, start
                container.mux(audio.encode(block))
            container.mux(audio.encode(None))
    return path


STEADY = range(0, 2 * FRAMES, 2)
VARIABLE = np.cumsum([2 + (k % 3) for k in range(FRAMES)]).tolist()


def taps(info: ClipInfo) -> list[tuple[View, CollectTap]]:
    return [(view, CollectTap(info)) for view in VIEWS.values()]


def both(source: DaliSource, path: Path, audio: Iterable[AudioView] = ()) -> dict[str, Any]:
    """One clip by either way: are the same frames there, and how far apart are their pixels."""
    info = probe(path)
    ours, theirs = taps(info), taps(info)
    heard, report = decode_on(source, path, info, theirs, list(audio))
    wanted, _ = decode(path, info, ours, list(audio))
    found: dict[str, Any] = {"notes": report.notes, "passes": report.passes, "container": info.container}
    found["sound"] = all(np.array_equal(heard[view].samples, wanted[view].samples) for view in wanted)
    for name, (_, one), (_, other) in zip(VIEWS, theirs, ours, strict=True):
        found[name] = compared(one.close(), other.close())
    return found


def compared(one: Frames, other: Frames) -> dict[str, Any]:
    same = np.array_equal(one.index, other.index) and np.array_equal(one.time, other.time)
    apart = (
        np.abs(one.data.astype(np.int64) - other.data.astype(np.int64)) if one.data.shape == other.data.shape else None
    )
    right = one.data.shape[1] != 96 or [index_of(frame) for frame in one.data] == one.index.tolist()
    return {
        "frames": len(one.index),
        "same": bool(same and right),
        "mean": None if apart is None else float(apart.mean()),
        "psnr": None if apart is None else float(10 * np.log10(255**2 / max(1e-9, float((apart**2).mean())))),
    }


def operators(device: str, view: View, info: ClipInfo) -> list[str]:
    """The operators of a serialised graph that is built by the functions that also run eagerly. Needs no driver."""
    assert info.video is not None
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        encoded = fn.external_source(name="encoded", dtype=types.UINT8, ndim=1)
        index = fn.external_source(name="frames", dtype=types.INT32, ndim=1)
        place = "mixed" if device == "gpu" else "cpu"
        frames = fn.decoders.video(encoded, device=place, frames=index, pad_mode="none")
        frames = corrected(fn, types, frames, info.video, [weight for row in BT709_FROM_BT601 for weight in row])
        pipeline.set_outputs(apply(fn, types, frames, steps(view, info.video.width, info.video.height)))
    names = rb"decoders__Video|CoordTransform|ColorSpaceConversion|Resize|Slice"
    return [name.decode() for name in re.findall(names, pipeline.serialize())]


def colours(source: DaliSource, path: Path) -> dict[str, float]:
    """Mean distance from what was drawn: PyAV's, ours, and DALI's without the correction."""
    info = probe(path)
    assert info.video is not None
    drawn = np.stack([moving(index) for index in range(FRAMES)]).astype(np.float64)
    tap = CollectTap(info)
    decode(path, info, [(View(), tap)], [])
    ours = np.concatenate([source.host(part) for _, part in source.frames(path, info.video, np.arange(FRAMES))])
    raw = np.asarray(dynamic.decoders.video(dynamic.as_tensor(np.fromfile(path, np.uint8)), device="cpu"))
    named = {"pyav": tap.close().data, "ours": ours, "raw": raw}
    return {name: float(np.abs(data - drawn).mean()) for name, data in named.items()}


def main() -> None:
    """Decode, compare, write."""
    folder, source = Path(sys.argv[1]), DaliSource("cpu")
    clips = {
        "vp9": clip(folder / "vp9.webm", "libvpx-vp9", "yuv420p", STEADY, sound=True),
        "vp9 in mp4": clip(folder / "vp9.mp4", "libvpx-vp9", "yuv420p", STEADY),
        "variable": clip(folder / "variable.webm", "libvpx-vp9", "yuv420p", VARIABLE),
        "mjpeg": clip(folder / "mjpeg.mov", "mjpeg", "yuvj420p", STEADY),
        "bt709": clip(folder / "bt709.webm", "libvpx-vp9", "yuv420p", STEADY, "bt709"),
        "bt601": clip(folder / "bt601.webm", "libvpx-vp9", "yuv420p", STEADY, "bt601"),
    }
    found: dict[str, Any] = {
        name: both(source, path, [AudioView()] if name == "vp9" else []) for name, path in clips.items()
    }
    h264 = clip(folder / "h264.mp4", "libx264", "yuv420p", STEADY)
    found["h264"] = both(source, h264)
    found["routes"] = {device: not_for_dali(probe(h264), device) for device in ("cpu", "gpu")}
    info = probe(clips["bt709"])
    found["graphs"] = {device: operators(device, VIEWS["crop"], info) for device in ("cpu", "gpu")}
    found["colours"] = {name: colours(source, clips[name]) for name in ("bt709", "bt601")}
    found["broken"] = broken(source, clips["vp9"], folder)
    doctors = device.findings(EngineCache(folder / "none"), folder, "cpu")
    found["doctor"] = {finding.name: [str(finding.level), finding.found] for finding in doctors}
    found["sessions"] = sessions(clips["vp9"])
    np.savez(folder / "device.npz", **scaled(source, clips["vp9"]))
    json.dump(found, sys.stdout)


def broken(source: DaliSource, good: Path, folder: Path) -> dict[str, Any]:
    """Bytes that DALI cannot take, under facts that say it can; then the good clip again, with the same source."""
    info, bad = probe(good), folder / "bad.webm"
    bad.write_bytes(good.read_bytes())
    tap = CollectTap(info)
    refusing = Refusing()
    _, report = decode_on(refusing, bad, info, [(VIEWS["crop"], tap)], [])
    frames = tap.close()
    return {"notes": report.notes, "frames": len(frames.index), "again": both(source, good)["native"]["same"]}


class Refusing(DaliSource):
    """Hands out a chunk, then meets an index beyond the end, as a file does whose index promised too much."""

    def __init__(self) -> None:
        super().__init__("cpu")

    def frames(self, path: Path, video: Any, index: Any) -> Any:
        yield from super().frames(path, video, index[:3])
        yield from super().frames(path, video, np.array([10**6]))


def sessions(path: Path) -> list[list[int]]:
    """Seven sources at a time, each in the middle of its clip."""
    info = probe(path)
    open_ones = [DaliSource("cpu", threads=1).frames(path, info.video, np.arange(k, FRAMES, 7)) for k in range(7)]  # type: ignore[arg-type]
    seen: list[list[int]] = [[] for _ in open_ones]
    for _ in range(4):
        for place, reading in enumerate(open_ones):
            part = next(reading, None)
            if part is not None:
                seen[place] += [index_of(frame) for frame in np.asarray(part[1])]
    return seen


def scaled(source: DaliSource, path: Path) -> dict[str, np.ndarray]:
    """Whole frames, and what DALI makes of them for every view."""
    info = probe(path)
    assert info.video is not None
    [(_, frames)] = list(source.frames(path, info.video, np.array([0, 20, 40])))
    views = {
        name.replace(" ", "_"): source.host(source.pictures(frames, view, info.video)) for name, view in VIEWS.items()
    }
    return {"frames": source.host(frames), **views}


if __name__ == "__main__":
    main()
