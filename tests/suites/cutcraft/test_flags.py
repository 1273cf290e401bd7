"""Every flag alone has an effect, and every numbered defect of the spec has a flag or a reason why it has none."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.experts.features import AudioTags, Embeddings
from evaluator.judge.prompts import LETTERS
from evaluator.judge.types import Answer, Question, Raw, Status
from evaluator.media.types import Frames
from evaluator.schema import Case
from evaluator.suites.cutcraft import flags, judge_alignment, shots
from evaluator.suites.cutcraft.alignment import by_labels, duration_score
from evaluator.suites.cutcraft.cut_scores import Candidate, match_transitions, wanted_optical
from evaluator.suites.cutcraft.data import prompt_of
from evaluator.suites.cutcraft.dimensions import b1, c1, d1, d3, e1, f1
from evaluator.suites.cutcraft.flags import COMPAT, PAPER, Defects
from evaluator.suites.cutcraft.labels import Optical
from evaluator.suites.cutcraft.scene import Scene
from evaluator.suites.cutcraft.stored import order
from tests.suites.cutcraft.cases import CUT, TAGS, camera, case, cut, info, media, shot
from tests.suites.cutcraft.test_dimensions import RIGHT, heard, knowing
from tests.suites.judging import label

Effect = Callable[[Defects, Path], Any]
clip = lru_cache(maxsize=4)(media)


def scene(defects: Defects, one: Case | None = None, **more: Any) -> Scene:
    return Scene.of(defects, one or case(), {**clip(), **more})


def turning(defects: Defects) -> int:
    """Shots of a clip whose pictures' meaning changes in the middle of the second one, asked for four."""
    rows = np.arange(0, 172, 6)
    semantic = Embeddings(np.eye(2, dtype=np.float32)[(rows >= 120).astype(int)], rows)
    return len(shots.found(defects, 4, {**clip(), "semantic": semantic}).segments)


def dated(defects: Defects) -> Any:
    """Peaks of motion, as F1 dates them, of a clip whose flow frames are ten a second and not eight."""
    rows = np.arange(0, 172, 3)
    pictures = np.random.RandomState(0).randint(0, 255, (1, 45, 80, 1)).repeat(len(rows), axis=0).astype(np.uint8)
    pictures[30:] = np.roll(pictures[30:], 3, axis=2)
    return f1.compute(defects, Frames(pictures, rows, rows / 30.0, info()), clip()["track"]).details["peaks"]


def sounds(defects: Defects) -> float | None:
    """A sound match where tags change at the cut."""
    after = np.arange(14)[:, None] * 0.48 >= CUT
    tags = AudioTags(np.where(after, np.eye(len(TAGS))[0], np.eye(len(TAGS))[1]).astype(np.float32), TAGS, 0.48)
    one = case(shot(1, 0, CUT, transition_to_next=cut("sound match")), shot(2, CUT, 7.2))
    return d1.measure(scene(defects, one, tags=tags), 0)


def silent(defects: Defects) -> float | str:
    try:
        return f1.compute(defects, clip()["flow"], replace(clip()["track"], present=False)).value
    except NotApplicable as reason:
        return reason.reason


def spread(defects: Defects) -> float | None:
    """A shot in two pieces with a discarded one between."""
    prompts = [(0.0, 4.0)]
    return duration_score(by_labels([0, -1, 0], [(0, 2), (2, 5), (5, 7)], prompts, PAPER), prompts, defects)


def late(place: str) -> Effect:
    """Evidence where the script's cut is not where the clip has it."""
    one = case(shot(1, 0, 2.0, transition_to_next=cut()), shot(2, 2.0, 7.2))
    return lambda defects, _: d1.evidence(scene(defects, one), 0, place, CUT)


def tasks(defects: Defects, folder: Path) -> set[str]:
    """Forms in which C1 is asked."""
    seen: set[str] = set()

    def notes(question: Question) -> Raw:
        seen.add(question.task)
        return knowing(question) if question.labels or question.answer_schema else Raw("A. One", "stop")

    heard(c1, folder, defects, reply=notes)
    return seen


def contrast(defects: Defects, folder: Path) -> float:
    """C1 where the judge names a montage that the script's prose mentions."""

    def says(question: Question) -> Raw:
        if question.task not in {"cut_choice", "cut_choice_text"}:
            return knowing(question)
        shown = [part.text for part in question.parts if getattr(part, "name", "").startswith("option ")]
        named = "Contrast montage" if question.item.endswith("C1/montage") else RIGHT["C1"]
        letter = LETTERS[shown.index(named)]
        return label(question, letter) if question.labels else Raw(letter, "stop")

    return float(heard(c1, folder, defects, reply=says).value)


def gilligan(defects: Defects, _: Path) -> int:
    one = case(shot(1, 0, CUT, transition_to_next=cut("Gilligan cut")), shot(2, CUT, 7.2))
    return len(d1.transition_stage(scene(defects, one), {}))


def lengths(defects: Defects, folder: Path) -> Any:
    untimed = {**shot(1, 0, CUT, transition_to_next=cut()), "description_prompt": "no times"}
    return heard(b1, folder, defects, case(untimed, shot(2, CUT, 7.2))).details["lengths"][1]["asked"]


def zooming(defects: Defects, _: Path) -> Any:
    moves = camera(camera_motion="Truck (Lateral Tracking)", optical_motion="Zoom-In")
    return e1.wanted(
        scene(defects, case(shot(1, 0, 3.6, transition_to_next=cut(), camera=moves), shot(2, 3.6, 7.2))), 0, "motion"
    )


def described(defects: Defects, _: Path) -> str:
    one = case(shot(1, 0, 4, description_prompt="Shot 1 [00.00-04.00s]: " + "slow push-in " * 30))
    return judge_alignment.script(prompt_of(one), judge_alignment.SEGMENTS, defects)


def labelled(defects: Defects, _: Path) -> Any:
    """What is made of two labels for three segments, one of them of no shot of the script."""
    answer = Answer(Status.OK, "", value={"labels": [1, 9]})
    return judge_alignment.usable(answer, 3, 2, defects)


EFFECTS: dict[str, Effect] = {
    "flash_labels_are_hard_cuts": lambda on, _: wanted_optical("Flash-to-White", on),
    "shot_count_leaks": lambda on, _: turning(on),
    "nominal_rate": lambda on, _: dated(on),
    "disjoint_windows": lambda on, _: shots.needs(on)["scores"],
    "prefix_camera_labels": zooming,
    "segments_before_cut": lambda on, _: sounds(on),
    "first_transition": lambda on, _: match_transitions(
        [2.9], [Candidate(2.0, Optical.WIPE), Candidate(2.9, Optical.HARD_CUT)], on
    ),
    "frame_difference_optics": lambda on, _: sorted(shots.needs(on)),
    "fixed_ambience_blocks": lambda on, _: getattr(d3.heard(scene(on), 0), "by", None),
    "any_labels_align": labelled,
    "last_shot_moves_up": lambda on, _: by_labels([0, 2], [(0, 5), (5, 15)], [(0, 5), (5, 6), (6, 15)], on).labels,
    "failure_is_half": lambda on, _: silent(on),
    "merged_spans": lambda on, _: spread(on),
    "plateau_is_a_shot": lambda on, _: len(shots.found(on, 2, clip("flash to white", 0.6)).segments),
    "lost_summaries": lambda on, _: d1.evidence(scene(on), 0, "pov cut", CUT),
    "one_camera": lambda on, _: e1.evidence(scene(on), (CUT, 7.2), "motion"),
    "first_half": lambda on, _: c1.needs(on)["looks"],
    "sample_cosines": late("logical cut"),
    "prompt_times": late("whip-pan"),
    "loose_letters": tasks,
    "name_in_prose": contrast,
    "count_is_presence": lambda on, _: scene(on).found_shots(),
    "unknown_transition_fails": gilligan,
    "options_as_stored": lambda on, _: [order(f"v{k}_q1", 5, on) for k in range(5)],
    "shifted_durations": lengths,
    "short_descriptions": described,
}


@pytest.mark.parametrize("name", [field.name for field in fields(Defects)])
def test_a_flag_alone_has_an_effect(name: str, tmp_path: Path) -> None:
    for folder in ("off", "on"):
        (tmp_path / folder).mkdir()
    without = EFFECTS[name](PAPER, tmp_path / "off")
    assert EFFECTS[name](replace(PAPER, **{name: True}), tmp_path / "on") != without


OTHER_MEDIA = ("frame_difference_optics", "shot_count_leaks")
"""Flags that look at other pictures of a clip, which these effects do not have: on in their own effect only."""


@pytest.mark.parametrize("name", [field.name for field in fields(Defects)])
def test_a_flags_effect_is_its_own_whatever_else_is_on(name: str, tmp_path: Path) -> None:
    """All others together leave it where it is, so no flag does what another one is named for."""
    for folder in ("alone", "among"):
        (tmp_path / folder).mkdir()
    without = EFFECTS[name](PAPER, tmp_path / "alone")
    others = replace(COMPAT, **dict.fromkeys((name, *OTHER_MEDIA), False))
    assert EFFECTS[name](others, tmp_path / "among") == without


def test_cut_off_descriptions_do_not_loosen_the_labels() -> None:
    """D-27 is about what the judge reads, D-20 about what it answers."""
    short, loose = (replace(PAPER, **{name: True}) for name in ("short_descriptions", "any_labels_align"))
    assert labelled(short, Path()) == labelled(PAPER, Path()) is None
    assert labelled(loose, Path()) == [0, 8]
    assert described(loose, Path()) == described(PAPER, Path()) != described(short, Path())


def test_effects_of_the_shot_flags() -> None:
    """D-04 adds the cut that the script asks for, D-24 a shot that nobody made, in both ways of finding shots."""
    assert (turning(PAPER), turning(replace(PAPER, shot_count_leaks=True))) == (2, 3)
    flash = clip("flash to white", 0.6)
    plateaus = [replace(PAPER, plateau_is_a_shot=on) for on in (False, True)]
    assert [len(shots.found(one, 2, flash).segments) for one in plateaus] == [2, 3]
    windows = [dict(shots.needs(one)["scores"].options) for one in (PAPER, COMPAT)]  # type: ignore[union-attr]
    assert windows == [{}, {"windows": "disjoint"}]


def test_every_numbered_defect_has_a_flag_or_a_reason(shared: Path) -> None:
    spec = (shared / "spec" / "cutcraft.md").read_text(encoding="utf-8")
    numbered = set(re.findall(r"^- \*\*(D-\d\d)\*\*", spec, re.MULTILINE))
    source = Path(flags.__file__).read_text(encoding="utf-8")
    flagged = set(re.findall(r": bool  # (D-\d\d)", source))
    assert len(numbered) > 30
    assert numbered == flagged | set(flags.WITHOUT_FLAG)
    assert not flagged & set(flags.WITHOUT_FLAG)
