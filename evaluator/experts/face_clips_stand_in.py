"""The most prominent face of each frame, followed and cut out: stands in for all faces by S3FD (AVE-Compass 4.3).

The boxes are those of the expert for `faces`; tracks and crops follow `face_tracks`. Frames are taken 25 times a
second, from a picture of at most 640 pixels on its longer side, for twenty seconds at most: they are held in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.composed import Composed
from evaluator.experts.face_tracks import RATE, SIZE, boxes_at, lip_crop, runs, squares, worthy
from evaluator.experts.features import FaceClip, FaceClips, FaceTrack
from evaluator.media.types import U8, Frames
from evaluator.schema import ALL_FRAMES, ExpertNeed, Filter, Fit, FramesNeed, Need, Sampling, View

LONG_SIDE = 640
SECONDS = 20
EARLY = 1e-6
"""Seconds by which a slot may miss the end of a track."""


class FaceClipsStandIn(Composed):
    """capability `face_clips`."""

    id = "face_clips_stand_in"
    capability = "face_clips"
    stands_in_for = "S3FD"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        view = View(
            Sampling("fps_head", (RATE, RATE * SECONDS)), Fit.LONG_SIDE_MAX, LONG_SIDE, filter=Filter.FFMPEG_BICUBIC
        )
        return {
            "frames": FramesNeed(view, want.roles[0]),
            "faces": ExpertNeed("faces", want.roles[:1], ALL_FRAMES),
        }

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> FaceClips:
        frames: Frames = inputs["frames"]
        faces: FaceTrack = inputs["faces"]
        video = frames.clip.video
        if video is None:
            raise NotApplicable("not_applicable", "the clip has no pictures")
        began = runs(faces)
        found = []
        for rows in worthy(began, faces, video.width, video.height):
            first, crops = track_crops(frames, faces, rows)
            if len(crops):
                found.append(FaceClip(first, crops, int((faces.score[rows] > 0).sum())))
        return FaceClips(tuple(found), len(began))


def track_crops(frames: Frames, faces: FaceTrack, rows: slice) -> tuple[int, U8]:
    """(slot of the first frame, crops [F, 224, 224, 3]) of one track, slots of 1/25 s; (0, none) outside the view."""
    clock = float(faces.time[0]) + np.arange(len(frames.data)) / RATE
    first, last = faces.time[rows][0], faces.time[rows][-1]
    inside = np.flatnonzero((clock >= first - EARLY) & (clock <= last + EARLY))
    if not len(inside):
        return 0, np.zeros((0, SIZE, SIZE, 3), np.uint8)
    height, width = frames.data.shape[1:3]
    boxes = boxes_at(faces, rows, clock[inside]) * np.array([width, height, width, height])
    places = squares(boxes).tolist()
    crops = [lip_crop(frames.data[slot], *place) for slot, place in zip(inside, places, strict=True)]
    return int(inside[0]), np.stack(crops)


EXPERT = FaceClipsStandIn
