"""DALI decodes the frames that PyAV decodes: the same ones, in the same order, in the same colours.

On the CPU, with the codecs that DALI's CPU build has. Needs `.venv-device`; the comparison of scalers also needs the
environment of the exporters, which has torch. What has never run here is a GPU: see `docker/gpu-check.md`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.media.decode import CollectTap
from evaluator.media.decode_device import decode_on
from evaluator.media.probe import probe
from evaluator.media.source_route import not_for_dali
from evaluator.media.steps import steps
from evaluator.media.types import ClipInfo, VideoInfo
from evaluator.schema import Filter, Fit, View
from tests.device import environment
from tests.runner.clips import clip

VIEWS = ("native", "short side", "crop", "letterbox", "gray linear", "slots")
CLIPS = ("vp9", "vp9 in mp4", "variable", "mjpeg", "bt709", "bt601")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dali")


@pytest.fixture(scope="module")
def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(environment.run("tests.device.dali_report", str(folder)))
    return found


@pytest.mark.parametrize("name", CLIPS)
def test_the_same_frames_come_in_the_same_order_for_every_view(report: dict[str, Any], name: str) -> None:
    found = report[name]
    assert found["notes"] == ["decoder dali"]
    assert found["passes"] == 1
    assert found["sound"]
    for view in VIEWS:
        assert found[view]["same"], view
    assert found["native"]["frames"] == 75
    assert found["slots"]["frames"] > 100  # a plan that repeats frames


@pytest.mark.parametrize("name", CLIPS)
def test_pixels_are_within_what_two_libraries_differ_by(report: dict[str, Any], name: str) -> None:
    assert report[name]["native"]["mean"] < 2.0  # how chroma is brought to full size
    for view in VIEWS[1:]:
        assert report[name][view]["psnr"] >= 40


def test_colours_are_as_near_to_what_was_drawn_as_the_reference_decoders(report: dict[str, Any]) -> None:
    for name in ("bt709", "bt601"):
        found = report["colours"][name]
        assert found["ours"] < found["pyav"] + 0.2
    assert report["colours"]["bt709"]["raw"] > 2 * report["colours"]["bt709"]["ours"]  # what the correction is for


def test_what_dali_cannot_decode_here_comes_from_pyav_to_the_bit(report: dict[str, Any]) -> None:
    assert report["h264"]["notes"] == ["decoder pyav: codec h264"]
    assert all(report["h264"][view]["mean"] == 0.0 for view in VIEWS)
    assert report["routes"] == {"cpu": "codec h264", "gpu": ""}


def test_a_clip_that_dali_gives_up_on_is_decoded_again_and_the_next_one_is_not_harmed(report: dict[str, Any]) -> None:
    [note] = report["broken"]["notes"]
    assert note.startswith("decoder pyav: bad.webm: DALI cannot decode it")
    assert "/" not in note  # no place of this machine
    assert report["broken"]["frames"] == 10
    assert report["broken"]["again"]


def test_the_graph_for_a_gpu_has_the_operators_that_ran_on_the_cpu(report: dict[str, Any]) -> None:
    assert report["graphs"]["gpu"] == report["graphs"]["cpu"]
    assert set(report["graphs"]["gpu"]) == {"decoders__Video", "CoordTransform", "Resize", "Slice"}


def test_seven_sources_read_side_by_side(report: dict[str, Any]) -> None:
    assert report["sessions"] == [list(range(k, 75, 7)) for k in range(7)]


def test_the_doctor_compares_every_kind_of_clip(report: dict[str, Any]) -> None:
    level, found = report["doctor"]["VP9 + Opus in WebM"]
    assert level == "ok"
    assert "decoder dali" in found
    level, found = report["doctor"]["pictures from DALI"]
    assert "stay in device memory for aesthetic_v25, " in found
    assert "blazeface" not in found
    assert report["doctor"]["H.264 + AAC in MP4"] == ["note", "decoded by PyAV: codec h264"]


def test_torch_scales_as_dali_does(report: dict[str, Any], folder: Path) -> None:
    environment.run_with_torch("tests.device.torch_report", str(folder))
    by_dali, by_torch = np.load(folder / "device.npz"), np.load(folder / "torch.npz")
    for name in (view.replace(" ", "_") for view in VIEWS):
        apart = np.abs(by_dali[name].astype(np.int64) - by_torch[name].astype(np.int64))
        assert apart.mean() <= 0.02, name
        assert apart.max() <= 14, name


# ------------------------------------------------------------------------------------ decided without any library


def facts(container: str = "mov,mp4,m4a,3gp,3g2,mj2", notes: tuple[str, ...] = (), **video: Any) -> ClipInfo:
    usual: dict[str, Any] = {
        "codec": "h264",
        "width": 64,
        "height": 48,
        "pixel_format": "yuv420p",
        "matrix": "bt709",
        "full_range": False,
        "rotation": 0,
        "sample_aspect": (1, 1),
        "times": np.arange(3.0),
        "duration": 3.0,
    }
    return ClipInfo(container, VideoInfo(**{**usual, **video}), None, notes)


def test_an_ordinary_clip_may_go_to_the_gpu() -> None:
    assert not_for_dali(facts(), "gpu") == ""
    assert not_for_dali(facts(codec="hevc", pixel_format="yuv420p10le"), "gpu") == ""


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        (facts(codec="prores"), "codec prores"),
        (facts(pixel_format="yuv444p"), "pixel format yuv444p"),
        (facts(pixel_format="yuv420p10le"), "pixel format yuv420p10le"),
        (facts(container="avi"), "container avi"),
        (facts(container="flv"), "container flv"),
        (facts(indexed_by="decode"), "frame times are not in the packets"),
        (facts(hidden=3), "an edit list hides frames"),
        (facts(interlaced=True), "interlaced"),
        (facts(rotation=90), "rotated"),
        (facts(matrix="bt2020"), "colour matrix bt2020"),
        (facts(notes=("truncated",)), "damaged"),
        (ClipInfo("mov", None, None), "no pictures"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_clip_that_the_decoder_would_get_wrong_does_not_go_there(info: ClipInfo, reason: str) -> None:
    assert not_for_dali(info, "gpu") == reason


class Nobody:
    """A source that must not be asked."""

    device = "cpu"


def test_sound_alone_needs_no_device(tmp_path: Path) -> None:
    info = probe(clip(tmp_path / "one.mp4", frames=6))
    _, report = decode_on(Nobody(), tmp_path / "one.mp4", info, [], [])  # type: ignore[arg-type]
    assert report.notes == ("decoder pyav: no pictures are wanted",)
    tap = CollectTap(info)
    _, report = decode_on(Nobody(), tmp_path / "one.mp4", info, [(View(), tap)], [])  # type: ignore[arg-type]
    assert report.notes == ("decoder pyav: codec h264",)
    assert len(tap.close().index) == 6


@pytest.mark.parametrize(
    ("view", "scaled", "crop", "border", "target"),
    [
        (View(), (1920, 1080), None, None, (1920, 1080)),
        (View(fit=Fit.SHORT_SIDE, height=256), (455, 256), None, None, (455, 256)),
        (View(fit=Fit.SHORT_SIDE_CROP, height=256, width=224), (455, 256), (16, 116), None, (224, 224)),
        (View(fit=Fit.LETTERBOX, height=100, width=100), (100, 56), None, (22, 0), (100, 100)),
        (View(fit=Fit.SQUASH, height=224, width=224), (224, 224), None, None, (224, 224)),
    ],
    ids=lambda value: "",
)
def test_steps_are_the_sizes_of_the_reference_path(
    view: View, scaled: Any, crop: Any, border: Any, target: Any
) -> None:
    how = steps(view, 1920, 1080)
    assert (how.scaled, how.crop, how.border, how.target) == (scaled, crop, border, target)
    assert how.resizes == (scaled != (1920, 1080))


def test_an_area_filter_is_an_antialiased_triangle_on_a_device() -> None:
    how = steps(View(fit=Fit.SQUASH, height=27, width=48, filter=Filter.FFMPEG_AREA, antialias=False), 640, 360)
    assert (how.kernel, how.antialias) == ("linear", True)
