"""AMT-G by a session that honours the contract: pairs, borders, and the rule that makes scores depend on a card."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.experts.amt_g import CARD, EXPERT, FILE, inner_scale, multiple_of
from evaluator.experts.features import InterpolationError
from evaluator.media.types import U8
from evaluator.runtime.session import Array
from evaluator.schema import ALL_FRAMES, ExpertNeed, Fit
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import clip_of, watch

WANT = ExpertNeed("frame_interpolation")
GB = 10**9


def blend(feeds: Mapping[str, Array]) -> Mapping[str, Array]:
    return {"middle": (feeds["first"] + feeds["second"]) / 2}


def errors(data: U8, chunk: int = 32) -> tuple[InterpolationError, FakeSession]:
    session = FakeSession(blend, ["middle"])
    return watch(EXPERT(FakeSource({FILE: session})), WANT, data, chunk), session


def greys(levels: list[int], height: int = 20, width: int = 40) -> U8:
    return np.array(levels, np.uint8)[:, None, None, None] * np.ones((1, height, width, 3), np.uint8)


@pytest.mark.parametrize("chunk", [1, 2, 32])
def test_every_second_frame_meets_its_prediction(chunk: int) -> None:
    """(0 + 20) / 2 against 14, (20 + 40) / 2 against 30; the last odd frame of an even number has no second."""
    found, _ = errors(greys([0, 14, 20, 30, 40, 200]), chunk)
    np.testing.assert_allclose(found.error, [4, 0], atol=1e-4)
    assert found.index.tolist() == [1, 3]
    assert not found.sampled


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_frames_give_no_error(count: int) -> None:
    assert len(errors(greys([5] * count))[0].error) == 0


def test_predictions_are_cut_off_not_rounded() -> None:
    """10.5 of 255 becomes 10, as in the reference."""
    assert errors(greys([10, 10, 11]))[0].error[0] == 0


def test_edges_are_repeated_around_a_picture_of_another_size() -> None:
    data = np.random.default_rng(2).integers(0, 256, (3, 20, 40, 3), dtype=np.uint8)
    data[2] = data[0]
    found, session = errors(data)
    fed = session.fed[0]["first"][0]
    assert fed.shape == (3, 32, 48)
    np.testing.assert_allclose(fed[:, 6:26, 4:44] * 255, data[0].transpose(2, 0, 1), atol=1e-3)
    np.testing.assert_array_equal(fed[:, 0, 4:44], fed[:, 6, 4:44])
    assert found.error[0] == pytest.approx(np.abs(data[0].astype(int) - data[1]).mean(), abs=0.6)


def test_it_watches_every_frame_at_full_size() -> None:
    view = EXPERT(FakeSource({})).view(WANT)
    assert (view.sampling, view.fit) == (ALL_FRAMES, Fit.NATIVE)


@pytest.mark.parametrize(
    ("height", "width", "vram", "scale"),
    [
        (1920, 1080, 8 * GB, 0.696),
        (1080, 1920, 12 * GB, 0.8),
        (1080, 1920, 16 * GB, 0.889),
        (1080, 1920, 24 * GB, 1.0),
        (1440, 2560, 24 * GB, 0.727),
        (1440, 2560, 40 * GB, 0.842),
        (1440, 2560, 80 * GB, 1.0),
        (2160, 3840, 24 * GB, 0.485),
        (2160, 3840, 80 * GB, 0.667),
        (2160, 3840, 141 * GB, 0.8),
        (720, 1280, 8 * GB, 1.0),
    ],
)
def test_published_scales(height: int, width: int, vram: int, scale: float) -> None:
    """AVE-Compass 4.7, step 3."""
    assert inner_scale(height, width, vram) == pytest.approx(scale, abs=5e-4)


@pytest.mark.parametrize(
    ("height", "width", "scale", "multiple"),
    [(1080, 1920, 1.0, 16), (1440, 2560, 0.7619, 21), (2160, 3840, 0.5, 32)],
)
def test_the_fixed_card(height: int, width: int, scale: float, multiple: int) -> None:
    found = inner_scale(height, width, CARD)
    assert found == pytest.approx(scale, abs=5e-5)
    assert multiple_of(found) == multiple


def test_a_size_that_the_rule_shrinks_has_no_value_unless_scale_one_is_asked_for() -> None:
    expert, clip = EXPERT(FakeSource({FILE: FakeSession(blend)})), clip_of(5, 1440, 2560)
    with pytest.raises(NotApplicable, match=r"scale 0\.7619") as refusal:
        expert.tap(WANT, clip)
    assert refusal.value.reason == "unavailable"
    expert.tap(ExpertNeed("frame_interpolation", options=(("scale", 1),)), clip)
    expert.tap(ExpertNeed("frame_interpolation", options=(("vram_bytes", 80 * GB),)), clip)


def test_a_small_card_shrinks_1080p() -> None:
    expert = EXPERT(FakeSource({FILE: FakeSession(blend)}))
    with pytest.raises(NotApplicable, match="AMT-G"):
        expert.tap(ExpertNeed("frame_interpolation", options=(("vram_bytes", 8 * GB),)), clip_of(5, 1080, 1920))


def test_a_card_below_the_formula() -> None:
    with pytest.raises(NotApplicable, match="holds no picture"):
        inner_scale(720, 1280, 1 * GB)
