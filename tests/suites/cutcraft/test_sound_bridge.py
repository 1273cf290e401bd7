"""Sound bridges of known offset (spec 15.6), and what may not decide them."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.media.types import Audio
from evaluator.suites.cutcraft.ambience import ambience
from evaluator.suites.cutcraft.labels import Relation
from evaluator.suites.cutcraft.sound_bridge import Bridge, bridge
from evaluator.suites.cutcraft.sound_likeness import (
    BANDS,
    NEIGHBOURS,
    WORST_STEP,
    band_levels,
    contrast,
    cost,
    divided,
    likeness,
    summed,
)
from tests.suites.cutcraft.scenes import as_audio, band, bridged

CUT = 5.0


def judge(sound: Audio) -> Bridge:
    return bridge(sound, CUT, (0.0, CUT), (CUT, 10.0))


@pytest.mark.parametrize("offset", [0.2, 0.3, 0.5, 0.8, 1.5, 2.0])
@pytest.mark.parametrize("mixed", [True, False])
def test_offsets_are_measured(offset: float, mixed: bool) -> None:
    """The reference reads 0.2 and 0.3 s as straight."""
    early = judge(bridged(CUT - offset, CUT if mixed else CUT - offset))
    late = judge(bridged(CUT if mixed else CUT + offset, CUT + offset))
    assert (early.relation, late.relation) == (Relation.J_CUT, Relation.L_CUT)
    assert early.offset == pytest.approx(-offset, abs=0.05)
    assert late.offset == pytest.approx(offset, abs=0.05)


@pytest.mark.parametrize("fade", [0.0, 0.1, 0.4])
def test_a_crossfade_around_the_cut_is_straight(fade: float) -> None:
    """The reference reads 0.4 s as an L-cut."""
    assert judge(bridged(CUT, CUT, fade=fade)).relation is Relation.STRAIGHT


def test_the_same_sound_throughout_says_nothing() -> None:
    """The reference calls a noise floor a J-cut."""
    floor = 1e-4 * np.random.RandomState(0).standard_normal(10 * 22_050)
    for sound in (as_audio(floor), as_audio(band(300, 3000, 10.0, 4)), as_audio(np.zeros(10 * 22_050))):
        assert judge(sound).relation is None


def test_a_common_bed_and_level_do_not_decide() -> None:
    sound = bridged(CUT - 0.6, CUT).float32.astype(np.float64)
    bed = 0.4 * band(500, 2500, 10.0, 9)
    for one in (0.1 * sound, sound + bed):
        assert judge(as_audio(one)).relation is Relation.J_CUT


def test_sound_that_starts_late_is_dated_by_its_stamp() -> None:
    sound = bridged(CUT - 0.5, CUT)
    late = Audio(sound.samples, sound.rate, True, start=1.0)
    found = bridge(late, CUT + 1.0, (1.0, CUT + 1.0), (CUT + 1.0, 11.0))
    assert (found.relation, round(found.offset, 1)) == (Relation.J_CUT, -0.5)


def test_time_turned_round_turns_the_relation() -> None:
    sound = bridged(CUT - 0.5, CUT)
    turned = judge(Audio(sound.samples[::-1].copy(), sound.rate, True))
    assert turned.relation is Relation.L_CUT
    assert turned.offset == pytest.approx(0.5, abs=0.06)


def test_no_sound_and_short_shots_are_not_applicable() -> None:
    with pytest.raises(NotApplicable, match="no audio"):
        judge(Audio(np.zeros(220_500, np.int16), 22_050, present=False))
    with pytest.raises(NotApplicable, match="too short"):
        bridge(bridged(CUT, CUT), CUT, (CUT - 0.5, CUT), (CUT, 10.0))


def test_an_equal_moment_costs_nothing_and_a_strange_one_no_more_than_the_worst() -> None:
    levels = np.random.RandomState(0).uniform(-10, 0, (5, BANDS))
    alike = likeness(levels, levels)
    assert np.array_equal(np.diag(alike), np.ones(5))
    assert np.array_equal(alike, alike.T)
    assert cost(np.array([1.0, 0.0])) == pytest.approx([0.0, WORST_STEP], abs=1e-9)


def test_a_division_is_cheapest_where_the_sound_changes() -> None:
    """Against the definition, written out for one e; no step is explained by its neighbours."""
    draw = np.random.RandomState(0)
    levels = np.vstack([draw.normal(mean, 0.3, (40, BANDS)) for mean in (-9, -3)])
    first, second = divided(levels)
    assert int(np.argmin((first + second)[20:60])) + 20 == 40
    alike, e = likeness(levels, levels), 30
    others = [[s for s in range(e) if abs(s - t) > NEIGHBOURS] for t in range(e)]
    wanted = sum(float(cost(alike[t, known].mean())) for t, known in enumerate(others))
    assert first[e] == pytest.approx(wanted)
    assert (first[0], second[-1]) == (0.0, 0.0)


def test_both_at_once_is_known_from_the_sounds_alone() -> None:
    low, high = band(200, 900, 4.0, 1), band(1500, 5000, 4.0, 2)
    a, b, both = (band_levels(one, 22_050) for one in (low, high, low + high))
    assert summed(both, a, b).mean() < 0.3 < summed(a, a, b).mean()


def test_contrast() -> None:
    a, b, c = (
        band_levels(band(*one), 22_050) for one in ((200, 900, 4.0, 1), (200, 900, 4.0, 3), (1500, 5000, 4.0, 2))
    )
    assert abs(contrast(a, b)) < 0.02 < 0.5 < contrast(a, c)
    assert contrast(a, c) == pytest.approx(contrast(c, a))


def test_powers_of_independent_sounds_add() -> None:
    low, high = band(200, 900, 4.0, 1), band(1500, 5000, 4.0, 2)
    a, b, both = (band_levels(one, 22_050).mean(axis=0) for one in (low, high, low + high))
    assert both == pytest.approx(np.logaddexp(a, b), abs=0.3)


class TestAmbienceOfTheReference:
    """Spec 15.6, measured on other noise of the same kind."""

    @pytest.mark.parametrize(
        ("begins", "ends", "wanted"),
        [
            (CUT, CUT, Relation.STRAIGHT),
            (CUT - 0.8, CUT, Relation.J_CUT),
            (CUT, CUT + 0.8, Relation.L_CUT),
            (CUT - 0.5, CUT, Relation.J_CUT),
            (CUT, CUT + 0.5, Relation.L_CUT),
            (CUT, CUT + 0.3, Relation.L_CUT),
            (CUT - 0.3, CUT, Relation.STRAIGHT),  # D-18
            (CUT - 0.2, CUT, Relation.STRAIGHT),  # D-18
        ],
    )
    def test_table(self, begins: float, ends: float, wanted: Relation) -> None:
        assert ambience(bridged(begins, ends), CUT).relation is wanted

    def test_measured_fullness(self) -> None:
        """The spec's figures, within what other noise makes of them."""
        offsets = [(CUT - 0.8, CUT, 0.471), (CUT - 0.5, CUT, 0.720), (CUT - 0.3, CUT, 0.860), (CUT, CUT + 0.3, 0.775)]
        assert [ambience(bridged(begins, ends), CUT).full for begins, ends, _ in offsets] == pytest.approx(
            [full for *_, full in offsets], abs=0.05
        )

    def test_a_crossfade_reads_as_an_l_cut(self) -> None:
        """D-18, measured with a fullness of 0.845."""
        found = ambience(bridged(CUT, CUT, fade=0.4), CUT)
        assert (found.relation, found.full) == (Relation.L_CUT, pytest.approx(0.845, abs=0.03))

    def test_silence_and_one_bed_are_unavailable(self) -> None:
        assert ambience(as_audio(np.zeros(220_500)), CUT).relation is None
        assert ambience(as_audio(band(300, 3000, 10.0, 4)), CUT).relation is None

    def test_a_cut_near_an_end_is_unavailable(self) -> None:
        assert ambience(bridged(CUT, CUT), 0.5).relation is None
