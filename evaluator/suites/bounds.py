"""A bound on a measurement: what `evaluator filter` keeps of a manifest. Knows numbers only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """What a measurement must be for a clip to stay."""

    metric: str
    low: float | None = None
    high: float | None = None
    strict: bool = False  # the bound itself does not pass

    def passes(self, value: float) -> bool:
        """Whether a value stays within the bound."""
        if self.low is not None and (value <= self.low if self.strict else value < self.low):
            return False
        return self.high is None or (value < self.high if self.strict else value <= self.high)
