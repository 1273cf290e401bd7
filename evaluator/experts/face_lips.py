"""SyncNet's eye on faces that were followed, as in LatentSync's evaluation (MultiRef-Compass SLS, spec 3.6).

The network is the published one (`syncnet_lip`, mounted by the user); the faces are the most prominent face of each
frame by `faces`, in place of all faces by S3FD, and so the whole stands in for the published measurement and says so.
Frames are taken 25 times a second; the crops keep the pixels of a picture of at most 640 on its longer side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.composed import Composed
from evaluator.experts.face_tracks import RATE, SIZE, boxes_at, lip_crop, squares, tracks
from evaluator.experts.features import FaceTrack, LipTrack, LipTracks
from evaluator.experts.syncnet_lip import BATCH, FILE, WINDOW
from evaluator.media.types import F32, U8, Frames
from evaluator.runtime.session import run_padded
from evaluator.schema import ALL_FRAMES, ExpertNeed, Filter, Fit, FramesNeed, Need, Sampling, View

LONG_SIDE = 640
SECONDS = 20
"""Of a clip that are looked at: its frames are held in memory."""
EARLY = 1e-6
"""Seconds by which a slot may miss the end of a track."""


class FaceLips(Composed):
    """capability `face_lip_embedding`."""

    id = "face_lips"
    capability = "face_lip_embedding"
    weights = ("syncnet_lip",)
    stands_in_for = "SyncNet of LatentSync on S3FD tracks"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        view = View(
            Sampling("fps_head", (RATE, RATE * SECONDS)), Fit.LONG_SIDE_MAX, LONG_SIDE, filter=Filter.FFMPEG_BICUBIC
        )
        return {
            "frames": FramesNeed(view, want.roles[0]),
            "faces": ExpertNeed("faces", want.roles[:1], ALL_FRAMES),
        }

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> LipTracks:
        frames: Frames = inputs["frames"]
        faces: FaceTrack = inputs["faces"]
        video = frames.clip.video
        if video is None:
            raise NotApplicable("not_applicable", "the clip has no pictures")
        found = []
        for rows in tracks(faces, video.width, video.height):
            first, crops = track_crops(frames, faces, rows)
            if len(crops) > WINDOW:
                found.append(LipTrack(first, self._embedded(crops)))
        return LipTracks(tuple(found))

    def _embedded(self, crops: U8) -> F32:
        """[F - 5, D] of crops [F, 224, 224, 3]: blue, green, red, levels as they are; the last window is left out."""
        session = self.sessions.session("syncnet_lip", FILE)
        swapped = crops[..., ::-1].transpose(3, 0, 1, 2)  # [3, F, 224, 224]
        windows = [swapped[:, at : at + WINDOW] for at in range(len(crops) - WINDOW)]
        rows = [
            run_padded(session, "frames", np.stack(windows[at : at + BATCH]).astype(np.float32), BATCH)["embedding"]
            for at in range(0, len(windows), BATCH)
        ]
        return np.concatenate(rows).astype(np.float32)


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


EXPERT = FaceLips
