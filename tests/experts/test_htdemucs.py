"""HTDemucs by sessions that honour the contract: windows, overlap, repetition, silence, and facts against numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts import htdemucs
from evaluator.experts.complex_spectra import BINS
from evaluator.experts.features import SoundStems
from evaluator.experts.htdemucs import EXPERT, FILE, STEMS, WINDOW, triangle
from evaluator.media.types import Audio
from evaluator.runtime.session import Array
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSession, FakeSource

WANT = ExpertNeed("sound_stems")
SHARES = np.array([0.1, 0.2, 0.3, 0.4])
FRAMES = 336


def shares(feeds: Mapping[str, Array]) -> dict[str, Any]:
    """Every stem is a fixed share of the mix, and the spectra say nothing."""
    return {
        "waves": SHARES[:, None, None] * feeds["wave"][:, None],
        "spectra": np.zeros((1, 4, *feeds["spectrum"].shape[1:])),
    }


def by_spectrum(feeds: Mapping[str, Array]) -> dict[str, Any]:
    """The same, all of it in the spectra."""
    spectra = SHARES[:, None, None, None] * feeds["spectrum"][:, None]
    return {"waves": np.zeros((1, 4, 2, WINDOW)), "spectra": spectra}


@contextmanager
def small() -> Iterator[None]:
    """Windows of 800 samples and no spectra, so that many windows cost nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(htdemucs, "WINDOW", 800)
        patch.setattr(htdemucs, "STRIDE", 600)
        patch.setattr(htdemucs, "spectra", lambda wave: np.zeros((4, 1, 1), np.float32))
        patch.setattr(htdemucs, "waves", lambda spectra, samples: np.zeros((2, samples), np.float32))
        yield


def sound(samples: int, seed: int = 0, level: float = 0.1) -> Audio:
    """Stereo noise, its two channels partly alike."""
    draw = np.random.RandomState(seed)
    both = level * (draw.standard_normal((samples, 1)) + 0.5 * draw.standard_normal((samples, 2)))
    return Audio(np.clip(np.round(32768 * both), -32768, 32767).astype(np.int16), 44_100, True, start=0.25)


def stems(audio: Audio, respond: Callable[[Mapping[str, Array]], Any] = shares) -> tuple[SoundStems, FakeSession]:
    session = FakeSession(respond)
    found = EXPERT(FakeSource({FILE: session})).run(WANT, {"audio": audio})
    return found, session


def test_contract() -> None:
    found, session = stems(sound(WINDOW + 1000), by_spectrum)
    assert tuple(found.mono) == STEMS == ("drums", "bass", "other", "vocals")
    assert (found.rate, found.start) == (44_100, 0.25)
    for feeds in session.fed:
        assert (feeds["wave"].shape, feeds["wave"].dtype) == ((1, 2, WINDOW), np.float32)
        assert (feeds["spectrum"].shape, feeds["spectrum"].dtype) == ((1, 4, BINS, FRAMES), np.float32)
    assert [len(one) for one in found.mono.values()] == 4 * [WINDOW + 1000]


def test_both_branches_count_and_the_spectral_one_comes_back_as_sound() -> None:
    audio = sound(WINDOW // 2)
    low = np.cumsum(audio.samples.astype(float), axis=0)
    audio = Audio((20_000 * low / np.abs(low).max()).astype(np.int16), 44_100, True)  # little in the highest bin
    one, two = stems(audio)[0], stems(audio, by_spectrum)[0]
    for name in STEMS:
        inner = slice(4096, -4096)
        assert two.mono[name][inner] == pytest.approx(one.mono[name][inner], abs=1e-4)


@given(st.integers(2, 4000))
@settings(deadline=None, max_examples=40)
def test_shares_of_the_mix_add_up_to_the_mix(samples: int) -> None:
    """Windows, weights and context leave nothing behind. The mean is given back to every stem, as its authors do."""
    audio = sound(samples, seed=samples)
    with small():
        found, session = stems(audio)
    mix = audio.float32.mean(axis=1, dtype=np.float64)
    assert sum(found.mono.values()) == pytest.approx(mix + 3 * mix.mean(), abs=1e-5)
    assert found.mono["other"] - mix.mean() == pytest.approx(0.3 * (mix - mix.mean()), abs=1e-5)
    assert len(session.fed) == (1 if samples < 800 else -(-samples // 600))


def test_windows_fade_into_each_other_by_a_triangle() -> None:
    """A network that answers its window's number: 0, then a mixture by weight, then 1."""
    count = iter(range(9))

    def numbered(feeds: Mapping[str, Array]) -> dict[str, Any]:
        return {"waves": np.full((1, 4, 2, 800), next(count)), "spectra": np.zeros((1, 4, 1, 1, 1))}

    audio = sound(1300, level=0.05)
    with small():
        found, _ = stems(audio, numbered)
    middle = audio.float32.mean(axis=1, dtype=np.float64)
    heard = (found.mono["bass"] - middle.mean()) / middle.std(ddof=1)
    weight = triangle(800)
    assert (weight.max(), len(weight)) == (1.0, 800)
    assert heard[:600] == pytest.approx(0.0, abs=1e-5)
    assert heard[600:800] == pytest.approx(weight[:200] / (weight[:200] + weight[600:]), abs=1e-4)
    assert heard[800:1200] == pytest.approx(1.0, abs=1e-4)
    assert heard[1250] > 1.0  # the third window begins at 1200


def test_a_last_window_is_heard_in_the_context_before_it() -> None:
    audio = sound(1300)
    with small():
        _, session = stems(audio)
    mix = audio.float32.T
    middle = mix.mean(axis=0, dtype=np.float64)
    normal = (mix - middle.mean()) / middle.std(ddof=1)
    last = session.fed[2]["wave"][0]  # of samples 1200 to 1299, in the middle of 800
    assert last[:, 350:450] == pytest.approx(normal[:, 1200:], abs=1e-5)
    assert last[:, :350] == pytest.approx(normal[:, 850:1200], abs=1e-5)
    assert not last[:, 450:].any()


def test_short_sound_is_repeated_and_cut_back() -> None:
    with small():
        found, session = stems(sound(300))
    window = session.fed[0]["wave"][0]
    assert np.array_equal(window[:, :300], window[:, 300:600])
    assert np.array_equal(window[:, :200], window[:, 600:])
    assert len(found.mono["drums"]) == 300


def test_silence_has_silent_stems_and_asks_nobody() -> None:
    opposite = sound(5000).samples[:, :1] * np.array([1, -1], np.int16)  # silent as the mean of its channels
    for samples in (np.zeros((5000, 2), np.int16), np.full((5000, 2), 77, np.int16), opposite):
        found, session = stems(Audio(samples, 44_100, True))
        assert not session.fed
        assert not np.stack(list(found.mono.values())).any()
        assert [(one.rms, one.peak, one.energy_ratio) for one in found.facts.values()] == 4 * [(0.0, 0.0, 0.0)]


def test_facts_are_those_of_the_stereo_stems() -> None:
    audio = sound(2000, seed=3)
    with small():
        found, _ = stems(audio)
    mix = audio.float32.astype(float)
    mean = mix.mean()
    stereo = [share * (mix - mean) + mean for share in SHARES]
    energy = np.array([np.square(one).sum() for one in stereo])
    for name, own, one in zip(STEMS, energy, stereo, strict=True):
        facts = found.facts[name]
        assert facts.rms == pytest.approx(np.sqrt(np.square(one).mean()), rel=1e-4)
        assert facts.peak == pytest.approx(np.abs(one).max(), rel=1e-4)
        assert facts.energy_ratio == pytest.approx(own / (energy.sum() + 1e-8), rel=1e-4)


def test_equal_sound_has_equal_stems() -> None:
    with small():
        one, two = (stems(sound(2500))[0] for _ in range(2))
    assert all(np.array_equal(one.mono[name], two.mono[name]) for name in STEMS)


def test_no_sound_too_much_sound_and_numbers_that_are_none() -> None:
    with pytest.raises(NotApplicable, match="0 to 600 s"):
        stems(Audio(np.zeros((0, 2), np.int16), 44_100, True))
    with pytest.raises(NotApplicable, match=r"has 600\.5 s"):
        stems(Audio(np.zeros((round(600.5 * 44_100), 2), np.int16), 44_100, True))
    with pytest.raises(ExpertError, match="not finite"), small():
        stems(
            sound(900), lambda feeds: {"waves": np.full((1, 4, 2, 800), np.nan), "spectra": np.zeros((1, 4, 1, 1, 1))}
        )
