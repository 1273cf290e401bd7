"""Run where torch is: every expert that takes pictures on a device, fed from the host and from the device.

    python -m tests.device.twin_report FOLDER

Pictures are noise at the size of the expert's view; networks are stand-ins that answer as the model lock says and keep
what they were fed. Writes one JSON object: case -> how far the two sets of inputs are apart, what crossed, and a digest
of those from the host.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evaluator.doctor.device import resident_experts
from evaluator.experts.base import Expert, StreamingExpert
from evaluator.experts.features import GroundedBoxes
from evaluator.media.sampling import select
from evaluator.media.types import Audio, AudioInfo, ClipInfo, FrameChunk, Frames, VideoInfo
from evaluator.media.views import target_size
from evaluator.runtime.arrays import Array, is_host, to_host
from evaluator.runtime.lock import ModelFile, Tensor
from evaluator.runtime.store import Store
from evaluator.runtime.traffic import Traffic
from evaluator.schema import AudioNeed, ExpertNeed, FramesNeed, Sampling, View

FRAMES = 40
OWN_SIZE = 5
"""What a network makes of a dimension that only its outputs have: how many boxes a detector gives."""


@dataclass
class Case:
    """What one expert is asked, of a clip of this size."""

    options: tuple[tuple[str, Any], ...] = ()
    size: tuple[int, int] = (320, 240)
    second: tuple[int, int] | None = None  # of a pair's other clip
    sampling: Sampling | None = field(default_factory=lambda: Sampling("linspace", (5,)))


SPECIAL: Mapping[str, Mapping[str, Case]] = {
    "dinov2": {"squashed": Case(), "cropped": Case((("preprocess", "hf_crop"),))},
    "lpips_alex": {"alike": Case(), "of two shapes": Case(second=(320, 180))},
    "transnetv2": {"overlapping": Case(), "disjoint": Case((("windows", "disjoint"),))},
    "dover_technical": {"large": Case((("seed", 3),)), "enlarged": Case((("seed", 3),), size=(200, 150))},
    "rife": {"small": Case(), "with a border": Case((("long_side", 150),))},
    "amt_g": {"whole": Case(size=(96, 64)), "with a border": Case(size=(90, 50))},
    "grounding_dino": {"phrases": Case((("phrases", '["a dog"]'),), sampling=None)},
    "sam2": {"phrases": Case((("phrases", '["a dog"]'),), sampling=None)},
    "syncnet_lip": {"all": Case(sampling=Sampling("every", (4,)))},
    "synchformer": {"first": Case(sampling=None), "coded again": Case((("reencode", True),), sampling=None)},
    "imagebind": {"whole": Case(sampling=None)},
}


class StandIn:
    """A session that honours the lock, answers numbers made of shapes alone, and keeps its inputs."""

    provider = "stand-in"

    def __init__(self, file: ModelFile) -> None:
        self._file = file
        self.inputs = {item.name: (item.shape, _element(item)) for item in file.inputs}
        self.outputs = [item.name for item in file.outputs]
        self.fed: list[Mapping[str, Any]] = []

    def run(self, feeds: Mapping[str, Any]) -> dict[str, Array]:
        self.fed.append(dict(feeds))
        sizes: dict[Any, int] = {}
        for item in self._file.inputs:
            sizes |= dict(zip(item.shape, feeds[item.name].shape, strict=True))
        return {
            item.name: np.ones(
                [sizes.get(size, OWN_SIZE if isinstance(size, str) else size) for size in item.shape],
                item.dtype.split(" or ")[-1],
            )
            for item in self._file.outputs
        }

    def leave(self, feeds: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
        """The same, left where the inputs lie."""
        found, place = self.run(feeds), next(iter(feeds.values())).device
        assert all(found[name].shape == shape for name, shape in shapes.items())
        return {name: torch.from_numpy(found[name]).to(place) for name in shapes}


class Sessions:
    """Stand-ins by file; data files are those of the folder."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store, self._folder = store, folder
        self.opened: dict[str, StandIn] = {}

    def session(self, model: str, file: str) -> StandIn:
        if file not in self.opened:
            self.opened[file] = StandIn(self._store.lock[model].file(file))
        return self.opened[file]

    def path(self, model: str, file: str) -> Path:
        return self._folder / file

    @property
    def fed(self) -> list[tuple[str, Any]]:
        """(input, array) of every call, in order."""
        return [(name, array) for one in self.opened.values() for feeds in one.fed for name, array in feeds.items()]


def _element(item: Tensor) -> str:
    return {"float32": "tensor(float)", "uint8": "tensor(uint8)"}.get(item.dtype, "tensor(float)")


def clip_of(size: tuple[int, int]) -> ClipInfo:
    video = VideoInfo("raw", *size, "rgb24", "bt601", False, 0, (1, 1), np.arange(FRAMES) / 25, FRAMES / 25)
    return ClipInfo("test", video, AudioInfo("raw", 16_000, 1, 0.0, FRAMES / 25))


def pictures(view: View, size: tuple[int, int], place: str) -> Frames:
    """Noise as the view shows it; the same on either side."""
    clip = clip_of(size)
    assert clip.video is not None
    index = select(view.sampling, clip.video.times)
    width, height = target_size(view, *size)
    data: Any = np.random.default_rng(0).integers(0, 256, (len(index), height, width, 3), np.uint8)
    return Frames(torch.from_numpy(data).to(place) if place else data, index, clip.video.times[index], clip)


def inputs(expert: Expert, want: ExpertNeed, case: Case, place: str) -> dict[str, Any]:
    """Everything that an expert needs."""
    found: dict[str, Any] = {}
    for name, need in expert.needs(want).items():
        if isinstance(need, FramesNeed):
            second = case.second is not None and need.role == want.roles[-1]
            found[name] = pictures(need.view, case.second if second and case.second else case.size, place)
        elif isinstance(need, AudioNeed):
            found[name] = Audio(np.random.default_rng(1).integers(-9000, 9000, 40_960, np.int16), 16_000, True)
        else:
            box = np.array([[0.1, 0.1, 0.5, 0.5]], np.float32)
            found[name] = GroundedBoxes(("a dog",), box, np.array([0.9], np.float32), np.array([0], np.int64))
    return found


def feature(expert: Expert, want: ExpertNeed, case: Case, place: str) -> Any:
    """What an expert finds in pictures on the host (""), or on a torch device."""
    if not isinstance(expert, StreamingExpert):
        return expert.run(want, inputs(expert, want, case, place))
    frames = pictures(expert.view(want), case.size, place)
    tap = expert.tap(want, frames.clip)
    for start in range(0, len(frames.index), 20):
        part = slice(start, start + 20)
        tap.push(FrameChunk(frames.data[part], frames.index[part], frames.time[part]))
    return tap.close()


def numbers(found: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of a feature, as float64."""
    arrays = (getattr(found, item.name) for item in fields(found))
    return [array.astype(np.float64) for array in arrays if isinstance(array, np.ndarray)]


def compared(kind: type[Expert], case: Case, store: Store, folder: Path, place: str) -> dict[str, Any]:
    """One case both ways."""
    pair = kind.capability == "frame_distance"
    want = ExpertNeed(kind.capability, ("video", "source") if pair else ("video",), case.sampling, case.options)
    here, there, traffic = Sessions(store, folder), Sessions(store, folder), Traffic()
    found = feature(kind(here), want, case, "")
    with traffic.charged("expert"):
        other = feature(kind(there), want, case, place)
    seen = [(name, array) for name, array in there.fed if not is_host(array)]
    pairs = list(zip(here.fed, there.fed, strict=True))
    gaps = [np.abs(np.subtract(a, to_host(b), dtype=np.float32)) for (_, a), (_, b) in pairs]
    return {
        "inputs on the device": sorted({name for name, _ in seen}),
        "same form": all(
            one == other and a.shape == tuple(b.shape) and a.dtype == to_host(b).dtype for (one, a), (other, b) in pairs
        ),
        "contiguous": all(array.is_contiguous() for _, array in seen),
        "largest": max(float(gap.max()) for gap in gaps),
        "mean": max(float(gap.mean()) for gap in gaps),
        "digest": hashlib.sha256(b"".join(to_host(array).tobytes() for _, array in here.fed)).hexdigest()[:16],
        "feature": max(
            np.abs(one - two).max(initial=0) for one, two in zip(numbers(found), numbers(other), strict=True)
        ),
        "to_host": traffic.facts().get("expert", {}).get("bytes_to_host", 0),
    }


def twins(folder: Path, place: str) -> dict[str, dict[str, Any]]:
    """Every case of every expert, against pictures on a torch device."""
    store = Store.open()
    (folder / "classes.json").write_text(json.dumps(["thing"] * 10))
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "dog", "."]))
    return {
        f"{kind.id}, {name}": compared(kind, case, store, folder, place)
        for kind in resident_experts()
        for name, case in SPECIAL.get(kind.id, {"usual": Case()}).items()
    }


def main() -> None:
    """On the CPU, as JSON."""
    json.dump(twins(Path(sys.argv[1]), "cpu"), sys.stdout)


if __name__ == "__main__":
    main()
