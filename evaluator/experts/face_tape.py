"""All faces of a clip, followed and cut out while its frames pass: the face pipeline of SyncNet, without its files.

AVE-Compass 4.3 (`facetrack`), MultiRef-Compass 3.6. Frames come 25 times a second. A face that overlaps the last box of
a track by more than half goes on with it, across up to 25 slots without one; older tracks choose first. Cuts end all
tracks. What stays has more than 50 detections and a mean side above 100 pixels; its boxes are filled in between and
smoothed over 13 slots (`face_tracks`).

A crop waits until no later frame can change it: 32 pictures are held, never a clip. Knows no network: who finds the
boxes of a picture is given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from evaluator.experts.content_cuts import ContentCuts
from evaluator.experts.face_tracks import LEAST_SIDE, LEAST_TICKS, SAME_FACE, SMOOTHED, lip_crop, overlap
from evaluator.experts.features import FaceClip, FaceClips
from evaluator.media.types import F32, F64, I64, U8, FrameChunk

GAP = 25
"""Slots from one detection of a track to the next, at most."""
REACH = SMOOTHED // 2
DELAY = GAP + REACH + 1
"""Slots after which boxes around a frame are final."""


@dataclass(slots=True)
class Follow:
    """One face so far: where it was detected, and its crops up to the last frame that is final."""

    slots: list[int]
    boxes: list[F32]  # [4] pixels, one per slot
    crops: list[U8] = field(default_factory=list)
    open: bool = True

    def takes(self, slot: int, boxes: Sequence[F32]) -> int | None:
        """The first of these boxes that goes on with the face, if one does."""
        if not self.open or slot - self.slots[-1] > GAP:
            return None
        return next((k for k, box in enumerate(boxes) if overlap(self.boxes[-1], box) > SAME_FACE), None)

    def ends_before(self, slot: int) -> bool:
        """Whether nothing from this slot on can belong to it."""
        return not self.open or slot - self.slots[-1] > GAP

    @property
    def stays(self) -> bool:
        """Long and large enough to be looked at."""
        if len(self.slots) <= LEAST_TICKS:
            return False
        box = self.at(np.arange(self.slots[0], self.slots[-1] + 1))
        return bool((box[:, 2:] - box[:, :2]).mean(axis=0).max() > LEAST_SIDE)

    def at(self, slots: I64) -> F64:
        """Boxes [n, 4] at slots [n], filled in between detections."""
        known = np.array(self.boxes, np.float64)
        return np.stack([np.interp(slots, self.slots, known[:, side]) for side in range(4)], axis=1)

    def place(self, slot: int) -> tuple[float, float, float]:
        """Smoothed (half side, middle x, middle y) at a slot; beyond its ends the track stands still."""
        box = self.at(np.arange(slot - REACH, slot + REACH + 1))
        half = (box[:, 2:] - box[:, :2]).max(axis=1) / 2
        x, y = (box[:, :2] + box[:, 2:]).T / 2
        return float(np.median(half)), float(np.median(x)), float(np.median(y))


class FaceTape:
    """A tap. `find` gives the boxes [K, 4] in pixels of the faces of a picture [H, W, 3]."""

    def __init__(self, find: Callable[[U8], F32]) -> None:
        self._find = find
        self._cuts = ContentCuts()
        self._held: deque[tuple[int, U8]] = deque()
        self._tracks: list[Follow] = []
        self._slot = 0
        self._started = 0

    def push(self, chunk: FrameChunk) -> None:
        """Take the next frames [n, H, W, 3], one per slot."""
        for picture in chunk.data:
            self._look(picture)
            self._cut_out(self._slot - DELAY)
            self._slot += 1

    def close(self) -> FaceClips:
        """The tracks that stay, in the order in which they began."""
        self._cut_out(self._slot)
        kept = [FaceClip(one.slots[0], np.stack(one.crops), len(one.slots)) for one in self._tracks if one.stays]
        return FaceClips(tuple(kept), self._started)

    def _look(self, picture: U8) -> None:
        """Find the faces of the next picture and whose they are."""
        if self._cuts.begins_shot(picture):
            for track in self._tracks:
                track.open = False
        self._tracks = [one for one in self._tracks if not one.ends_before(self._slot) or one.stays]
        boxes = list(self._find(picture))
        for track in self._tracks:
            if (place := track.takes(self._slot, boxes)) is not None:
                track.slots.append(self._slot)
                track.boxes.append(boxes.pop(place))
        self._tracks += [Follow([self._slot], [box]) for box in boxes]
        self._started += len(boxes)
        self._held.append((self._slot, picture))

    def _cut_out(self, last: int) -> None:
        """Crops of every held picture up to the slot `last`; those pictures are let go."""
        while self._held and self._held[0][0] <= last:
            slot, picture = self._held.popleft()
            for track in self._tracks:
                if track.slots[0] <= slot <= track.slots[-1]:
                    track.crops.append(lip_crop(picture, *track.place(slot)))
