"""Fixtures of the expert tests."""

from __future__ import annotations

import pytest

from evaluator.media.types import Audio
from tests.experts.sounds import speech_sources


@pytest.fixture(scope="session")
def speech() -> Audio:
    """Clean speech of one voice, at least four seconds."""
    for _, audio in speech_sources():
        return audio
    pytest.skip("no speech here: neither a wheel with readings, nor ../shared, nor espeak-ng")
