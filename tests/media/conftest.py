"""The folder of odd files, made once per session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.media.oddfiles import make_all


@pytest.fixture(scope="session")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every file of `tests.media.oddfiles`."""
    return make_all(tmp_path_factory.mktemp("odd"))
