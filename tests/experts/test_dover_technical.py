"""Fragments of known pictures, and the contract of the DOVER++ expert, on a session without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.dover_technical import EXPERT, FILE, LENGTH, RUNS, SIDE, enlarge, enlarged, stitched
from evaluator.experts.features import TechnicalQuality
from evaluator.media.fragments import patch_corners, run_positions, run_starts
from evaluator.media.sampling import select
from evaluator.media.types import U8, FrameChunk
from evaluator.schema import ExpertNeed, Fit, Sampling, View
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import RATE, clip_of, feature_of
from tests.runner.clips import clip

MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def want(seed: int = 11, **options: Any) -> ExpertNeed:
    return ExpertNeed("technical_quality", options=tuple(sorted({"seed": seed, **options}.items())))


def mean_level(output: Any = None) -> FakeSession:
    """The mean of what goes in, or something else."""
    return FakeSession(lambda feeds: {"score": [feeds["fragments"].mean()] if output is None else output})


def run(session: FakeSession, data: U8, request: ExpertNeed | None = None, chunk: int = 32) -> TechnicalQuality:
    """Frames [N, H, W, 3] as the view of the expert lets them pass."""
    request = request or want()
    expert = EXPERT(FakeSource({FILE: session}))
    index = select(expert.view(request).sampling, np.arange(len(data)) / RATE)
    tap = expert.tap(request, clip_of(*data.shape[:3]))
    for start in range(0, len(index), chunk):
        part = index[start : start + chunk]
        tap.push(FrameChunk(data[part], part, part / RATE))
    return tap.close()


def levels(count: int, height: int = 240, width: int = 320) -> U8:
    """Frame k is level k everywhere."""
    return np.repeat(np.arange(count, dtype=np.uint8), height * width * 3).reshape(count, height, width, 3)


def test_watches_native_frames_of_three_runs() -> None:
    assert EXPERT(FakeSource({})).view(want(11)) == View(Sampling("fragments", (3, 32, 2, 11)), Fit.NATIVE)


def test_each_run_holds_its_own_frames_in_order() -> None:
    session = mean_level()
    found = run(session, levels(250, 40, 60))
    expected = run_positions(run_starts(250, RUNS, 64, 11), LENGTH, 2, 250)
    for run_number, feeds in enumerate(session.fed):
        fragments = feeds["fragments"]
        assert (fragments.shape, fragments.dtype) == ((1, 3, LENGTH, SIDE, SIDE), np.float32)
        back = fragments[0].transpose(1, 2, 3, 0) * STD + MEAN
        np.testing.assert_allclose(back[:, 5, 5, 0] * 255, expected[run_number], atol=1e-3)
    assert found.starts.tolist() == run_starts(250, RUNS, 64, 11).tolist()
    assert found.seed == 11
    assert found.raw.shape == (RUNS,)


@pytest.mark.parametrize("count", [1, 2, 50, 100])
def test_a_short_clip_goes_on_from_its_beginning(count: int) -> None:
    session = mean_level()
    run(session, levels(count, 32, 32))
    last = session.fed[-1]["fragments"][0, 0, :, 0, 0] * STD[0] + MEAN[0]
    expected = (run_starts(count, RUNS, 64, 11)[2] + 2 * np.arange(LENGTH)) % count
    np.testing.assert_allclose(np.sort(last * 255), np.sort(expected), atol=1e-3)


def test_chunks_do_not_matter_and_seeds_do() -> None:
    data = np.random.default_rng(0).integers(0, 256, (210, 32, 40, 3), dtype=np.uint8)
    one, other = run(mean_level(), data, chunk=32), run(mean_level(), data, chunk=1)
    assert one.raw.tobytes() == other.raw.tobytes()
    assert one.patches == other.patches


def test_another_seed_looks_elsewhere() -> None:
    large = levels(4, 300, 400)
    assert run(mean_level(), large, want(12)).patches != run(mean_level(), large).patches


def test_patches_are_put_together_in_the_order_of_their_cells() -> None:
    rows, columns = np.mgrid[0:720, 0:1280]
    picture = np.stack([rows // 102, columns // 182, rows * 0], axis=-1).astype(np.uint8)  # the cell of each pixel
    found = stitched(picture, patch_corners(720, 1280, 32, 7, 3, 0))
    assert found.shape == (SIDE, SIDE, 3)
    for i in range(7):
        np.testing.assert_array_equal(found[32 * i : 32 * i + 32, :, 0], i)
        np.testing.assert_array_equal(found[:, 32 * i : 32 * i + 32, 1], i)


@pytest.mark.parametrize(
    ("size", "expected"),
    [((224, 900), (224, 900)), ((720, 1280), (720, 1280)), ((112, 200), (224, 400)), ((300, 100), (672, 224))],
)
def test_small_clips_are_enlarged(size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert enlarged(*size) == expected


def test_enlarging_is_bilinear_and_truncates() -> None:
    ramp = np.repeat(np.array([[0, 100]], np.uint8)[..., None], 3, axis=2)
    assert enlarge(ramp, (1, 8))[0, :, 0].tolist() == [0, 0, 12, 37, 62, 87, 100, 100]


def test_known_defect_the_reference_sees_the_top_left_of_a_small_clip() -> None:
    """CoVEBench 10, point 12: the grid is laid on the size before enlarging."""
    data = np.zeros((10, 112, 112, 3), np.uint8)
    data[:, 70:] = 255  # only the lower part is bright

    def brightest(grid: str) -> float:
        session = mean_level()
        run(session, data, want(grid=grid))
        return float(max(feeds["fragments"].max() for feeds in session.fed))

    assert brightest("enlarged") > 2
    assert brightest("original") < 0
    with pytest.raises(ValueError, match="original"):
        EXPERT(FakeSource({FILE: mean_level()})).tap(want(grid="x"), clip_of(9))


def test_what_cannot_be_used_is_said() -> None:
    with pytest.raises(ExpertError, match=r"expected \[1\]"):
        run(mean_level(np.zeros(2)), levels(5, 32, 32))
    with pytest.raises(NotApplicable):
        EXPERT(FakeSource({FILE: mean_level()})).tap(want(), clip_of(0))
    with pytest.raises(ExpertError, match="96 frames of 96"):
        EXPERT(FakeSource({FILE: mean_level()})).tap(want(), clip_of(9)).close()
    with pytest.raises(ValueError, match="seed"):
        EXPERT(FakeSource({})).view(ExpertNeed("technical_quality"))


def test_a_file_shorter_than_a_run_is_seen_through_the_decoder(tmp_path: Path) -> None:
    session = mean_level()
    path = clip(tmp_path / "a.mp4", frames=20, sound=False)
    found = feature_of(EXPERT(FakeSource({FILE: session})), want(), path)
    assert found.starts.tolist() == [0, 6, 12]
    assert len(session.fed) == RUNS
    first, last = (session.fed[0]["fragments"][0, :, place] for place in (0, 10))
    np.testing.assert_array_equal(first, last)  # frame 20 is frame 0 again
