"""Built engines on disk: one plan per key, accepted only with a passed comparison, refused ones remembered too.

A plan is tied to everything that it was built from and for: the ONNX file, the rewrites that it may have gone through,
TensorRT's version, the GPU, its driver, the shapes, the flags. All of that is the key; anything else is another engine.
Layout of the folder:

    <key>.plan      the serialised engine
    <key>.json      what the key stands for, the digest of the plan, the comparison; or why there is no plan
    <kind>.timings  kernel timings, shared by all engines of one TensorRT, GPU and driver

Knows nothing about TensorRT itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from evaluator.runtime.engine_build import Built, Profile
from evaluator.runtime.engine_rewrites import VERSION
from evaluator.runtime.files import write_atomic
from evaluator.schema import digest


@dataclass(frozen=True, slots=True)
class Gpu:
    """The device that an engine is for."""

    name: str
    capability: str  # "9.0"
    driver: str


@dataclass(frozen=True, slots=True)
class EngineKey:
    """Everything that makes one engine another than the next."""

    onnx_sha256: str
    tensorrt: str  # module and version
    gpu: Gpu
    profile: Profile
    flags: tuple[str, ...] = ()
    always: tuple[tuple[str, int], ...] = ()  # inputs that are built in
    rewrites: int = VERSION

    @property
    def facts(self) -> dict[str, Any]:
        """The key as a plain tree."""
        return {**asdict(self), "profile": {name: asdict(shapes) for name, shapes in self.profile.items()}}

    @property
    def id(self) -> str:
        """SHA-256 over all of it: the name of the files."""
        return digest(self.facts)

    @property
    def kind(self) -> str:
        """What kernel timings depend on."""
        return digest([self.tensorrt, asdict(self.gpu)])


@dataclass(frozen=True, slots=True)
class Kept:
    """What the cache holds for a key: a plan that passed its comparison, or the reason why there is none."""

    plan: bytes | None
    record: Mapping[str, Any]


class EngineCache:
    """A folder of engines. Broken entries count as absent: the engine is built again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, key: EngineKey) -> Kept | None:
        """What is kept for a key; None if nothing is, or if a file is not what its record says."""
        record = self._record(key)
        if record is None or "plan_sha256" not in record:
            return Kept(None, record) if record is not None else None
        try:
            plan = (self.folder / f"{key.id}.plan").read_bytes()
        except OSError:
            return None
        return Kept(plan, record) if hashlib.sha256(plan).hexdigest() == record["plan_sha256"] else None

    def keep(self, key: EngineKey, built: Built, comparison: Mapping[str, Any]) -> None:
        """Keep an engine that passed its comparison, and what its build learned about kernels."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomic(self.folder / f"{key.id}.plan", built.plan)
        facts = {"plan_sha256": hashlib.sha256(built.plan).hexdigest(), "notes": list(built.notes)}
        self._write(key, {**facts, "rewrites": list(built.rewrites), "comparison": comparison})
        if built.timings:
            write_atomic(self.folder / f"{key.kind}.timings", built.timings)

    def refuse(self, key: EngineKey, reason: str) -> None:
        """Remember that this engine cannot be had, so that the next run need not try."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write(key, {"refused": reason})

    def records(self) -> list[Mapping[str, Any]]:
        """What is known of every engine that was built or refused, by key. Torn records are left out."""
        found = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                found.append(orjson.loads(path.read_bytes()))
            except orjson.JSONDecodeError:
                continue
        return found

    def timings(self, key: EngineKey) -> bytes:
        """Kernel timings of earlier builds for the same TensorRT, GPU and driver; empty if there are none."""
        path = self.folder / f"{key.kind}.timings"
        return path.read_bytes() if path.is_file() else b""

    def _record(self, key: EngineKey) -> dict[str, Any] | None:
        try:
            record: dict[str, Any] = orjson.loads((self.folder / f"{key.id}.json").read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return None
        return record if record.get("key") == orjson.loads(orjson.dumps(key.facts)) else None

    def _write(self, key: EngineKey, facts: Mapping[str, Any]) -> None:
        data = orjson.dumps({"key": key.facts, **facts}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        write_atomic(self.folder / f"{key.id}.json", data)
