"""The automated half of CoVEBench: metrics of an edited clip and its source, and what the profiles change.

    quality    VQR, AES, MSM, TQ      the edited clip alone (spec section 4); AES_kf is AES as the paper words it
    fidelity   SSIM, MF, SRC          beside its source (spec section 5)

MSM and SSIM are the core's own: this protocol is where their definitions come from. The published exclusion lists apply
to MSM, SSIM and MF: a task on them is `filtered`. In the order of the paper's table.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.metrics import msm, ssim
from evaluator.metrics.base import Metric
from evaluator.suites.covebench import aes, aes_kf, motion_fidelity, src, tq, vqr
from evaluator.suites.covebench.exclusions import excluding

AUTOMATED: tuple[Metric, ...] = (
    aes.METRIC,
    tq.METRIC,
    excluding(msm.METRIC),
    excluding(ssim.METRIC),
    excluding(motion_fidelity.METRIC),
    vqr.METRIC,
    src.METRIC,
    aes_kf.METRIC,
)

VARIANTS: Mapping[str, Mapping[str, Metric]] = {
    "compat": {
        "aes": aes.COMPAT,
        "tq": tq.COMPAT,
        "vqr": vqr.COMPAT,
        "src": src.COMPAT,
    },
    "strict": {
        "mf": excluding(motion_fidelity.STRICT),
        "src": src.STRICT,
    },
}
"""Profile -> metric id -> the metric as that profile has it; `strict` has no published numbers."""
