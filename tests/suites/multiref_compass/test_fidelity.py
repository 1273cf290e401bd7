"""EF: identities, swaps, coverage, one person per entity, the paste coefficient, and the expert on drawn faces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.experts.entity_cues import GRID, EntityCuesExpert, body, grown
from evaluator.experts.features import Crops, EntityCues
from evaluator.metrics.base import Outcome
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed, Sampling
from evaluator.suites.multiref_compass import SUITE
from evaluator.suites.multiref_compass.ef import coefficient, compute_raw
from tests.experts.conftest import clips  # noqa: F401  (fixture)
from tests.experts.pictures import feature_of
from tests.suites.judging import Court, by_item
from tests.suites.multiref_compass.cases import case, flat, view

AXES = np.eye(8, dtype=np.float32)
MIA, TOM, ROBOT, ROOM = AXES[0], AXES[1], AXES[2], AXES[3]
"""What somebody or something looks like."""


def crops(*rows: tuple[int, np.ndarray]) -> Crops:
    vectors = np.array([vector for _, vector in rows], np.float32).reshape(-1, 8)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return Crops(np.array([row for row, _ in rows], np.int64), np.zeros((len(rows), 4), np.float32), vectors)


def cues(
    frames: int = 1, people: Any = (), things: Any = (), whole: np.ndarray = ROOM, detected: bool = True
) -> EntityCues:
    """What is seen: (frame, looks) of people and of things."""
    rooms = np.repeat(whole[None], frames, axis=0)
    return EntityCues(rooms, crops(*people), crops(*people), crops(*things), detected, np.arange(frames))


PORTRAIT = {
    "mia": cues(people=[(0, MIA)], whole=MIA),
    "robot": cues(whole=ROBOT),
    "tom": cues(people=[(0, TOM)], whole=TOM),
}


def raw(output: EntityCues, one: Any = None, **pictures: EntityCues) -> Outcome:
    one = one or case()
    given = pictures or {"cue_0": PORTRAIT["mia"], "cue_1": PORTRAIT["robot"]}
    return compute_raw(one, output, **given)


def both(frames: int) -> EntityCues:
    return cues(frames, [(k, MIA) for k in range(frames)], [(k, ROBOT) for k in range(frames)])


def test_everybody_as_in_the_references_is_one() -> None:
    found = raw(both(4))
    assert found.value == pytest.approx(1)
    assert [one["coverage"] for one in found.details["entities"]] == [1, 1]
    assert found.details["human"] == pytest.approx(1)


def test_swapped_references_lower_fidelity() -> None:
    swapped = raw(both(4), cue_0=PORTRAIT["robot"], cue_1=PORTRAIT["mia"])
    assert swapped.value == pytest.approx(0, abs=1e-6)


def test_fidelity_falls_as_looks_drift_away() -> None:
    values = [
        raw(cues(2, [(k, MIA + drift * TOM) for k in range(2)], [(k, ROBOT) for k in range(2)])).value
        for drift in (0.0, 0.5, 1.0, 3.0)
    ]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.7 < values[0]


def test_an_entity_that_never_appears_scores_nought_and_one_in_half_the_frames_counts_there() -> None:
    absent = raw(cues(4, things=[(k, ROBOT) for k in range(4)]))
    assert absent.value == pytest.approx(0.5)
    assert absent.details["entities"][0]["coverage"] == 0
    half = raw(cues(4, [(0, MIA), (1, MIA)], [(k, ROBOT) for k in range(4)]))
    assert half.value == pytest.approx(1)
    assert half.details["entities"][0]["coverage"] == 0.5


def test_one_person_serves_one_entity_only() -> None:
    """Two entities that look like Mia, one Mia in the frame: the other is not found."""
    twins = [{"entity_id": name, "kind": "human", "name": name} for name in ("mia", "eve")]
    one = case(entities=twins, references=(view("mia"), view("eve")))
    found = raw(cues(1, [(0, MIA)]), one, cue_0=PORTRAIT["mia"], cue_1=PORTRAIT["mia"])
    assert sorted(entry["coverage"] for entry in found.details["entities"]) == [0, 1]
    pair = raw(cues(1, [(0, TOM), (0, MIA)]), one, cue_0=PORTRAIT["mia"], cue_1=PORTRAIT["tom"])
    assert pair.value == pytest.approx(1)


def test_the_most_similar_view_counts_and_more_views_never_lower_it() -> None:
    one = case(references=(view("mia"), view("mia"), view("robot")))
    found = raw(both(2), one, cue_0=PORTRAIT["tom"], cue_1=PORTRAIT["mia"], cue_2=PORTRAIT["robot"])
    assert found.value == pytest.approx(1)


def test_a_view_from_behind_is_compared_by_the_body() -> None:
    behind = cues(whole=MIA)  # no face was found in it
    found = raw(both(1), cue_0=behind, cue_1=PORTRAIT["robot"])
    assert found.value == pytest.approx(1)
    assert found.details["entities"][0]["cue"] == "body"


def test_a_view_from_behind_counts_beside_one_from_the_front() -> None:
    """The most similar view is looked for among all: seen from behind, Mia is more like the second."""
    one = case(references=(view("mia"), view("mia"), view("robot")))
    front = EntityCues(MIA[None], crops((0, MIA)), crops((0, MIA)), crops(), True, np.arange(1))
    behind = cues(whole=ROOM)  # no person was found in it
    turned = EntityCues(AXES[4][None], crops((0, TOM)), crops((0, ROOM)), crops((0, ROBOT)), True, np.arange(1))
    found = raw(turned, one, cue_0=front, cue_1=behind, cue_2=PORTRAIT["robot"])
    assert found.details["entities"][0]["fidelity"] == pytest.approx(0.5 * 0 + 0.5 * 1)


def test_faces_of_cartoons_are_not_compared() -> None:
    face_only = EntityCues(ROOM[None], crops((0, MIA)), crops((0, TOM)), crops((0, ROBOT)), True, np.arange(1))
    real, cartoon = (
        raw(face_only, case(style=style)).details["entities"][0]["fidelity"] for style in ("real", "cartoon")
    )
    assert (real, cartoon) == (pytest.approx(0.5), pytest.approx(0))


def test_a_scene_is_the_whole_frame_and_an_undetected_object_must_be_near_enough() -> None:
    kitchen = [{"entity_id": "kitchen", "kind": "scene", "name": "a kitchen"}]
    found = raw(cues(3), case(entities=kitchen, references=(view("kitchen"),)), cue_0=cues(whole=ROOM))
    assert found.value == pytest.approx(1)
    thing = [{"entity_id": "robot", "kind": "object", "name": "a robot"}]
    one = case(entities=thing, references=(view("robot"),))
    faint = cues(1, things=[(0, ROBOT + 3 * TOM)], detected=False)
    assert raw(faint, one, cue_0=PORTRAIT["robot"]).details["entities"][0]["coverage"] == 0
    near = cues(1, things=[(0, ROBOT + TOM)], detected=False)
    assert raw(near, one, cue_0=PORTRAIT["robot"]).value == pytest.approx(0.5**0.5)


@given(st.permutations(range(4)), st.integers(0, 100))
def test_the_order_of_entities_and_people_changes_nothing(order: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    looks = rng.random((4, 8)).astype(np.float32)
    people = [(0, looks[k]) for k in range(3)]
    shuffled = [people[k % 3] for k in order if k < 3]
    shown = {"cue_0": cues(people=[(0, looks[3])], whole=looks[3]), "cue_1": PORTRAIT["robot"]}
    assert raw(cues(1, people), **shown).value == pytest.approx(raw(cues(1, shuffled), **shown).value)


@pytest.mark.parametrize(("grade", "expected"), [(1, 0.5), (3, 0.75), (5, 1.0)])
def test_paste_coefficient(grade: int, expected: float) -> None:
    assert coefficient(grade) == expected


def test_a_cut_out_is_discounted_and_without_a_judge_there_is_no_coefficient(tmp_path: Path) -> None:
    whole, paste = SUITE.metric("ef"), SUITE.metric("ef_p_paste")
    media = {"frames": flat(90, 16), "reference_0": flat(40), "reference_1": flat(200)}
    compared = {"output": both(4), "cue_0": PORTRAIT["mia"], "cue_1": PORTRAIT["robot"]}
    with Court(tmp_path, by_item({"paste": "1"})) as court:
        found = court.hear(whole, case(), **media, **compared)
        assert court.value(paste, case(), **media) == pytest.approx(0.5, abs=1e-5)
        assert {one.item for one in court.asked} == {"s/x/ef/paste"}
    assert isinstance(found, Outcome)
    assert found.value == pytest.approx(0.5, abs=1e-5)
    assert found.raw == pytest.approx(1)


def test_bodies_reach_below_faces_and_stay_in_the_picture() -> None:
    box = np.array([0.4, 0.1, 0.5, 0.2], np.float32)
    x1, y1, x2, y2 = body(box)
    assert x1 < 0.4 < 0.5 < x2
    assert y1 < 0.1 < 0.7 < y2 <= 1
    assert (grown(box)[2:] > box[2:]).all()
    assert len(GRID) == 9


def test_the_expert_finds_the_talking_face_and_knows_it_again(models: SessionSource, clips: Path) -> None:  # noqa: F811
    want = ExpertNeed("entity_cues", sampling=Sampling("linspace", (4,)))
    expert = EntityCuesExpert(models)
    pristine, distorted = (
        feature_of(expert, want, clips / f"carphone_{name}.mp4") for name in ("pristine", "distorted")
    )
    bunny = feature_of(
        expert, ExpertNeed("entity_cues", sampling=Sampling("linspace", (2,))), clips / "bigbuckbunny.mp4"
    )
    assert set(pristine.faces.row.tolist()) == {0, 1, 2, 3}
    np.testing.assert_allclose(np.linalg.norm(pristine.faces.vectors, axis=1), 1, atol=1e-5)
    assert len(pristine.regions.row) == 4 * len(GRID)
    assert not pristine.detected
    same = (pristine.whole @ distorted.whole.T).max()
    other = (pristine.whole @ bunny.whole.T).max()
    assert same > other + 0.1
