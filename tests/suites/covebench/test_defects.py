"""The specification's list of pitfalls in the reference code (section 10): what we do about each of the fifteen.

Some are tested beside the code that they concern; `ELSEWHERE` says where, and every number is somewhere.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path

import av
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from evaluator.experts.cotracker import CoTracker
from evaluator.experts.lk_tracks import LkTracks
from evaluator.media.sampling import select
from evaluator.metrics import msm, ssim
from evaluator.metrics.base import Metric
from evaluator.metrics.views import GRAY_224, TEN_FRAMES
from evaluator.schema import ExpertNeed, Fit, FramesNeed, Sampling
from evaluator.suites.covebench import SUITE, aes, src
from evaluator.suites.covebench.boards import boards
from evaluator.suites.covebench.layout import importer
from evaluator.suites.covebench.motion_fidelity import FRAMES
from tests.experts.pictures import view_of
from tests.metrics.build import gray
from tests.runner.clips import clip
from tests.suites.covebench.judging import GROUPS, case_of, execution, group, judged, kept, saying
from tests.suites.covebench.onnx_files import mount
from tests.test_cli import Cli, cli, records, write  # noqa: F401  (fixture)

HERE = "tests.suites.covebench"
ELSEWHERE = {
    1: (
        f"{HERE}.test_tally:test_defect_1_the_reference_lets_a_failing_judge_raise_uas_and_we_do_not",
        f"{HERE}.test_failing_judge:test_no_score_rises",
        f"{HERE}.test_failing_judge:test_the_table_also_shows_what_the_reference_would_say",
    ),
    2: (f"{HERE}.test_judged:test_answers_that_the_reference_does_not_understand",),
    3: (f"{HERE}.test_rules:test_worth_of_an_answer",),
    4: (
        f"{HERE}.test_automated_mf:test_known_defect_identical_still_clips_have_one_half_unless_strict",
        f"{HERE}.test_automated_mf:test_strict_still_blames_an_edit_that_rests_where_the_source_moves",
        f"{HERE}.test_automated_mf:test_reversed_motion_may_be_negative",
    ),
    8: (
        "tests.experts.test_sam2:test_known_defect_compat_begins_every_object_on_frame_0",
        "tests.experts.test_dinov2_small:test_the_pictures_are_those_of_the_masks_or_in_compat_a_stride",
        "tests.experts.test_dinov2_small:test_outside_the_mask_is_black",
        f"{HERE}.test_automated_src:test_known_defect_the_worst_edits_drop_out_unless_strict",
    ),
    11: (
        f"{HERE}.test_automated_vqr:test_known_defect_compat_draws_with_a_seed_of_its_own_per_task_and_frame",
        f"{HERE}.test_automated_quality:test_known_defect_the_seed_follows_from_the_task_alone",
    ),
    12: (
        "tests.experts.test_dover_technical:test_known_defect_the_reference_sees_the_top_left_of_a_small_clip",
        f"{HERE}.test_automated_quality:test_compat_lays_patches_on_the_size_before_enlarging",
    ),
    14: (f"{HERE}.test_layout:test_defect_14_sources_and_outputs_are_matched_before_anything_is_cut_off",),
}


def test_every_pitfall_of_the_list_has_a_test() -> None:
    own = {int(found[1]) for name in globals() if (found := re.match(r"test_defect_(\d+)_", name))}
    assert own | set(ELSEWHERE) == set(range(1, 16))
    for place in (place for places in ELSEWHERE.values() for place in places):
        module, name = place.split(":")
        assert inspect.isfunction(getattr(importlib.import_module(module), name)), place


def in_profile(name: str, profile: str) -> Metric:
    return next(metric for metric in SUITE.metrics_of(case_of(), profile) if metric.id == name)


TEXTURE = gaussian_filter(np.random.default_rng(0).uniform(size=(96, 400)), 3)
TEXTURE = ((TEXTURE - TEXTURE.min()) / np.ptp(TEXTURE) * 255).astype(np.uint8)


def stretched(path: Path, width: int) -> Path:
    """A pan over a texture, 96 pixels of it, shown `width` pixels wide."""
    with av.open(path, "w") as container:
        stream = container.add_stream("libx264", 25, options={"crf": "1"})
        stream.width, stream.height, stream.pix_fmt = width, 96, "yuv420p"
        for index in range(30):
            picture = np.repeat(TEXTURE[:, 2 * index : 2 * index + 96], width // 96, axis=1)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), "gray8")))
        container.mux(stream.encode(None))
    return path


def test_defect_05_aspect_ratios_are_squashed_in_every_profile(tmp_path: Path) -> None:
    """Kept: it is the definition. An edit that is stretched to twice the width loses next to nothing."""
    for profile in SUITE.profiles:
        for name in ("msm", "ssim"):
            views = [need.view for need in in_profile(name, profile).needs_for(case_of()).values()]  # type: ignore[union-attr]
            assert {view.fit for view in views} == {Fit.SQUASH}
    tracks = ExpertNeed("point_tracks", ("video",), FRAMES)
    need = CoTracker(None).needs(tracks)["frames"]  # type: ignore[arg-type]
    assert isinstance(need, FramesNeed)
    assert need.view.fit is LkTracks(None).view(tracks).fit is Fit.SQUASH  # type: ignore[arg-type]
    narrow, wide = (view_of(stretched(tmp_path / f"{width}.mp4", width), GRAY_224) for width in (96, 192))
    assert narrow.data.shape == wide.data.shape
    assert ssim.METRIC.compute(output=wide, source=narrow).value > 0.97
    smooth = [msm.METRIC.compute(frames=one).value for one in (narrow, wide)]
    assert smooth[0] == pytest.approx(smooth[1], abs=0.02)


def test_defect_06_large_steps_between_samples_are_not_followed() -> None:
    """Kept: it is the definition. The same even pan is called rough once its steps are long; a still is 0.9999."""
    canvas = gaussian_filter(np.random.default_rng(0).uniform(size=(224, 1400)), 2)
    canvas = ((canvas - canvas.min()) / np.ptp(canvas) * 255).astype(np.uint8)

    def pan(step: int) -> float:
        frames = np.stack([canvas[:, step * at : step * at + 224] for at in range(10)])
        return msm.METRIC.compute(frames=gray(frames)).value

    slow, fast, still = pan(3), pan(120), pan(0)
    assert slow > 0.95
    assert fast < 0.8
    assert 0.999 < still <= 1.0


def test_defect_07_frames_are_paired_by_their_place_and_not_by_their_time() -> None:
    """Kept: it is the definition. Slow motion of a clip is the clip itself; a clip that goes on is another one."""
    source = np.stack([TEXTURE[:, 3 * at : 3 * at + 96] for at in range(50)])
    longer = np.stack([TEXTURE[:, 3 * at : 3 * at + 96] for at in range(100)])

    def paired(edit: np.ndarray) -> float:
        sides = [one[select(TEN_FRAMES, np.arange(len(one)) / 25)] for one in (edit, source)]
        return ssim.METRIC.compute(output=gray(sides[0]), source=gray(sides[1])).value

    assert paired(source) == 1.0
    assert paired(np.repeat(source, 2, axis=0)) > paired(longer) + 0.2  # each moment twice; each moment once, and more


@pytest.mark.parametrize(
    ("rate", "step", "late"),
    [
        (25, 12, 0.62),
        (15, 8, 1.033),
        (24, 12, 0.0),
        (30, 15, 0.0),
        (50, 25, 0.0),
        (60, 30, 0.0),
        (30000 / 1001, 15, 0.016),
    ],
)
def test_defect_08_the_reference_pairs_masks_with_pictures_of_other_times(rate: float, step: int, late: float) -> None:
    """Ours are of the same frames; compat takes the reference's, whose drift after 31 steps the spec has measured."""
    times = np.arange(int(20 * rate)) / rate
    strided = select(Sampling("stride_head", (2, 32)), times)
    assert np.diff(strided).tolist() == [step] * 31
    assert abs(times[strided[31]] - 31 / 2) == pytest.approx(late, abs=0.0015)
    for metric, own in ((src.METRIC, {}), (src.STRICT, {}), (src.COMPAT, {"box_frame": "first", "pictures": "stride"})):
        need = metric.needs_for(case_of(data={"entities": ["dog"]}))["similarity"]
        assert isinstance(need, ExpertNeed)
        assert {name: value for name, value in need.options if name != "phrases"} == own


def test_defect_08_values_are_pushed_up_in_every_profile() -> None:
    """Kept: it is the definition. Things that have nothing in common are half alike."""
    from tests.suites.covebench.test_automated_src import case, similarity

    for metric in (src.METRIC, src.COMPAT, src.STRICT):
        assert metric.compute(case=case(["dog"]), similarity=similarity([0.0, 0.0])).value == 0.5


def test_defect_09_a_result_belongs_to_its_clip_and_not_to_its_name(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    """The reference caches by task: in a used folder, another model gets the scores of the one before."""
    for seed, name in enumerate(("source", "edit")):
        clip(tmp_path / f"{name}.mp4", seed=seed, frames=20, sound=False)
    mount(tmp_path / "models")
    data = {"task": 9001, "entities": ["red car"]}
    write(
        tmp_path / "m.jsonl",
        [{"id": "9001", "suite": "covebench", "video": "edit.mp4", "source": "source.mp4", "data": data}],
    )
    arguments = ("--manifest", tmp_path / "m.jsonl", "--out", tmp_path / "out", "--models", tmp_path / "models")
    values = []
    for profile in ("paper", "compat"):
        clip(tmp_path / "edit.mp4", seed=1, frames=20, sound=False)
        cli(*arguments, "--metrics", "src", "--profile", profile, "--fresh")
        (tmp_path / "edit.mp4").write_bytes((tmp_path / "source.mp4").read_bytes())  # the next model's output
        told = cli(*arguments, "--metrics", "src", "--profile", profile)
        assert "from an earlier run" not in told.err
        values += [records(tmp_path / "out")[0]["value"]]
    assert "(1 from an earlier run)" in cli(*arguments, "--metrics", "src", "--profile", "compat").err
    assert values == pytest.approx([1.0, 1.0])


def test_defect_10_a_source_is_found_by_its_name_and_looked_at_once(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    """An early version did not find sources by basename, and its masks are not there: they are made once per source."""
    for seed, name in enumerate(("mixkit-1.mp4", "a/1.mp4", "b/1.mp4")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        clip(tmp_path / name, seed=seed, frames=20, sound=False)
    cached = tmp_path / "cache" / "1" / "metadata.json"
    cached.parent.mkdir(parents=True)
    cached.write_text(json.dumps({"entities": [{"description": "red car"}]}))
    task = {
        "id": 1,
        "editing_instruction": "Edit.",
        "evaluation_groups": GROUPS,
        "videoA_path": "data/videos/mixkit-1.mp4",
    }
    (tmp_path / "checklist.json").write_text(json.dumps([task]))
    lines = [importer(tmp_path, system, {"entities": "cache"}).lines[0] for system in ("a", "b")]
    assert [line["source"] for line in lines] == ["mixkit-1.mp4"] * 2
    mount(tmp_path / "models")
    write(tmp_path / "m.jsonl", [dict(line) for line in lines])
    told = cli(
        "--manifest",
        tmp_path / "m.jsonl",
        "--out",
        tmp_path / "out",
        "--models",
        tmp_path / "models",
        "--metrics",
        "src",
    )
    assert told.code == 0, told.err
    assert [row["status"] for row in records(tmp_path / "out")] == ["ok", "ok"]
    counters = json.loads((tmp_path / "out" / "run.json").read_text())["telemetry"]["counters"]
    assert counters["decode_passes"] == 3  # two edits and their one source


def test_defect_13_a_container_that_promises_too_many_frames_costs_the_last_one_in_compat_only() -> None:
    """AES of the reference takes ten of the promised frames; one that cannot be read drops out of the mean."""
    times = np.arange(100) / 25
    paper, compat = (in_profile("aes", profile).needs["aesthetics"] for profile in ("paper", "compat"))
    assert in_profile("aes", "strict") is aes.METRIC
    assert isinstance(paper, ExpertNeed)
    assert isinstance(compat, ExpertNeed)
    assert paper.sampling is not None
    assert compat.sampling is not None
    assert select(paper.sampling, times, promised=103).tolist() == [0, 11, 22, 33, 44, 55, 66, 77, 88, 99]
    assert select(compat.sampling, times, promised=103).tolist() == [0, 11, 23, 34, 45, 57, 68, 79, 91]
    assert select(compat.sampling, times, promised=100).tolist() == select(paper.sampling, times).tolist()


def test_defect_15_a_group_need_not_have_a_category(tmp_path: Path) -> None:
    """Neither what stays nor an edit: such an edit counts everywhere but in the tables by category."""
    groups = [group(execution("Q1")), group(execution("Q2"), level1="Subject"), group(kept("Q3"))]
    assert ["category" in one for one in groups] == [False, True, False]
    case = case_of(groups)
    for profile in SUITE.profiles:
        found = judged(case, saying({"Q1": "No", "Q2": "Yes", "Q3": 9}), tmp_path / profile, profile)
        assert found["uas"].value == 50.0
        table = {board.id: board for board in boards([case], list(found.values()))}
        row = dict(zip(table["main"].columns, table["main"].rows[0], strict=True))
        assert row["UAS"] == 50.0
        categories = [row for row in table["categories"].rows if "Subject" in map(str, row)]
        assert categories
        assert all(100.0 in row for row in categories)
