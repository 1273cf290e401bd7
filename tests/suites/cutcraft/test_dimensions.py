"""Every dimension through the runner's own path, with a judge whose answers are known; defects turned on one by one."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.experts.features import AudioTags, Embeddings, Transcript, Utterance
from evaluator.judge.dialect import chat_request
from evaluator.judge.types import Answer, Question, Raw, Status
from evaluator.media.types import Audio
from evaluator.metrics.base import Outcome
from evaluator.runner.outcome import Absent, attempt
from evaluator.suites.cutcraft.dimensions import MODULES, a1, a2, a3, a4, b1, c1, d1, d2, d3, e1, e2, e3, f1
from evaluator.suites.cutcraft.flags import COMPAT, PAPER, Defects
from evaluator.suites.cutcraft.scene import Scene, stretch
from evaluator.suites.cutcraft.stored import order
from tests.suites.cutcraft.cases import CUT, camera, case, cut, media, needed, question, shot
from tests.suites.judging import HEARING, SEEING, Court, label, written

RIGHT = {"A2": "one --> two", "A3": "by chance", "C1": "Sequential Montage", "E1": "MS - Eye-Level"}
RIGHT["D1"] = "Match on Action / Action Match"
CAMERA = {
    "motion": "Static",
    "scale": "MS",
    "angle": "Eye-Level",
    "depth": "Deep Focus",
    "montage": "Sequential montage",
}


def knowing(question: Question) -> Raw:
    """A judge that answers everything as the script wants it."""
    _, _, *rest = question.item.split("/")
    if rest[0] == "align":
        return written({"labels": [1, 2]})
    if question.task == "cut_choice":
        wanted = RIGHT[rest[0]] if rest[1] == "question" else CAMERA[rest[1]]
        shown = [part.text for part in question.parts if getattr(part, "name", "").startswith("option ")]
        return label(question, question.labels[shown.index(wanted)])
    if question.task == "cut_direction":
        return label(question, "C" if "reversed" in question.item else "A")
    return label(question, question.labels[0])


def heard(
    module: Any, folder: Path, defects: Defects = PAPER, one: Any = None, reply: Any = knowing, **more: Any
) -> Any:
    metric, one = module.metric(defects), one or case()
    with Court(folder, reply, more.pop("identity", HEARING)) as court:
        given = needed(metric, one, {**media(), **more})
        if metric.judged is None:
            return metric.compute(**({"case": one} if metric.reads else {}), **given)
        found = court.hear(metric, one, **given)
    assert isinstance(found, Outcome), found
    return found


def off(**on: bool) -> Defects:
    return replace(PAPER, **on)


def test_a_clip_as_asked_has_full_marks(tmp_path: Path) -> None:
    for module in (a1, a2, a3, b1, c1, d2, d3, e1, e3):
        folder = tmp_path / module.__name__.rsplit(".", 1)[-1]
        folder.mkdir()
        found = heard(module, folder)
        assert found.value == pytest.approx(1.0, abs=0.02), (module.__name__, found.details)


def test_records_say_what_was_asked_and_found(tmp_path: Path) -> None:
    found = heard(d3, tmp_path)
    (transition,) = found.details["transitions"]
    assert (transition["wanted"], transition["found"], transition["by"]) == ("l-cut", "l-cut", "sound_bridge")
    assert transition["signals"]["offset"] == pytest.approx(0.8, abs=0.1)
    assert found.details["alignment"]["method"] == "judge"
    assert len(found.details["calls"]) == 1  # no signal was silent, so only the alignment was asked


def test_without_a_judge_signals_use_the_order_of_segments(tmp_path: Path) -> None:
    for module in MODULES:
        metric = module.metric(PAPER)
        assert (metric.judged is None) or (metric.unjudged is not None) == (metric.id in {"a4", "b1", "b2", "d2", "d3"})
    alone = b1.metric(PAPER).unjudged
    found = alone.compute(case=case(), **needed(alone, case(), media()))
    assert found.details["alignment"]["method"] == "order"
    assert "frames" not in alone.needs


def test_a_nonsense_alignment_falls_back_to_order(tmp_path: Path) -> None:
    def lost(asked: Question) -> Raw:
        if asked.task == "cut_segments":
            return written({"labels": [7]})
        return written({"shots": []}) if asked.task == "cut_presence" else knowing(asked)

    found = heard(b1, tmp_path, reply=lost)
    assert found.details["alignment"]["method"] == "order"
    assert len(found.details["calls"]) == 2  # both ways were tried


def test_missing_shots_count_nothing(tmp_path: Path) -> None:
    def first_only(asked: Question) -> Raw:
        return written({"labels": [1, 0]}) if asked.task == "cut_segments" else knowing(asked)

    values = {}
    for module in (a2, d2, d3, e1):
        folder = tmp_path / module.__name__.rsplit(".", 1)[-1]
        folder.mkdir()
        values[module.__name__.rsplit(".", 1)[-1]] = heard(module, folder, reply=first_only).value
    assert values == pytest.approx({"a2": 0.5, "d2": 0.0, "d3": 0.0, "e1": 0.75})


def test_a_wrong_chain_ends_a2(tmp_path: Path) -> None:
    def wrong(asked: Question) -> Raw:
        return knowing(asked) if asked.task != "cut_choice" else label(asked, asked.labels[(_right(asked) + 1) % 4])

    found = heard(a2, tmp_path, reply=wrong)
    assert found.value == 0.0
    assert "grades" not in found.details


def _right(asked: Question) -> int:
    shown = [part.text for part in asked.parts if getattr(part, "name", "").startswith("option ")]
    return shown.index(RIGHT["A2"])


def test_sound_for_a_judge_that_cannot_hear_is_marked(tmp_path: Path) -> None:
    assert heard(e3, tmp_path, identity=SEEING).details["evidence"] == "substitute"
    (tmp_path / "h").mkdir()
    assert heard(e3, tmp_path / "h").details["evidence"] == "native"


def test_a_refusal_is_no_score(tmp_path: Path) -> None:
    def refuses(asked: Question) -> Raw:
        return knowing(asked) if asked.task == "cut_segments" else Raw("", "refusal")

    metric, one = e3.metric(PAPER), case()
    with Court(tmp_path, refuses) as court:
        found = court.hear(metric, one, **needed(metric, one, media()))
    assert isinstance(found, Absent)


def sparing(task: str, item: str = "") -> Any:
    """A judge that knows everything and refuses one kind of question."""

    def answers(asked: Question) -> Raw:
        return Raw("", "refusal") if asked.task == task and item in asked.item else knowing(asked)

    return answers


def test_a_refusal_takes_no_default_in_any_profile(tmp_path: Path) -> None:
    """What the reference makes of an unreadable answer (D-21) needs an answer."""
    for name, defects in (("paper", PAPER), ("compat", off(failure_is_half=True))):
        (tmp_path / name).mkdir()
        found = heard(e1, tmp_path / name, defects, reply=sparing("cut_choice", "E1/scale"))
        assert found.details["fields"]["scale"] is None
        assert found.value == pytest.approx(1.0)  # of the three other fields and the question
        metric, one = a2.metric(defects), case()
        (tmp_path / name / "events").mkdir()
        with Court(tmp_path / name / "events", sparing("cut_event")) as court:
            assert isinstance(court.hear(metric, one, **needed(metric, one, media())), Absent)


@pytest.mark.parametrize("half", [False, True])
def test_a_cut_that_nobody_could_tell_is_0_in_compat_only_if_the_judge_has_answered(tmp_path: Path, half: bool) -> None:
    defects, track = off(fixed_ambience_blocks=True, failure_is_half=half), media()["track"]
    silent = {**media(), "track": replace(track, samples=0 * track.samples), "stems": None, "stem_tags": None}
    metric, one = d3.metric(defects), case()
    given = {**silent, "words": None}
    alone = metric.unjudged or metric
    assert alone is not metric
    assert isinstance(attempt(lambda: alone.compute(case=one, **needed(alone, one, given))), Absent)

    def unsure(question: Question) -> Raw:
        return label(question, "D") if question.task == "cut_relation" else knowing(question)

    for name, reply, value in (("refuses", sparing("cut_relation"), None), ("unsure", unsure, 0.0 if half else None)):
        (tmp_path / name).mkdir()
        with Court(tmp_path / name, reply, HEARING) as court:
            found = court.hear(metric, one, **needed(metric, one, given))
        assert (found.value if isinstance(found, Outcome) else None) == value, name


def test_a_sound_track_that_begins_late_is_dated_by_its_stamp(tmp_path: Path) -> None:
    track = media()["track"]
    for late in (0.3, 0.5):
        (tmp_path / str(late)).mkdir()
        samples = track.samples[round(late * track.rate) :]
        found = heard(d3, tmp_path / str(late), track=replace(track, samples=samples, start=late))
        assert found.details["transitions"][0]["signals"]["offset"] == pytest.approx(0.8, abs=0.1)
    words = Transcript("en", 1.0, (Utterance(2.0, 3.5, "word", -0.2, 0.1),), 6.2)  # 3 to 4.5 s of the picture: a J-cut
    more = {"words": words, "track": replace(track, samples=track.samples[track.rate :], start=1.0)}
    with_stems = {"stems": None, "stem_tags": None}
    (tmp_path / "words").mkdir()
    found = heard(d3, tmp_path / "words", off(fixed_ambience_blocks=True), **more, **with_stems)
    (item,) = found.details["transitions"]
    assert (item["found"], item["by"]) == ("j-cut", "speech")


def test_stretches_of_a_sound_track() -> None:
    sound = Audio(np.arange(1, 11, dtype=np.int16), 10, True, start=0.5)
    assert stretch(sound, 0.5, None).samples.tolist() == list(range(1, 11))
    assert stretch(sound, 0.7, None).samples.tolist() == list(range(3, 11))
    assert stretch(sound, 0.2, None).samples.tolist() == [0, 0, 0, *range(1, 11)]
    assert stretch(sound, 0.2, (0.1, 0.5)).samples.tolist() == [0, 0, 1, 2]
    assert stretch(sound, 0.2, (0.0, 0.2)).samples.tolist() == [0, 0]
    assert stretch(sound, 0.2, (0.0, 9.0)).samples.tolist() == [0, 0, 0, *range(1, 11)]
    with pytest.raises(NotApplicable, match=r"99\.5 s after the picture"):
        stretch(sound, -99.0, None)


def test_a_transition_without_an_answer_is_left_out(tmp_path: Path) -> None:
    """Not counted 0: that is for a shot that is missing."""
    one = case(
        shot(1, 0, CUT, transition_to_next=cut("Whip-Pan Transition")),
        shot(2, CUT, 7.2),
    )
    found = heard(d1, tmp_path, one=one, reply=sparing("cut_transition"))
    assert found.details["unanswered"] == ["D1/transition/1"]
    assert found.details["modes_found"] == {"A+B": None, "C": 1.0}
    (tmp_path / "all").mkdir()
    assert heard(d1, tmp_path / "all", one=one).details["modes_found"]["A+B"] == 1.0


def test_every_question_can_be_sent_to_a_server(tmp_path: Path) -> None:
    """It has one list of times for all clips of a request; the judges of these tests do not mind how many there are."""
    one = case(shot(1, 0, CUT, transition_to_next=cut("logical cut")), shot(2, CUT, 7.2))
    tasks = set()
    for module in MODULES:
        metric = module.metric(PAPER)
        metric = metric.instead or metric
        if metric.judged is None:
            continue
        (tmp_path / metric.id).mkdir()
        with Court(tmp_path / metric.id, knowing, SEEING) as court:
            court.hear(metric, one, **needed(metric, one, media()))
        for asked in court.asked:
            assert chat_request(asked, "judge", range(len(asked.labels)))["messages"]
            tasks.add(asked.task)
    assert tasks >= {"cut_segments", "cut_choice", "cut_event", "cut_transition", "cut_direction", "cut_rhythm"}


class TestDefects:
    def test_d01_flash_labels(self, tmp_path: Path) -> None:
        flash = case(shot(1, 0, 3.6, transition_to_next=cut(optical="Flash-to-White")), shot(2, 3.6, 7.2))
        assert heard(d2, tmp_path, one=flash).value == 0.0
        (tmp_path / "c").mkdir()
        assert heard(d2, tmp_path / "c", off(flash_labels_are_hard_cuts=True), flash).value == 1.0

    def test_d11_zoom_hides_the_camera(self) -> None:
        from evaluator.suites.cutcraft.data import prompt_of

        zooming = case(shot(1, 0, 4, camera=camera(camera_motion="Truck (Lateral Tracking)", optical_motion="Zoom-In")))
        scene = type("S", (), {"prompt": prompt_of(zooming), "defects": PAPER})()
        assert e1.wanted(scene, 0, "motion") == ("Zoom", "Truck")
        scene.defects = off(prefix_camera_labels=True)
        assert e1.wanted(scene, 0, "motion") == ("Zoom",)

    def test_d13_a_name_in_prose_is_a_hit(self, tmp_path: Path) -> None:
        def contrast(asked: Question) -> Raw:
            if asked.item.endswith("C1/montage"):
                return label(asked, "I")
            return knowing(asked)

        assert heard(c1, tmp_path, reply=contrast).value == 0.5
        (tmp_path / "c").mkdir()
        assert heard(c1, tmp_path / "c", off(name_in_prose=True), reply=contrast).value == 1.0

    def test_d21_without_sound(self, tmp_path: Path) -> None:
        from evaluator.errors import NotApplicable

        silent = replace(media()["track"], present=False)
        with pytest.raises(NotApplicable):
            heard(f1, tmp_path, track=silent)
        assert heard(f1, tmp_path, off(failure_is_half=True), track=silent).value == 0.5

    def test_d22_options_are_shown_in_a_drawn_order(self) -> None:
        shown = [order(f"v{k}_q1", 5, PAPER) for k in range(40)]
        first = sum(one[0] == 0 for one in shown)
        assert 2 <= first <= 16
        assert all(sorted(one) == list(range(5)) for one in shown)
        assert order("v1_q1", 5, off(options_as_stored=True)) == (0, 1, 2, 3, 4)

    def test_d25_lengths_shift(self, tmp_path: Path) -> None:
        unknown = shot(1, 0, 3.6, transition_to_next=cut())
        unknown["description_prompt"] = "no times"
        one = case(unknown, shot(2, 3.6, 7.2))
        assert heard(b1, tmp_path, one=one).details["lengths"][1]["asked"] == pytest.approx(3.6)
        (tmp_path / "c").mkdir()
        lengths = heard(b1, tmp_path / "c", off(shifted_durations=True), one).details["lengths"]
        assert lengths[1]["asked"] == 0.0

    def test_profiles_differ_in_every_flag(self) -> None:
        assert all(getattr(PAPER, one.name) is False for one in fields(Defects))


def test_a3_asks_each_cut_in_both_orders(tmp_path: Path) -> None:
    found = heard(a3, tmp_path)
    (chain,) = found.details["chains"]
    assert (chain["forward"], chain["reversed"]) == (1.0, 0.0)
    assert found.details["asked"] == 3
    assert question("A3", ["a", "b"])["options"] == ["A. a", "B. b"]


def alone(asked: Question) -> Raw:
    """A judge that finds the first shot only."""
    return written({"labels": [1, 0]}) if asked.task == "cut_segments" else knowing(asked)


def test_a_clip_of_one_shot_has_no_order(tmp_path: Path) -> None:
    """Spec 7, A3: no chain, no threads: K = 0. A question that was answered is not all there is to know."""
    found = heard(a3, tmp_path, reply=alone)
    assert (found.details["question"], found.details["counterfactual"], found.value) == (1.0, 0.0, 0.5)
    (tmp_path / "silent").mkdir()
    found = heard(a3, tmp_path / "silent", reply=sparing("cut_direction"))
    assert (found.details["counterfactual"], found.value) == (None, 1.0)  # two shots are there, nobody said how


@pytest.mark.parametrize("half", [False, True])
def test_a_refused_question_about_one_shot_is_no_zero(tmp_path: Path, half: bool) -> None:
    def refuses(asked: Question) -> Raw:
        return alone(asked) if asked.task == "cut_segments" else Raw("", "refusal")

    with Court(tmp_path, refuses, HEARING) as court:
        metric = a3.metric(off(failure_is_half=half))
        found = court.hear(metric, case(), **needed(metric, case(), media()))
    assert isinstance(found, Absent)


def test_events_that_nobody_graded_are_named(tmp_path: Path) -> None:
    found = heard(a2, tmp_path, reply=sparing("cut_event", "A2/event/2"))
    assert (found.value, found.details["grades"], found.details["unanswered"]) == (1.0, [1.0, None], [2])
    (tmp_path / "alone").mkdir()
    assert heard(a2, tmp_path / "alone", reply=alone).details["unanswered"] == []


def test_a_shot_without_a_segment_has_the_times_that_the_judge_saw(tmp_path: Path) -> None:
    """Spec 5, the second way of aligning: two shots of the script in one segment."""
    times = [(1, "present", 0.0, 2.0), (2, "merged", 2.0, 3.5)]

    def unsure(asked: Question) -> Raw:
        if asked.task == "cut_segments":
            return written({"labels": [9, 9]})
        named = [dict(zip(("shot", "status", "start", "end"), one, strict=True)) for one in times]
        return written({"shots": named}) if asked.task == "cut_presence" else knowing(asked)

    record = heard(b1, tmp_path, reply=unsure).details["alignment"]
    assert record["method"] == "judge"
    assert [(one["status"], one["span"]) for one in record["shots"]] == [
        ("matched", [0.0, pytest.approx(3.58, abs=0.05)]),
        ("merged", [2.0, 3.5]),
    ]


def in_two_places(defects: Defects) -> Scene:
    """The first shot before and after the second one; a picture every quarter of a second, unlike between shots."""
    three = case(shot(1, 0, 2, transition_to_next=cut()), shot(2, 2, 5, 1))
    made = Scene.of(defects, three, media())
    made = replace(made, edit=replace(made.edit, segments=((0.0, 2.0), (2.0, 5.0), (5.0, 7.0))))
    align = {"align/segments": Answer(Status.OK, "", value={"labels": [1, 2, 1]})}
    rows = np.arange(0, 168, 6)
    looks = Embeddings(np.eye(2, dtype=np.float32)[((rows >= 48) & (rows < 120)).astype(int)], rows)
    return replace(made.told(align), media={**made.media, "looks": looks})


def test_d23_what_lies_between_the_places_of_a_shot_is_not_shown(tmp_path: Path) -> None:
    spans = {}
    for name, defects in (("paper", PAPER), ("compat", off(merged_spans=True))):
        scene = in_two_places(defects)
        assert [one.span for one in scene.alignment.shots] == [(0.0, 7.0), (2.0, 5.0)]
        (chosen,) = a2.chain_stage(scene, {})
        right = chosen.told["options"].index(RIGHT["A2"])
        said = {a2.QUESTION: Answer(Status.OK, "", label="ABCD"[right])}
        first, _ = a2.event_stage(scene, said)
        spans[name] = first.told["spans"]
        (part,) = scene.part("shot", *(tuple(span) for span in spans[name]))
        assert all(time < 2.0 or time >= 5.0 for time in part.times) == (name == "paper")
        assert a4.stability(scene)[1]["0"] == pytest.approx(1.0 if name == "paper" else 25 / 27)
    assert spans == {"paper": [[0.0, 2.0], [5.0, 7.0]], "compat": [[0.0, 7.0]]}


def test_a_still_shot_is_told_as_still() -> None:
    """The flow from its last picture to the first one of the next shot is no motion of its camera."""
    scene = Scene.of(PAPER, case(), media())
    for span in scene.edit.segments:
        told = [float(str(one)) for one in e1.evidence(scene, span, "motion").values()]
        assert told == pytest.approx([0.0, 0.0, 0.0], abs=0.05)


def test_the_cuts_of_a_recomposed_clip_are_where_they_are_said_to_be() -> None:
    """A shot of a quarter of a second is one picture of its own, and none of its neighbour's."""
    scene = Scene.of(PAPER, case(), media())
    way = a3.Order("A3/chain0/forward", (0, 1), ((3.25, 3.5), (0.0, 1.0)))
    assert (way.cuts, way.reversed().cuts) == ([0.25], [1.0])
    for order_ in (way, way.reversed()):
        (part,) = scene.sequence(order_.spans)
        assert part.times[:5] == pytest.approx((0.0, 0.25, 0.5, 0.75, 1.0))
        assert all(time < 1.01 for time in part.times)  # the last picture may come twice, to make their number even


def test_an_unreadable_motion_is_never_right(tmp_path: Path) -> None:
    """D-21: the reference has defaults for scale, angle and depth, and none for motion."""
    loose = off(failure_is_half=True, loose_letters=True, options_as_stored=True)

    def mumbles(asked: Question) -> Raw:
        return Raw("(?)", "stop") if asked.task == "cut_choice_text" else knowing(asked)

    fields = heard(e1, tmp_path, loose, reply=mumbles).details["fields"]
    assert fields == {"motion": 0.0, "scale": 1.0, "angle": 1.0, "depth": 0.0}


def test_a_contrast_is_seen_at_a_cut_that_a_sampled_picture_begins() -> None:
    """Pictures are sampled every six frames; the new shot begins with one of them."""
    one = case(shot(1, 0, 3.5, transition_to_next=cut("contrast cut")), shot(2, 3.5, 7))
    made = Scene.of(PAPER, one, media())
    rows = np.arange(0, 168, 6)
    looks = Embeddings(np.eye(2, dtype=np.float32)[(rows >= 84).astype(int)], rows)
    segments = ((0.0, 3.5), (3.5, 7.0))
    made = replace(made, edit=replace(made.edit, segments=segments), media={**made.media, "looks": looks})
    labels = {"align/segments": Answer(Status.OK, "", value={"labels": [1, 2]})}
    assert made.told(labels).cuts == [3.5]
    assert d1.measure(made.told(labels), 0) == 1.0


def test_a_sound_match_is_heard_on_the_clock_of_the_pictures() -> None:
    """The sound begins two seconds after the picture, and changes at the cut."""
    one = case(shot(1, 0, CUT, transition_to_next=cut("sound match")), shot(2, CUT, 7.2))
    after = (np.arange(14) * 0.48 + 2.0 >= CUT - 0.2)[:, None]
    tags = AudioTags(np.where(after, [1.0, 0.0], [0.0, 1.0]).astype(np.float32), ("a", "b"), 0.48)
    late = {**media(), "tags": tags, "sound": replace(media()["sound"], start=2.0)}
    assert d1.measure(Scene.of(PAPER, one, late), 0) == pytest.approx(0.0)


def test_d16_seconds_beyond_the_last_one_are_the_last_one() -> None:
    one = case(shot(1, 0, CUT, transition_to_next=cut("sound match")), shot(2, CUT, 7.2))
    short = AudioTags(np.eye(2, dtype=np.float32)[[0, 0, 0, 1, 1]], ("a", "b"), 0.48)  # until 1.92 s
    scene = Scene.of(off(segments_before_cut=True), one, {**media(), "tags": short})
    assert d1.measure(scene, 0) == pytest.approx(1.0)


def test_d09_the_reference_takes_its_kth_half_second_for_the_kth_cut() -> None:
    """And tells a constant of whatever it looks for at the wrong place (D-02), but not of scales around a cut."""
    one = case(shot(1, 0, CUT, transition_to_next=cut("logical cut")), shot(2, CUT, 7.2))
    halves = Embeddings(np.array([[1, 0], [0.8, 0.6], [0, 1]], np.float32), np.array([0, 12, 24]))
    scene = Scene.of(off(sample_cosines=True, lost_summaries=True), one, {**media(), "halves": halves})
    told = [list(d1.evidence(scene, place, "logical cut", CUT).values()) for place in (0, 1, 2)]
    assert told == [[pytest.approx(0.8)], [pytest.approx(0.6)], [None]]
    assert d1.evidence(scene, 0, "extreme scale cut", CUT) == {}
    assert d1.evidence(scene, 0, "empty shot", CUT) == {"persons": "N/A", "scene": "N/A"}
    assert d1.metric(COMPAT).needs["halves"].sampling.params == (2, 16)


def test_c1_compares_groups_of_shots_picture_by_picture() -> None:
    """Spec 7: weighted by the pairs of pictures, written out here."""
    before = [shot(1, 0, 1, transition_to_next=cut()), shot(2, 1, 5, 1, transition_to_next=cut())]
    three = case(*before, shot(3, 5, 7.2))
    rows = np.arange(0, 172, 6)
    draw = np.random.RandomState(3).standard_normal((len(rows), 4)).astype(np.float32)
    made = Scene.of(off(prompt_times=True), three, {**media(), "looks": Embeddings(draw, rows)})
    unit = draw / np.linalg.norm(draw, axis=1, keepdims=True)
    owner = np.digitize(rows / 24.0, [1.0, 5.0])
    pairs = [(a, b) for a, b in product(range(len(rows)), repeat=2) if owner[a] < owner[b]]
    same = np.mean([unit[a] @ unit[b] for a, b in pairs if (owner[a], owner[b]) == (0, 2)])
    apart = np.mean([unit[a] @ unit[b] for a, b in pairs if (owner[a], owner[b]) != (0, 2)])
    told = c1.measured(made)
    assert told["mean cosine of shots that the script groups together"] == pytest.approx(same, abs=6e-4)
    assert told["mean cosine of shots that it keeps apart"] == pytest.approx(apart, abs=6e-4)
    assert float(str(told["mean of these cosines"])) == pytest.approx(
        np.mean([float(one) for one in str(told["cosines of neighbouring shots"]).split(", ")]), abs=1.1e-3
    )


def test_pictures_are_looked_at_as_the_paper_does() -> None:
    """Spec 4: fractions of E2's places are cut off; DINOv2 sees the middle of a picture, and stands in for nobody."""
    assert e2.metric(PAPER).needs["aesthetics"].sampling.rule == "linspace_floor"
    for module in (a4, d1):
        assert dict(module.metric(PAPER).needs["looks"].options) == {"preprocess": "hf_crop"}
        assert "image_embedding" not in module.metric(PAPER).stands_in_for
