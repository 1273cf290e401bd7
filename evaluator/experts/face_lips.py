"""SyncNet's eye on faces that were followed, as in LatentSync's evaluation (AVE-Compass 4.3, MultiRef-Compass 3.6).

The network is the published one (`syncnet_lip`, mounted by the user), and so are the faces where S3FD is mounted;
without it another detector serves `face_clips`, and the record names it and says for what it stands in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.experts.composed import Composed
from evaluator.experts.features import FaceClips, LipTrack, LipTracks
from evaluator.experts.syncnet_lip import BATCH, FILE, WINDOW, windows
from evaluator.media.types import F32, U8
from evaluator.runtime.session import run_padded
from evaluator.schema import ExpertNeed, Need


class FaceLips(Composed):
    """capability `face_lip_embedding`."""

    id = "face_lips"
    capability = "face_lip_embedding"
    weights = ("syncnet_lip",)
    stands_in_for = ""

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"faces": ExpertNeed("face_clips", want.roles[:1])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> LipTracks:
        faces: FaceClips = inputs["faces"]
        tracks = [
            LipTrack(track.first, self._embedded(track.crops)) for track in faces.tracks if len(track.crops) > WINDOW
        ]
        return LipTracks(tuple(tracks), faces.started)

    def _embedded(self, crops: U8) -> F32:
        """[F - 5, D] of crops [F, 224, 224, 3]; the last window is left out, as in `syncnet_lip`."""
        session = self.sessions.session("syncnet_lip", FILE)
        starts = range(0, len(crops) - WINDOW, BATCH)
        parts = [crops[at : min(at + BATCH, len(crops) - WINDOW) + WINDOW - 1] for at in starts]
        rows = [run_padded(session, "frames", windows(part), BATCH)["embedding"] for part in parts]
        return np.concatenate(rows).astype(np.float32)


EXPERT = FaceLips
