"""Fixtures shared by all tests: private test material and prepared models, and why a test skips without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.runtime.session import SessionSource

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of private clips, weights and golden values beside a checkout."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("private test material (../shared) is not here")
    return folder


@pytest.fixture(scope="session")
def models() -> SessionSource:
    """Verified sessions over the prepared model store."""
    from evaluator.errors import ModelMissing
    from evaluator.runtime.store import Store

    store = Store.open()
    try:
        store.require_embedded()
    except ModelMissing as error:
        pytest.skip(f"embedded models are not prepared (./run.sh setup): {error}")
    return store
