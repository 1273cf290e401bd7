"""The contract of the Grounding DINO expert, on a session without a network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evaluator.errors import ExpertError
from evaluator.experts.features import GroundedBoxes
from evaluator.experts.grounding_dino import EXPERT, FILE, VOCABULARY, corners, prepared, size_of
from evaluator.experts.regions import PROBED_FRAMES, phrases_option
from evaluator.runtime.session import Array
from evaluator.schema import ExpertNeed, FramesNeed, View
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import frames_of

WANT = ExpertNeed("grounded_boxes", ("source",), options=(phrases_option(["Red car", "tree"]),))
TOKENS = ["[CLS]", "[SEP]", "[UNK]", "red", "car", "tree", "."]


def detector(feeds: Mapping[str, Array]) -> Mapping[str, Any]:
    """Two boxes; the second one is better. The tree is best where the picture is bright, the car where it is dark."""
    bright = feeds["pixels"].mean() / 10
    score = 0.5 + (bright if 5 in feeds["input_ids"] else -bright)
    return {"score": [[0.1, score]], "boxes": [[[0.5, 0.5, 1, 1], [0.25, 0.5, 0.5, 0.2]]]}


def run(session: FakeSession, folder: Path) -> GroundedBoxes:
    (folder / "vocab.txt").write_text("\n".join(TOKENS))
    data = np.repeat(np.array([100, 50, 200], np.uint8), 30 * 40 * 3).reshape(3, 30, 40, 3)
    source = FakeSource({FILE: session}, {VOCABULARY: folder / "vocab.txt"})
    found = EXPERT(source).run(WANT, {"frames": frames_of(data)})
    assert isinstance(found, GroundedBoxes)
    return found


def test_looks_at_three_native_frames_half_a_second_apart() -> None:
    assert EXPERT(FakeSource({})).needs(WANT) == {"frames": FramesNeed(View(PROBED_FRAMES), "source")}


def test_the_best_box_over_the_probed_frames_is_kept(tmp_path: Path) -> None:
    session = FakeSession(detector)
    found = run(session, tmp_path)
    assert found.phrases == ("Red car", "tree")
    assert found.frame.tolist() == [1, 2]
    np.testing.assert_allclose(found.box, [[0, 0.4, 0.5, 0.6]] * 2, atol=1e-6)
    np.testing.assert_allclose(found.area, 0.1, atol=1e-6)
    assert [feeds["input_ids"].tolist() for feeds in session.fed[::3]] == [[[0, 3, 4, 6, 1]], [[0, 5, 6, 1]]]
    assert session.fed[0]["pixels"].shape == (1, 3, 800, 1066)
    assert session.fed[0]["input_ids"].dtype == np.int64


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((480, 640), (800, 1066)),
        ((720, 1280), (750, 1333)),
        ((1280, 720), (1333, 750)),
        ((900, 900), (800, 800)),
        ((480, 832), (769, 1333)),
        ((816, 1920), (567, 1333)),
    ],
)
def test_short_side_800_and_long_side_at_most_1333(size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert prepared(np.zeros((*size, 3), np.uint8)).shape[:2] == expected


def published_size(height: int, width: int) -> tuple[int, int]:
    """(height, width) of get_size_with_aspect_ratio((height, width), 800, 1333) in transformers 5."""
    short, long = float(min(height, width)), float(max(height, width))
    raw = 1333 * short / long if long / short * 800 > 1333 else 800
    side = round(raw)
    if min(height, width) == side:
        return height, width
    return (int(raw * height / width), side) if width < height else (side, int(raw * width / height))


@given(st.integers(64, 2200), st.integers(64, 4100))
@example(600, 1330)
@example(1334, 600)
def test_every_size_is_rounded_as_published_and_none_is_scaled_above_the_bound(height: int, width: int) -> None:
    found = size_of(height, width)
    assert found == published_size(height, width)[::-1]
    assert max(found) <= 1333 or found == (width, height)
    assert max(found) < 1345


def test_a_phrase_ends_with_one_full_stop(tmp_path: Path) -> None:
    session = FakeSession(detector)
    want = ExpertNeed("grounded_boxes", ("source",), options=(phrases_option([" Tree. ", "tree"]),))
    (tmp_path / "vocab.txt").write_text("\n".join(TOKENS))
    source = FakeSource({FILE: session}, {VOCABULARY: tmp_path / "vocab.txt"})
    EXPERT(source).run(want, {"frames": frames_of(np.zeros((1, 30, 40, 3), np.uint8))})
    assert [feeds["input_ids"].tolist() for feeds in session.fed] == [[[0, 5, 6, 1]]] * 2


def test_boxes_are_cut_to_the_picture() -> None:
    np.testing.assert_allclose(corners(np.array([0.1, 0.9, 0.4, 0.4], np.float32)), [0, 0.7, 0.3, 1], atol=1e-6)


def test_another_network_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(ExpertError, match="one box per score"):
        run(FakeSession(lambda feeds: {"score": [[0.1]], "boxes": [[[0, 0, 1, 1]] * 2]}), tmp_path)


def test_a_request_without_phrases_is_a_mistake(tmp_path: Path) -> None:
    source = FakeSource({FILE: FakeSession(detector)}, {VOCABULARY: tmp_path / "vocab.txt"})
    (tmp_path / "vocab.txt").write_text("\n".join(TOKENS))
    with pytest.raises(ValueError, match="phrases"):
        EXPERT(source).run(ExpertNeed("grounded_boxes"), {"frames": frames_of(np.zeros((1, 9, 9, 3), np.uint8))})
