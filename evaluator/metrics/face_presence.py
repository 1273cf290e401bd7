"""In how much of the clip a face can be seen. A fact, neither good nor bad."""

from __future__ import annotations

from collections import Counter

from evaluator.errors import NotApplicable
from evaluator.experts.features import FaceTrack
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import ALL_FRAMES, ExpertNeed


def compute(faces: FaceTrack) -> Outcome:
    """Share of watched frames with at least one face. Raises NotApplicable if no frame was watched."""
    watched = len(faces.index)
    if not watched:
        raise NotApplicable("not_applicable", "No frame was watched for faces.")
    seen = faces.count > 0
    details = {
        "frames": watched,
        "frames_with_face": int(seen.sum()),
        "most_faces": int(faces.count.max()),
        "mean_score": float(faces.score[seen].mean()) if seen.any() else None,
        "detectors": dict(sorted(Counter(name for name in faces.detector if name).items())),
    }
    return Outcome(float(seen.mean()), details=details)


METRIC = Metric(
    id="face_presence",
    version=1,
    title="Face presence",
    summary="Share of frames in which a face is found.",
    direction=Direction.NONE,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 4.3 (whether lips can be judged)",
    needs={"faces": ExpertNeed("faces", sampling=ALL_FRAMES)},
    compute=compute,
)
