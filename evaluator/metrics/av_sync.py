"""Do sound and picture happen together? Predicted offset on a grid of +-2 s (AVE-Compass 4.4). Needs the mounted model.

AVE-Compass gives silent sound 0.0; here silence has no score.
"""

from __future__ import annotations

import numpy as np

from evaluator.experts.features import SyncOffset
from evaluator.media.types import Audio
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.gates import require_sound
from evaluator.schema import AudioNeed, ExpertNeed

TOLERANCE = 2.0  # seconds, tau of the paper
TOP = 5


def most_probable(offset: SyncOffset) -> float:
    """The offset in seconds that has the largest probability; of equal ones the first."""
    return float(offset.grid[int(offset.probability.argmax())])


def rating(offset: SyncOffset) -> Outcome:
    """clip01(1 - |dt| / 2 s) with dt the most probable offset, which is `raw` (positive = the sound is early)."""
    probability, grid = offset.probability.astype(np.float64), offset.grid.astype(np.float64)
    order = np.argsort(-probability, kind="stable")
    delta = most_probable(offset)
    positive = probability[probability > 0.0]
    details = {
        "top": [{"offset_sec": float(grid[k]), "probability": float(probability[k])} for k in order[:TOP]],
        "entropy_bits": float(-(positive * np.log2(positive)).sum()),
        "padded": offset.padded,
    }
    return Outcome(clip01(1.0 - abs(delta) / TOLERANCE), raw=delta, details=details)


def compute(offset: SyncOffset, sound: Audio) -> Outcome:
    """The rating of the offset, in [0, 1]; `raw` is the offset in seconds. Raises NotApplicable for silent sound."""
    require_sound(sound)
    return rating(offset)


METRIC = Metric(
    id="av_sync",
    version=1,
    title="Audio-video sync",
    summary="Closeness of the predicted offset between sound and picture to zero.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 4.4",
    needs={"offset": ExpertNeed("av_sync"), "sound": AudioNeed()},
    compute=compute,
)
