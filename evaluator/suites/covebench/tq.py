"""TQ, technical quality (CoVEBench 4.4): DOVER++'s technical branch on fragments of the edited clip, 0 to 100.

The seed of the fragments follows from the task, so that the outputs of all systems for one task are looked at in the
same way; seed, starts and a digest of the patch positions are in the details, with the raw figure r before the scale

    TQ = 100 / (1 + exp(-(r - 0.1107) / 0.07355))

whose constants were fitted for DOVER, not for DOVER++ (kept, as the published values have it). The aesthetic branch,
which the reference computes and throws away, is not computed. `compat` lays the patches on the size before enlarging.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from scipy.special import expit

from evaluator.experts.features import TechnicalQuality
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import Case, ExpertNeed, Need
from evaluator.suites.covebench.draws import seed_of

CENTRE, SCALE = 0.1107, 0.07355


def scaled(raw: float) -> float:
    """The raw figure on DOVER's scale, 0..100."""
    return float(100.0 * expit((raw - CENTRE) / SCALE))


def compute(quality: TechnicalQuality) -> Outcome:
    """The scaled mean over the runs; `raw` is that mean before the scale."""
    raw = float(quality.raw.astype(np.float64).mean())
    details = {
        "per_run": quality.raw.tolist(),
        "starts": quality.starts.tolist(),
        "seed": quality.seed,
        "patches_sha256": quality.patches,
    }
    return Outcome(scaled(raw), raw=raw, details=details)


def needs_on(grid: str) -> Callable[[Case], Mapping[str, Need]]:
    """What the metric needs of a case, with patches laid on this grid."""

    def needs_of(case: Case) -> Mapping[str, Need]:
        options = (("grid", grid), ("seed", seed_of(case, "tq")))
        return {"quality": ExpertNeed("technical_quality", options=options)}

    return needs_of


METRIC = Metric(
    id="tq",
    version=1,
    title="TQ",
    summary="Technical quality by the technical branch of DOVER++.",
    direction=Direction.HIGHER,
    range=(0.0, 100.0),
    unit="",
    paper="CoVEBench 4.4",
    needs={},
    needs_of=needs_on("enlarged"),
    compute=compute,
)

COMPAT = replace(METRIC, needs_of=needs_on("original"))
