"""What needs no judge: identities, monotonic damage, silence, and the twin of CMTG on made-up bells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from evaluator.errors import NotApplicable
from evaluator.experts.features import Alignment, Embeddings, FrameDistance
from evaluator.media.sampling import select
from evaluator.media.types import Audio
from evaluator.schema import ExpertNeed, Sampling
from evaluator.suites.avenue import SUITE, curation, trigger_timing
from evaluator.suites.avenue.similarity import CLAP, LPIPS, V_CLIP
from evaluator.suites.avenue.trigger_timing import departures, onset_f1
from tests.experts.pictures import frames_of
from tests.experts.sounds import sound
from tests.suites.avenue.cases import case, tone


def embeddings(rows: np.ndarray) -> Embeddings:
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return Embeddings(rows.astype(np.float32), np.arange(len(rows)))


ROWS = np.random.default_rng(0).standard_normal((16, 20))


def test_a_byte_copy_has_one_nought_and_one() -> None:
    """The built-in sanity test of section 2.3."""
    same = embeddings(ROWS)
    assert V_CLIP.compute(case=case(), output=same, source=same).value == pytest.approx(1, abs=1e-6)
    distance = FrameDistance(np.zeros(16, np.float32))
    assert LPIPS.compute(case=case(), distance=distance).value == 0
    one = embeddings(ROWS[:1])
    sounds = {"output_sound": tone(), "source_sound": tone()}
    assert CLAP.compute(case=case(), output=one, source=one, **sounds).value == pytest.approx(1, abs=1e-6)


def test_v_clip_falls_as_frames_move_away() -> None:
    other = np.random.default_rng(1).standard_normal(ROWS.shape)
    values = [
        V_CLIP.compute(case=case(), output=embeddings(ROWS + k * other), source=embeddings(ROWS)).value
        for k in (0, 0.3, 1, 3)
    ]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.6 < values[1]


def test_clap_falls_as_another_sound_takes_over() -> None:
    other = np.random.default_rng(1).standard_normal(ROWS[:1].shape)
    sounds = {"output_sound": tone(), "source_sound": tone()}
    values = [
        CLAP.compute(case=case(), output=embeddings(ROWS[:1] + k * other), source=embeddings(ROWS[:1]), **sounds).value
        for k in (0, 0.3, 1, 3)
    ]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.9 < values[1]


def test_lpips_is_the_mean_over_moments_and_rises_with_any_of_them() -> None:
    values = [
        LPIPS.compute(case=case(), distance=FrameDistance(np.array([0.1, 0.2, last], np.float32))).value
        for last in (0.0, 0.3, 0.9)
    ]
    assert values == pytest.approx([0.1, 0.2, 0.4])


def test_silence_has_no_embedding_and_is_no_nought() -> None:
    one = embeddings(ROWS[:1])
    with pytest.raises(NotApplicable, match="output is silent"):
        CLAP.compute(case=case(), output=one, source=one, output_sound=sound(np.zeros(32_000)), source_sound=tone())


def test_requests_name_the_common_duration_and_the_text() -> None:
    one = case("C")
    need = SUITE.metric("text_audio").needs_for(one)["alignment"]
    assert isinstance(need, ExpertNeed)
    assert need.options == (("seconds", 2.0), ("text", "a bell in the wind"))
    needs = V_CLIP.needs_for(one)
    assert [need.sampling.params for need in needs.values()] == [(16, 1.96, 2.0)] * 2  # type: ignore[union-attr]


def test_pictures_of_two_shapes_are_compared_at_the_shape_of_the_source() -> None:
    """An expert of pairs resizes its second clip to its first."""
    need = LPIPS.needs_for(case("B"))["distance"]
    assert isinstance(need, ExpertNeed)
    assert need.roles == ("source", "video")


def test_no_frame_after_the_common_duration_is_asked_for() -> None:
    """50 frames of 0.04 s fill two seconds, or eight of 0.25 s: a frame at 2.0 s is one too many."""
    for metric in (V_CLIP, LPIPS, SUITE.metric("text_video"), SUITE.metric("audio_video")):
        for one in metric.needs_for(case("C")).values():
            if isinstance(one, ExpertNeed):
                assert one.sampling is not None
                assert [select(one.sampling, np.arange(100) / rate).max() for rate in (25, 4)] == [49, 7]


def test_a_prompt_that_says_nothing_of_the_picture_has_no_text_video() -> None:
    silent = case("B", target_prompt={"audio": "a bell"})
    alignment = Alignment(np.array([0.2, 0.4], np.float32))
    assert SUITE.metric("text_video").compute(case=case("B"), alignment=alignment).value == pytest.approx(0.3)
    with pytest.raises(NotApplicable, match="says nothing"):
        SUITE.metric("text_video").compute(case=silent, alignment=alignment)


def test_what_stands_in_asks_a_capability_of_its_own_about_the_same_text_and_duration() -> None:
    for name, capability, sampling in (
        ("text_audio", "text_and_sound_names", None),
        ("text_video", "text_and_picture_names", Sampling("moments", (16, 1.96, 2.0))),
        ("audio_video", "sound_and_picture_names", Sampling("moments", (16, 1.96, 2.0))),
    ):
        metric = SUITE.metric(name)
        assert metric.instead is not None
        published, instead = (one.needs_for(case("C"))["alignment"] for one in (metric, metric.instead))
        assert isinstance(published, ExpertNeed)
        assert published.sampling == sampling
        assert instead == replace(published, capability=capability)
        assert (metric.instead.id, metric.instead.title) == (name, f"{metric.title}, by names")


def test_a_silent_output_goes_with_no_picture() -> None:
    alignment = Alignment(np.array([0.2, 0.4], np.float32))
    metric = SUITE.metric("audio_video")
    for one in (metric, metric.instead):
        assert one is not None
        assert one.compute(case=case("C"), alignment=alignment, sound=tone()).value == pytest.approx(0.3)
        with pytest.raises(NotApplicable, match="output is silent"):
            one.compute(case=case("C"), alignment=alignment, sound=sound(np.zeros(32_000)))


def test_curation_never_takes_a_stand_in_for_its_thresholds() -> None:
    needs = curation.LANGUAGE.needs_for(case(source_prompt="a bell"))
    assert needs["alignment"].capability == "clap_text_audio"  # type: ignore[union-attr]
    assert curation.AV.needs["alignment"].capability == "imagebind_av"  # type: ignore[union-attr]
    assert all(metric.instead is None for metric in curation.METRICS)


# ---------------------------------------------------------------------------------------------------- triggers


def bells(*onsets: float, seconds: float = 4.0) -> Audio:
    """Faint noise, and a tone of 0.3 s from each onset on."""
    time = np.arange(round(seconds * 16_000)) / 16_000
    ringing = sum(((time >= at) & (time < at + 0.3)).astype(float) for at in onsets) if onsets else 0 * time
    noise = 0.01 * np.random.default_rng(0).standard_normal(len(time))
    return sound(noise + 0.4 * ringing * np.sin(2 * np.pi * 900 * time))


def triggered(*intervals: tuple[float, float], modality: str = "video") -> object:
    trigger = {"modality": modality, "description": "the door shuts", "intervals": [list(one) for one in intervals]}
    scope = "A" if modality == "video" else "B"
    return case(scope, trigger=trigger, matched={"seconds": 4.0, "frames": 100, "span": 3.96, "systems": []})


def twin(output: Audio, *intervals: tuple[float, float]) -> float:
    return trigger_timing.compute(triggered(*intervals), output_sound=output, source_sound=bells()).value  # type: ignore[arg-type]


def test_bells_at_the_trigger_score_one_and_elsewhere_nought() -> None:
    assert twin(bells(1.0, 3.0), (1.0, 1.2), (3.0, 3.2)) == 1
    assert twin(bells(1.4, 3.3), (1.0, 1.2), (3.0, 3.2)) == 1
    assert twin(bells(2.0), (1.0, 1.2), (3.0, 3.2)) == 0
    assert twin(bells(), (1.0, 1.2)) == 0


def test_a_bell_too_many_and_a_bell_too_few() -> None:
    assert twin(bells(1.0, 2.0, 3.0), (1.0, 1.2), (3.0, 3.2)) == pytest.approx(2 * 2 / 5)
    assert twin(bells(1.0), (1.0, 1.2), (3.0, 3.2)) == pytest.approx(2 / 3)


def test_pictures_that_change_at_a_sound() -> None:
    still = np.full((40, 24, 32, 1), 90, np.uint8)
    flash = still.copy()
    flash[10:14] = 160
    needs = {"output_frames": frames_of(flash), "source_frames": frames_of(still)}
    assert trigger_timing.compute(triggered((1.1, 1.3), modality="audio"), **needs).value == 1  # type: ignore[arg-type]
    other = replace(needs["source_frames"], data=still[:, :20])
    with pytest.raises(NotApplicable, match="aspects"):
        trigger_timing.compute(
            triggered((1.1, 1.3), modality="audio"), output_frames=needs["output_frames"], source_frames=other
        )  # type: ignore[arg-type]


@given(
    st.lists(st.floats(0, 60), max_size=8, unique=True), st.lists(st.floats(0, 60), min_size=1, max_size=8, unique=True)
)
def test_f1_is_bounded_and_one_only_for_what_fits(found: list[float], wanted: list[float]) -> None:
    value = onset_f1(sorted(found), sorted(wanted))
    assert 0 <= value <= 1
    assert onset_f1(sorted(wanted), sorted(wanted)) == 1


@pytest.mark.parametrize("tenths", range(60))
def test_half_a_second_is_within_the_tolerance_wherever_it_lies(tenths: int) -> None:
    """1.1 - 0.6 is a little more than 0.5 in floating point."""
    early, late = tenths / 10, (tenths + 5) / 10
    assert onset_f1([early], [late]) == onset_f1([late], [early]) == 1
    assert onset_f1([early], [late + 0.01]) == onset_f1([late + 0.01], [early]) == 0


def most_pairs(found: list[float], wanted: list[float]) -> int:
    """The largest number of onsets that can be matched, each once."""
    if not found or not wanted:
        return 0
    near = np.abs(np.subtract.outer(found, wanted)) <= 0.5 + 1e-6
    rows, columns = linear_sum_assignment(near, maximize=True)
    return int(near[rows, columns].sum())


@given(st.lists(st.integers(0, 40), max_size=6), st.lists(st.integers(0, 40), min_size=1, max_size=6))
def test_onsets_are_matched_as_well_as_they_can_be(found: list[int], wanted: list[int]) -> None:
    ours, theirs = ([value / 10 for value in sorted(one)] for one in (found, wanted))
    assert onset_f1(ours, theirs) == pytest.approx(2 * most_pairs(ours, theirs) / (len(ours) + len(theirs)))


def test_a_short_gap_does_not_end_a_run() -> None:
    curve = np.array([0, 9, 9, 0, 9, 0, 0, 0, 9, 0.0])
    assert departures(curve, 3.0) == [(0.1, 0.5), (0.8, 0.9)]
    assert departures(np.full(5, 2.0), 3.0) == []


# ---------------------------------------------------------------------------------------------------- curation


def test_dynamics_of_a_still_clip_and_of_noise() -> None:
    rng = np.random.default_rng(0)
    still = np.repeat(rng.integers(0, 256, (1, 40, 40, 1), np.uint8), 10, axis=0)
    noise = rng.integers(0, 256, (10, 40, 40, 1), np.uint8)
    values = [curation.compute_dynamics(frames_of(data)).value for data in (still, noise)]
    assert values[0] == pytest.approx(1)
    assert abs(values[1]) < 0.05
    bound = {one.metric: one for one in curation.BOUNDS}["curation_dynamics"]
    assert [bound.passes(value) for value in (*values, 0.85)] == [False, True, True]


def test_both_correspondences_must_exceed_their_bound() -> None:
    bounds = {one.metric: one for one in curation.BOUNDS}
    assert not bounds["curation_av_correspondence"].passes(0.3)
    assert bounds["curation_audio_language"].passes(0.3001)
    assert bounds["curation_scene_consistency"].passes(0.75)
    assert bounds["curation_coherent_subject"].passes(9.0)
    assert not bounds["curation_persons"].passes(3.1)


def test_the_dominant_class_has_the_largest_area_over_all_frames() -> None:
    from evaluator.experts.features import Detections

    small, large = [0, 0, 0.2, 0.2], [0, 0, 0.9, 0.9]
    rows = [*range(10), *range(4)]
    found = Detections(
        np.array(rows), np.array([small] * 10 + [large] * 4, np.float32), np.ones(14, np.float32),
        ("person",) * 10 + ("dog",) * 4, np.arange(10),
    )  # fmt: skip
    subject = curation.compute_subject(found)
    assert (subject.value, subject.details["dominant"]) == (4.0, "dog")
    assert curation.compute_persons(found).value == 1.0
