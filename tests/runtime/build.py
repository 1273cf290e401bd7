"""Small locks and stores for tests: entries of a few bytes, and sessions that run nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluator.runtime.digests import DigestCache
from evaluator.runtime.lock import Lock, read_lock
from evaluator.runtime.session import Array
from evaluator.runtime.store import Store

CONTENT = b"weights"
ZEROS = "0" * 64


def sha(content: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


def file(name: str = "net.onnx", content: bytes | None = CONTENT, how: str = "mounted", **more: Any) -> dict[str, Any]:
    """A file entry; `content=None` leaves size and digest open."""
    size, digest = (None, None) if content is None else (len(content), sha(content))
    return {"name": name, "how": how, "size": size, "sha256": digest, **more}


def entry(model: str = "alpha", capability: str = "seeing", tier: str = "embedded", **more: Any) -> dict[str, Any]:
    """A model entry with one mounted file."""
    return {
        "id": model,
        "title": model.title(),
        "capability": capability,
        "tier": tier,
        "licence": {"code": "MIT", "weights": "not stated apart"},
        "origin": {"published": f"shelf {model}"},
        "files": [file()],
        "preprocessing": {},
        **more,
    }


def tree(*entries: dict[str, Any]) -> dict[str, Any]:
    """A lock of these entries, capabilities in the order of the entries."""
    capabilities: dict[str, list[str]] = {}
    for item in entries:
        capabilities.setdefault(item["capability"], []).append(item["id"])
    return {"schema": 1, "capabilities": capabilities, "models": list(entries)}


def lock(folder: Path, *entries: dict[str, Any]) -> Lock:
    """The same, through a file."""
    import orjson

    path = folder / "models.lock.json"
    path.write_bytes(orjson.dumps(tree(*entries)))
    return read_lock(path)


class FakeSession:
    """Has the signature it is told, counts nothing, runs nothing."""

    provider = "CPUExecutionProvider"

    def __init__(
        self,
        inputs: Mapping[str, tuple[Sequence[int | str | None], str]] | None = None,
        outputs: Mapping[str, tuple[Sequence[int | str | None], str]] | None = None,
    ) -> None:
        self.inputs = inputs or {}
        self.output_types = outputs or {}
        self.outputs = list(self.output_types)

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        return {}


def store(folder: Path, *entries: dict[str, Any], mounted: Path | None = None, opener: Any = None) -> Store:
    """A store over `folder`/store whose digests are remembered in `folder`/digests.json."""
    digests = DigestCache(folder / "digests.json")
    return Store(lock(folder, *entries), folder / "store", mounted, digests, opener or (lambda path: FakeSession()))


def put(folder: Path, model: str, name: str = "net.onnx", content: bytes = CONTENT) -> Path:
    """Write a file where the store looks for it."""
    path = folder / model / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
