"""What an account of a run's traffic holds, spelt shortly."""

from __future__ import annotations

from evaluator.runtime.traffic import NOTHING


def amounts(**kinds: int) -> dict[str, int]:
    """These amounts, and nothing of every other kind."""
    assert kinds.keys() <= NOTHING.keys()
    return {**NOTHING, **kinds}
