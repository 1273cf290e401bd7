"""NISQA: the front end against scipy; the published network on published signals where its weights are."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import stft

from evaluator.errors import NotApplicable
from evaluator.experts.nisqa import AXES, EXPERT, FILE, mel_decibels, segment_count, segments
from evaluator.media.types import Audio
from evaluator.runtime.onnx import OnnxSession
from evaluator.schema import AudioNeed, ExpertNeed
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.sounds import ROOT, clip_sound, golden_signals, lcg, sound

WANT = ExpertNeed("speech_quality")

PUBLISHED = {
    "tone": (1.1693, 2.1596, 3.6698, 1.1287, 1.8962),
    "noise": (1.1474, 1.4900, 2.1301, 1.0415, 1.9016),
    "sweep": (0.8113, 1.4818, 2.4183, 1.1605, 1.2622),
    "beat": (1.3140, 2.7316, 3.8962, 1.2773, 1.9137),
    "zeros": (2.1077, 3.3492, 3.5816, 3.0544, 2.9497),
}
"""AVE-Compass 12.5: the reference code and weights, four digits."""


@pytest.fixture(scope="session")
def network(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> FakeSource:
    """The published network, exported by the export environment."""
    python, weights = ROOT / ".venv-export" / "bin" / "python", shared / "data" / "weights" / "nisqa.tar"
    for needed in (python, weights):
        if not needed.exists():
            pytest.skip(f"NISQA cannot be exported here: {needed} is missing")
    store = tmp_path_factory.mktemp("store")
    command = [str(python), "-m", "export", "build", "nisqa", "--models", str(weights.parent)]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "EVALUATOR_STORE": str(store)}, timeout=300)
    return FakeSource({FILE: OnnxSession(store / "nisqa" / FILE)})


def scores(source: FakeSource, audio: Audio) -> list[float]:
    found = EXPERT(source).run(WANT, {"audio": audio})
    return [found.mos, *(found.diagnostics[axis] for axis in AXES[1:])]


def test_front_end_is_that_of_scipy() -> None:
    """Magnitudes in 48 Slaney bands of unit area up to 20 kHz, in dB, 80 dB deep."""
    samples = lcg(16_000)
    samples[4000:6000] = 0.0  # below the floor
    window = np.pad(np.hanning(321)[:320], 1888)
    padded = np.pad(samples, 2048, mode="reflect")
    _, _, spectrum = stft(padded, window=window, nperseg=4096, noverlap=4096 - 160, boundary=None, padded=False)
    mel = np.linspace(0, 15 + np.log(20) * 27 / np.log(6.4), 50)
    edges = np.where(mel < 15, mel * 200 / 3, 1000 * 6.4 ** ((mel - 15) / 27))
    bins = np.arange(2049) * 16_000 / 4096
    bank = [np.interp(bins, edges[k : k + 3], [0, 2 / (edges[k + 2] - edges[k]), 0]) for k in range(48)]
    level = 20 * np.log10(np.maximum(np.array(bank) @ np.abs(spectrum) * window.sum(), 1e-4)).T
    found = mel_decibels(samples.astype(np.float32))
    assert found.shape == (101, 48)
    np.testing.assert_allclose(found, np.maximum(level, level.max() - 80), atol=2e-3)
    assert found.min() == pytest.approx(found.max() - 80, abs=1e-3)


def test_segments_overlap() -> None:
    columns = np.arange(301 * 48, dtype=np.float32).reshape(301, 48)
    found = segments(columns)
    assert found.shape == (72, 48, 15)
    np.testing.assert_array_equal(found[3], columns[12:27].T)
    assert [segment_count(n) for n in (15, 18, 19, 301)] == [1, 1, 2, 72]


def test_contract() -> None:
    session = FakeSession(lambda feeds: {"scores": np.array([[1, 2, 3, 4, 5]], np.float32)})
    found = EXPERT(FakeSource({FILE: session})).run(WANT, {"audio": golden_signals()["tone"]})
    fed = session.fed[0]
    assert (fed["segments"].shape, fed["segments"].dtype) == ((1, 1300, 1, 48, 15), np.float32)
    assert (fed["count"].tolist(), fed["count"].dtype) == ([72], np.int64)
    assert fed["segments"][0, :72].any()
    assert not fed["segments"][0, 72:].any()
    assert found.mos == 1.0
    assert found.diagnostics == {"noisiness": 2.0, "discontinuity": 3.0, "coloration": 4.0, "loudness": 5.0}


@pytest.mark.parametrize(("samples", "segments_made"), [(2240, 1), (834_239, 1300)])
def test_shortest_and_longest(samples: int, segments_made: int) -> None:
    session = FakeSession(lambda feeds: {"scores": np.ones((1, 5), np.float32)})
    EXPERT(FakeSource({FILE: session})).run(WANT, {"audio": sound(np.zeros(samples))})
    assert session.fed[0]["count"] == segments_made


@pytest.mark.parametrize(("samples", "message"), [(2239, r"needs 0\.14 s"), (834_240, "1301 segments in 52.1 s")])
def test_too_short_and_too_long(samples: int, message: str) -> None:
    with pytest.raises(NotApplicable, match=message):
        EXPERT(FakeSource({})).run(WANT, {"audio": sound(np.zeros(samples))})


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_signals(network: FakeSource, name: str) -> None:
    assert scores(network, golden_signals()[name]) == pytest.approx(PUBLISHED[name], abs=5e-3)


@pytest.mark.slow
def test_published_clips(network: FakeSource, shared: Path) -> None:
    golden = json.loads((shared / "golden" / "nisqa_v2.json").read_text())["clips"]
    for name, expected in golden.items():
        assert scores(network, clip_sound(shared / "data" / "clips" / name)) == pytest.approx(expected, abs=1e-3), name


FULL_BAND = {"talking1.mp4": 3.351, "talking2.mp4": 2.488}
"""AVE-Compass 4.2, measured at 48 kHz; at 16 kHz the same clips have 3.252 and 2.292."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mos"), FULL_BAND.items())
def test_published_clips_at_full_band(network: FakeSource, shared: Path, name: str, mos: float) -> None:
    want = ExpertNeed("speech_quality", options=(("rate", 48_000),))
    found = EXPERT(network).run(want, {"audio": clip_sound(shared / "data" / "clips" / name, 48_000)})
    assert found.mos == pytest.approx(mos, abs=1e-3)
    assert found.rate == 48_000


def test_another_rate_has_other_bands_at_the_same_speed() -> None:
    """A tone of 12 kHz is above the band at 16 kHz and seen at 48 kHz; a second has a hundred columns either way."""
    want = ExpertNeed("speech_quality", options=(("rate", 48_000),))
    need = EXPERT(FakeSource({})).needs(want)["audio"]
    assert isinstance(need, AudioNeed)
    assert need.view.rate == 48_000
    tone = (0.5 * np.sin(2 * np.pi * 12_000 * np.arange(48_000) / 48_000)).astype(np.float32)
    found = mel_decibels(tone, 48_000)
    assert found.shape == mel_decibels(tone[::3]).shape == (101, 48)
    assert found[50].argmax() > 40


def test_the_shortest_sound_is_the_same_time_at_any_rate() -> None:
    with pytest.raises(NotApplicable, match=r"needs 0\.14 s"):
        EXPERT(FakeSource({})).run(WANT, {"audio": Audio(np.zeros(6719, np.int16), 48_000, True)})
