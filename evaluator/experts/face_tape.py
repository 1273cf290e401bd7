"""All faces of a clip, followed and cut out while its frames pass: the face pipeline of SyncNet, without its files.

AVE-Compass 4.3 (`facetrack`), MultiRef-Compass 3.6. Frames come 25 times a second. A face that overlaps the last box of
a track by more than half goes on with it, across up to 25 slots without one; older tracks choose first. Cuts end all
tracks. What stays has more than 50 detections and a mean side above 100 pixels; its boxes are filled in between and
smoothed over 13 slots (`face_tracks`).

A crop waits until no later frame can change it: of pictures, 32 are held; of crops, all, up to a bound (19 minutes of
one face). A frame costs the same however long the clip is. Knows no network: who finds the boxes of a picture is given.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from evaluator.errors import MediaError
from evaluator.experts.content_cuts import ContentCuts
from evaluator.experts.face_tracks import LEAST_SIDE, LEAST_TICKS, SAME_FACE, SMOOTHED, lip_crop, overlap
from evaluator.experts.features import FaceClip, FaceClips
from evaluator.media.limits import LIMITS, Limits
from evaluator.media.types import F32, F64, I64, U8, FrameChunk

GAP = 25
"""Slots from one detection of a track to the next, at most."""
REACH = SMOOTHED // 2
DELAY = GAP + REACH + 1
"""Slots after which boxes around a frame are final."""


@dataclass(slots=True)
class Follow:
    """One face so far: where it was detected, and its crops up to the last frame that is final."""

    number: int  # in the order of their beginning
    slots: list[int]
    boxes: list[F32]  # [4] pixels, one per slot
    crops: list[U8] = field(default_factory=list)
    open: bool = True

    def takes(self, slot: int, boxes: Sequence[F32]) -> int | None:
        """The first of these boxes that goes on with the face, if one does."""
        if not self.open or slot - self.slots[-1] > GAP:
            return None
        return next((k for k, box in enumerate(boxes) if overlap(self.boxes[-1], box) > SAME_FACE), None)

    @property
    def stays(self) -> bool:
        """Long and large enough to be looked at."""
        if len(self.slots) <= LEAST_TICKS:
            return False
        box = self.at(np.arange(self.slots[0], self.slots[-1] + 1))
        return bool((box[:, 2:] - box[:, :2]).mean(axis=0).max() > LEAST_SIDE)

    def at(self, slots: I64) -> F64:
        """Boxes [n, 4] at ascending slots [n], filled in between detections."""
        first = max(0, bisect_right(self.slots, int(slots[0])) - 1)
        last = bisect_left(self.slots, int(slots[-1])) + 1
        known = np.array(self.boxes[first:last], np.float64)  # the detections around, not the whole track
        return np.stack([np.interp(slots, self.slots[first:last], known[:, side]) for side in range(4)], axis=1)

    def place(self, slot: int) -> tuple[float, float, float]:
        """Smoothed (half side, middle x, middle y) at a slot; beyond its ends the track stands still."""
        box = self.at(np.arange(slot - REACH, slot + REACH + 1))
        half = (box[:, 2:] - box[:, :2]).max(axis=1) / 2
        x, y = (box[:, :2] + box[:, 2:]).T / 2
        return float(np.median(half)), float(np.median(x)), float(np.median(y))


class FaceTape:
    """A tap. `find` gives the boxes [K, 4] in pixels of the faces of a picture [H, W, 3]."""

    def __init__(self, find: Callable[[U8], F32], limits: Limits = LIMITS) -> None:
        self._find = find
        self._most = limits.held_bytes
        self._bytes = 0
        self._cuts = ContentCuts()
        self._held: deque[tuple[int, U8]] = deque()
        self._tracks: list[Follow] = []  # that are not wholly cut out yet
        self._ended: list[Follow] = []  # that are, and stay
        self._slot = 0
        self._started = 0

    def push(self, chunk: FrameChunk) -> None:
        """Take the next frames [n, H, W, 3], one per slot."""
        for picture in chunk.data:
            self._look(picture)
            self._cut_out(self._slot - DELAY)
            self._retire(self._slot - DELAY)
            self._slot += 1

    def close(self) -> FaceClips:
        """The tracks that stay, in the order in which they began."""
        self._cut_out(self._slot)
        stay = sorted([*self._ended, *(one for one in self._tracks if one.stays)], key=lambda one: one.number)
        return FaceClips(tuple(map(_taken, stay)), self._started)

    def _look(self, picture: U8) -> None:
        """Find the faces of the next picture and whose they are."""
        if self._cuts.begins_shot(picture):
            for track in self._tracks:
                track.open = False
        boxes = list(self._find(picture))
        for track in self._tracks:
            if (place := track.takes(self._slot, boxes)) is not None:
                track.slots.append(self._slot)
                track.boxes.append(boxes.pop(place))
        self._tracks += [Follow(self._started + k, [self._slot], [box]) for k, box in enumerate(boxes)]
        self._started += len(boxes)
        self._held.append((self._slot, picture))

    def _cut_out(self, last: int) -> None:
        """Crops of every held picture up to the slot `last`; those pictures are let go."""
        while self._held and self._held[0][0] <= last:
            slot, picture = self._held.popleft()
            for track in self._tracks:
                if track.slots[0] <= slot <= track.slots[-1]:
                    self._keep(track, lip_crop(picture, *track.place(slot)))

    def _keep(self, track: Follow, crop: U8) -> None:
        self._bytes += crop.nbytes
        if self._bytes > self._most:
            raise MediaError("too_large", f"the faces of the clip would take more than {self._most >> 20} MiB to hold")
        track.crops.append(crop)

    def _retire(self, last: int) -> None:
        """Put aside tracks that ended by the slot `last`: all of them is cut. Forget those that do not stay."""
        tracks, self._tracks = self._tracks, []
        for one in tracks:
            if one.slots[-1] > last:
                self._tracks.append(one)
            elif one.stays:
                self._ended.append(one)
            else:
                self._bytes -= sum(crop.nbytes for crop in one.crops)


def _taken(track: Follow) -> FaceClip:
    """The track as it is handed out. Its crops are let go, so that no more than one track is held twice."""
    crops = np.stack(track.crops)
    track.crops.clear()
    return FaceClip(track.slots[0], crops, len(track.slots))
