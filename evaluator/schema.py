"""The whole vocabulary: what a case is, what a metric may ask for, what a record looks like, and their bytes.

Everything here is frozen data. This module opens no file, runs no model and knows no metric by name.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import orjson

SCHEMA_VERSION = 1
"""Raised when the meaning of a file that we write changes."""

SIGNIFICANT_DIGITS = 7
"""Floats in records carry seven significant digits: float32 kernels agree on no more than that."""

DEEPEST = 250
"""Levels of a tree that orjson reads and does not write, in round numbers: it ends at 254."""

SKIP_REASONS = frozenset({"not_applicable", "filtered", "unavailable", "no_judge"})


# ---------------------------------------------------------------------------------------------- cases


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference of a case: an image, a clip or a sound that the output should follow."""

    kind: Literal["image", "video", "audio"]
    path: Path
    role: str = ""
    entity: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One manifest line: one output of one system. Paths are absolute and were checked to lie under the media root."""

    id: str
    suite: str
    video: Path
    system: str = ""
    source: Path | None = None
    prompt: str = ""
    category: str = ""
    references: tuple[Reference, ...] = ()
    checklist: Any = None  # the questions themselves (parsed JSON), wherever the manifest kept them
    shots: tuple[Any, ...] = ()
    labels: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)

    def media(self, role: str) -> Path | None:
        """Path of the file that plays `role`; None if the case has none.

        Roles are "video" (the clip under test), "source", and "reference:0", "reference:1" ... in the order of
        `references`.
        """
        if role in {"video", "source"}:
            return self.video if role == "video" else self.source
        kind, _, index = role.partition(":")
        if kind != "reference" or not index.isdecimal():
            raise ValueError(f"unknown role {role!r}")
        return self.references[int(index)].path if int(index) < len(self.references) else None

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that this case fills."""
        references = tuple(f"reference:{index}" for index in range(len(self.references)))
        return ("video", *(("source",) if self.source is not None else ()), *references)


# --------------------------------------------------------------------------------- what may be asked of a clip


@dataclass(frozen=True, slots=True)
class Sampling:
    """Which frames of a clip: the name of a rule in `evaluator.media.sampling` and its parameters.

    >>> Sampling("equal_indices", (10,))
    """

    rule: str
    params: tuple[int | float | tuple[tuple[int, int], ...], ...] = ()


ALL_FRAMES = Sampling("all")


class Fit(StrEnum):
    """How a frame meets a target size."""

    NATIVE = "native"  # keep the size of the display picture
    SQUASH = "squash"  # to exactly (height, width), aspect ignored
    SHORT_SIDE = "short_side"  # short side to `height`, aspect kept
    LONG_SIDE_MAX = "long_side_max"  # long side to at most `height`, aspect kept, never enlarged
    SHORT_SIDE_CROP = "short_side_crop"  # short side to `height`, then centre crop of `width` x `width`
    LETTERBOX = "letterbox"  # longest side to the target, centred on black


class Filter(StrEnum):
    """Which interpolation, and whose arithmetic it must agree with."""

    BICUBIC = "bicubic"  # Pillow, antialiased when reducing (torch antialias=True agrees to 0.1 level)
    BILINEAR = "bilinear"  # Pillow when antialias is set; OpenCV INTER_LINEAR when it is not
    AREA = "area"  # OpenCV INTER_AREA
    FFMPEG_BICUBIC = "ffmpeg_bicubic"  # libswscale's default scaler, from the decoder's own planes
    FFMPEG_AREA = "ffmpeg_area"  # the same, with its area kernel
    FFMPEG_JPEG = "ffmpeg_jpeg"  # OpenCV INTER_LINEAR, on frames that went through FFmpeg's default JPEG files


@dataclass(frozen=True, slots=True)
class View:
    """A picture request: which frames, at which size, in which colours. Hashable: request, cache key and provenance.

    A view is always uint8, frames x height x width x channels (1 for gray). Values are as the file's matrix and range
    tags say (BT.601 limited if untagged), rotation is applied, sample aspect is not.
    """

    sampling: Sampling = ALL_FRAMES
    fit: Fit = Fit.NATIVE
    height: int = 0
    width: int = 0
    filter: Filter = Filter.BICUBIC
    antialias: bool = True
    colour: Literal["rgb", "gray"] = "rgb"


@dataclass(frozen=True, slots=True)
class AudioView:
    """A sound request: signed 16-bit samples at `rate` Hz, as FFmpeg's default resampler makes them; 1 channel, or 2.

    `missing="silence"` turns a clip without an audio stream into digital silence of the video's duration;
    `missing="skip"` makes whatever asked for it not applicable.
    """

    rate: int = 16_000
    missing: Literal["skip", "silence"] = "skip"
    channels: Literal[1, 2] = 1


# ----------------------------------------------------------------------------------------- what a metric needs


@dataclass(frozen=True, slots=True)
class FramesNeed:
    """The pictures of one clip: arrives as `evaluator.media.types.Frames`."""

    view: View
    role: str = "video"


@dataclass(frozen=True, slots=True)
class AudioNeed:
    """The sound of one clip: arrives as `evaluator.media.types.Audio`."""

    view: AudioView = AudioView()
    role: str = "video"


@dataclass(frozen=True, slots=True)
class ClipNeed:
    """The facts of one clip (size, times, streams): arrives as `evaluator.media.types.ClipInfo`."""

    role: str = "video"


@dataclass(frozen=True, slots=True)
class ExpertNeed:
    """What a model says about one clip, or about a pair: arrives as the feature type of the capability.

    `sampling` picks frames where the capability takes a choice; `options` are sorted (name, value) pairs. `when` names
    a gate (`evaluator.metrics.gates.GATES`): where it is shut for the clip, the model is not run at all.
    """

    capability: str
    roles: tuple[str, ...] = ("video",)
    sampling: Sampling | None = None
    options: tuple[tuple[str, str | int | float | bool], ...] = ()
    when: str = ""


Need = FramesNeed | AudioNeed | ClipNeed | ExpertNeed


# -------------------------------------------------------------------------------------------------- records


class Tier(StrEnum):
    """Where a model's weights come from, and so what its numbers may be called."""

    REFERENCE = "reference"  # the checkpoint that the paper names
    EMBEDDED = "embedded"  # ships in a registry package


class Status(StrEnum):
    OK = "ok"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ModelRef:
    """Which model produced a number. `stands_in_for` is empty when the model is the published one."""

    id: str
    sha256: str
    tier: Tier
    stands_in_for: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a record has no value: a word for machines and a sentence for people."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Score:
    """One line of scores.jsonl: one metric of one case. Nothing in it changes from run to run."""

    case: str
    suite: str
    system: str
    metric: str
    value: float | None
    status: Status
    reason: Reason | None
    raw: float | None
    details: Mapping[str, Any]
    models: tuple[ModelRef, ...]
    profile: str
    fingerprint: str
    schema: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        """A value exists exactly when the status is ok, and it is a finite number."""
        if (self.status is Status.OK) != (self.value is not None):
            raise ValueError(f"{self.case}/{self.metric}: status {self.status} with value {self.value}")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"{self.case}/{self.metric}: value {self.value} is not finite")
        if (self.status is Status.OK) != (self.reason is None):
            raise ValueError(f"{self.case}/{self.metric}: status {self.status} with reason {self.reason}")

    @property
    def key(self) -> tuple[str, str]:
        """(case id, metric id), unique within a run."""
        return self.case, self.metric


# ------------------------------------------------------------------------------------------- bytes in and out


def rounded(value: Any) -> Any:
    """The same tree with every float cut to SIGNIFICANT_DIGITS, and NaN or infinity refused with ValueError."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be written: records hold finite numbers or null")
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    if isinstance(value, Mapping):
        return {str(key): rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, str | bytes):  # a numpy scalar
        return rounded(value.item())
    return value


def to_tree(value: Any) -> Any:
    """Dataclasses to dictionaries in field order, enums to their words, paths to text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_tree(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_tree(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_tree(item) for item in value]
    if isinstance(value, Path):
        return os.fsencode(value).decode("utf-8", "backslashreplace")  # a name need not be UTF-8
    if isinstance(value, StrEnum):
        return str(value)
    return value


def encode(record: Any) -> bytes:
    """One JSON line (with its newline) for a record: `schema` first, then fields in the order of their declaration."""
    tree = rounded(to_tree(record))
    head = {"schema": tree.pop("schema")} if "schema" in tree else {}
    return orjson.dumps({**head, **tree}, option=orjson.OPT_APPEND_NEWLINE)


def decode_score(line: bytes) -> Score:
    """Inverse of `encode` for a Score. Raises ValueError for a line that is not a whole record of this schema."""
    try:
        tree = orjson.loads(line)
        if line.count(b"{") + line.count(b"[") > DEEPEST:
            orjson.dumps(tree)  # a TypeError for what is nested deeper than anything that `encode` can have written
        if tree["schema"] != SCHEMA_VERSION:
            raise ValueError(f"schema {tree['schema']}, this version reads {SCHEMA_VERSION}")
        _check_kinds(tree)
        tree["models"] = tuple([_model(tuple(item.items())) for item in tree["models"]])
        if tree["reason"]:
            tree["reason"] = Reason(**_words(tree["reason"]))
        tree["status"] = Status(tree["status"])
        return Score(**tree)
    except (KeyError, TypeError, AttributeError, orjson.JSONDecodeError) as error:
        raise ValueError(f"not a score record: {error}") from error


_KINDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("case", "suite", "system", "metric", "profile", "fingerprint"), (str,)),
    **dict.fromkeys(("value", "raw"), (float, int, type(None))),
    "details": (dict,),
    "models": (list,),
}


def _check_kinds(tree: Mapping[str, Any]) -> None:
    """Raise TypeError for a field that holds another kind of thing than `encode` writes."""
    for name, kinds in _KINDS.items():
        if type(tree[name]) not in kinds:
            raise TypeError(f"{name} is {type(tree[name]).__name__}")


@lru_cache(maxsize=1024)
def _model(items: tuple[tuple[str, Any], ...]) -> ModelRef:
    """Every record of a run names one of a few models, and a resume reads all records: each model is made once."""
    tree = _words(dict(items))
    return ModelRef(**{**tree, "tier": Tier(tree["tier"])})


def _words(tree: dict[str, Any]) -> dict[str, Any]:
    """The same tree. Raises TypeError if any of its values is no text."""
    if not all(type(word) is str for word in tree.values()):
        raise TypeError(f"a value of {', '.join(tree)} is not text")
    return tree


def digest(value: Any) -> str:
    """SHA-256 (hex) of the canonical JSON of any tree of records: keys sorted, floats in full."""
    return hashlib.sha256(orjson.dumps(to_tree(value), option=orjson.OPT_SORT_KEYS)).hexdigest()
