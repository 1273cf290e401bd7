"""VTQ and ATQ (sections 3.1 and 3.2): technical quality of picture and sound, by models that have to be mounted.

VTQ is the raw figure of DOVER++'s technical branch, because the paper's numbers (0.16 to 0.24) fit raw figures of good
clips better than scaled ones; the sigmoid of T2AV-Compass stands in the details. Its fragments are drawn from a seed
that follows from the sample, so that all systems of a sample are looked at in the same way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from evaluator.experts.features import AudioAesthetics, TechnicalQuality
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import Case, ExpertNeed, Need
from evaluator.suites.multiref_compass.data import of

CENTRE, SCALE = 0.1107, 0.07355


def sigmoid(raw: float) -> float:
    """T2AV-Compass's scale of the raw figure, 0..1."""
    return float(1.0 / (1.0 + np.exp(-(raw - CENTRE) / SCALE)))


def seed_of(case: Case) -> int:
    """A seed below 2^31 from the sample's name."""
    return int.from_bytes(hashlib.sha256(f"vtq\n{of(case).sample}".encode()).digest()[:4], "big") >> 1


def compute_vtq(quality: TechnicalQuality) -> Outcome:
    """Mean raw figure over the runs of fragments."""
    raw = float(quality.raw.astype(np.float64).mean())
    details = {"vtq_sigmoid": sigmoid(raw), "per_run": quality.raw.tolist(), "seed": quality.seed}
    return Outcome(raw, raw=raw, details={**details, "patches_sha256": quality.patches})


def vtq_needs(case: Case) -> Mapping[str, Need]:
    """Fragments drawn from the sample's seed."""
    return {"quality": ExpertNeed("technical_quality", options=(("seed", seed_of(case)),))}


def compute_atq(aesthetics: AudioAesthetics) -> Outcome:
    """Production quality, 0..10; all four axes in the details."""
    value = aesthetics.axes["PQ"]
    return Outcome(float(np.clip(value, 0.0, 10.0)), raw=value, details={"axes": dict(aesthetics.axes)})


VTQ = Metric(
    id="vtq",
    version=1,
    title="Visual technical quality (VTQ)",
    summary="Raw figure of DOVER++'s technical branch.",
    direction=Direction.HIGHER,
    range=(None, None),
    unit="",
    paper="MultiRef-Compass, spec section 3.1",
    needs={},
    needs_of=vtq_needs,
    compute=compute_vtq,
    reads=(),
)
ATQ = Metric(
    id="atq",
    version=1,
    title="Audio technical quality (ATQ)",
    summary="Production quality of the sound, by Audiobox Aesthetics.",
    direction=Direction.HIGHER,
    range=(0.0, 10.0),
    unit="",
    paper="MultiRef-Compass, spec section 3.2",
    needs={"aesthetics": ExpertNeed("audio_aesthetics")},
    compute=compute_atq,
)
METRICS = (VTQ, ATQ)
