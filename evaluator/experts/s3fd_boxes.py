"""From the heads of S3FD to the faces of a picture: threshold and two suppressions, as SyncNet's face pipeline does.

The first suppression is the network's own, over its list of at most 750 boxes; the second is over the faces. A weak box
that the first drops suppresses nothing itself, so that both are needed.
"""

from __future__ import annotations

import numpy as np

from evaluator.experts.mtcnn import suppress
from evaluator.experts.s3fd_anchors import anchors, boxes_of
from evaluator.media.types import F32

SAME, MOST = 0.3, 750
"""Intersection over union above which the network's own list drops the weaker box, and the length of that list."""
STILL_SAME = 0.1
"""The same for the faces of a picture, above the threshold."""
FACE = 0.9
"""Probability above which a box is a face."""


def faces(offsets: F32, logits: F32, height: int, width: int) -> F32:
    """Boxes [K, 4] in pixels, surest first, of the heads [A, 4] and [A, 2] (background, face) of one picture."""
    difference = logits[:, 1].astype(np.float64) - logits[:, 0]
    sure = difference > np.log(FACE / (1 - FACE))
    score = difference[sure]
    boxes = boxes_of(offsets[sure], anchors(height, width)[sure]).astype(np.float32)
    for limit in (SAME, STILL_SAME):
        kept = suppress(boxes, score.astype(np.float32), limit)[:MOST]
        boxes, score = boxes[kept], score[kept]
    return boxes
