"""Where weight files lie, whether they are the right ones, and which model answers for a capability.

Search order for a file: the folder that the user mounts (`--models`, EVALUATOR_MODELS) as `<id>/<file>`, for reference
models also as `<file>`; then the prepared store (EVALUATOR_STORE, default `models/store` of this checkout). The first
file found counts: a wrong file is an error, never a reason to look further. Nothing is ever fetched.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson

from evaluator.errors import ModelCorrupt, ModelMissing, PrerequisiteError
from evaluator.runtime.backends import Opens
from evaluator.runtime.contract import check_contract
from evaluator.runtime.digests import DigestCache, cache_folder
from evaluator.runtime.lock import Lock, ModelEntry, ModelFile, read_lock
from evaluator.runtime.onnx import OnnxSession
from evaluator.runtime.session import Session
from evaluator.runtime.shapes import network
from evaluator.schema import ModelRef, Tier, digest

ROOT = Path(__file__).resolve().parents[2]
LOCK_FILE = ROOT / "models" / "models.lock.json"
EXPORT_RECORD = "export.json"

FileState = Literal["missing", "present", "locked", "exported here", "accepted", "corrupt"]
"""present: found, not hashed. locked: the digest of the lock. exported here: another digest, with an export record that
passed parity. accepted: the lock names no digest, any file that honours the contract will do."""


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One file of a model: where it is (or would be looked for first) and what was found."""

    name: str
    path: Path
    state: FileState
    expected: str | None
    found: str | None


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One row of `models list`: a model, its files, and whether its capability resolves to it."""

    entry: ModelEntry
    files: tuple[FileStatus, ...]
    resolved: bool

    @property
    def ready(self) -> bool:
        """True if no file is missing or corrupt."""
        return not {file.state for file in self.files} & {"missing", "corrupt"}


@dataclass(frozen=True, slots=True)
class Resolution:
    """Which model answers for a capability, and why the better ones do not."""

    capability: str
    entry: ModelEntry | None
    reasons: tuple[str, ...]

    def require(self) -> ModelEntry:
        """The entry. Raises ModelMissing with all reasons."""
        if self.entry is None:
            raise ModelMissing(f"no model for {self.capability}:\n" + "\n".join(self.reasons))
        return self.entry


class Store:
    """Verified files and sessions of the models of one lock. A `SessionSource`; safe to use from several threads."""

    def __init__(
        self,
        lock: Lock,
        folder: Path,
        mounted: Path | None,
        digests: DigestCache,
        opener: Callable[[Path], Session] = OnnxSession,
    ) -> None:
        self.lock = lock
        self.folder = folder
        self.mounted = mounted
        self.digests = digests
        self._opener = opener
        self._backends: Opens | None = None
        self._guard = threading.Lock()
        self._busy: dict[tuple[str, str], threading.Lock] = {}
        self._sessions: dict[tuple[str, str], Session] = {}
        self._verified: dict[tuple[str, str], tuple[Path, str]] = {}

    @classmethod
    def open(
        cls,
        models_dir: Path | None = None,
        environment: Mapping[str, str] = os.environ,
        opener: Callable[[Path], Session] = OnnxSession,
    ) -> Store:
        """The store of this checkout. `models_dir` is the mounted folder, default EVALUATOR_MODELS.

        Raises PrerequisiteError if the lock cannot be read or the mounted folder does not exist.
        """
        named = environment.get("EVALUATOR_MODELS")
        mounted = models_dir or (Path(named) if named else None)
        if mounted is not None and not mounted.is_dir():
            raise PrerequisiteError(f"{mounted}: the folder of mounted models does not exist")
        folder = Path(environment.get("EVALUATOR_STORE") or ROOT / "models" / "store")
        digests = DigestCache(cache_folder(environment) / "digests.json")
        return cls(read_lock(LOCK_FILE), folder, mounted, digests, opener)

    def use(self, backends: Opens) -> None:
        """Open networks on a device from now on."""
        self._backends = backends

    # ---------------------------------------------------------------------------------------- files and sessions

    def session(self, model: str, file: str) -> Session:
        """The session of one ONNX file, opened once per process. Raises ModelMissing or ModelCorrupt."""
        key = model, file
        with self._guard:
            busy = self._busy.setdefault(key, threading.Lock())
        with busy:
            if key not in self._sessions:
                self._sessions[key] = self._opened(self.lock[model], self.lock[model].file(file))
            return self._sessions[key]

    def path(self, model: str, file: str) -> Path:
        """A verified file of a model. Raises ModelMissing or ModelCorrupt."""
        return self._verify(self.lock[model], self.lock[model].file(file))[0]

    def _opened(self, entry: ModelEntry, file: ModelFile) -> Session:
        path = self.path(entry.id, file.name)
        for name in file.beside:
            if self.path(entry.id, name).parent != path.parent:
                raise ModelMissing(f"{path}: {name} must lie in the same folder")
        session = self._opener(path) if self._backends is None else self._backends.open(network(file, path))
        check_contract(session, entry.id, file, path)
        return session

    def _verify(self, entry: ModelEntry, file: ModelFile) -> tuple[Path, str]:
        """Path and digest of a file, checked once per process."""
        key = entry.id, file.name
        if key not in self._verified:
            path = self._find(entry, file)
            if path is None:
                raise ModelMissing(missing_message(entry, self._status(entry, file, hashed=False)))
            found = self.digests.sha256(path)
            if _state(entry, file, path, found) == "corrupt":
                raise ModelCorrupt(
                    f"{path}: not the file that the lock names for model {entry.id}: "
                    f"expected SHA-256 {file.sha256}, found {found}"
                )
            self._verified[key] = path, found
        return self._verified[key]

    # ------------------------------------------------------------------------------------------------ resolution

    def resolve(self, capability: str, require_reference: bool = False) -> Resolution:
        """The best model whose files are all present. With `require_reference` a stand-in does not count.

        Files are not hashed here: a present but wrong reference file is an error when it is used, not a fallback.
        Raises KeyError for a capability that the lock does not know.
        """
        reasons: list[str] = []
        for entry in self.lock.answering(capability):
            absent = [item for item in self.file_statuses(entry, hashed=False) if item.state == "missing"]
            if not absent and not (require_reference and entry.stand_in):
                return Resolution(capability, entry, tuple(reasons))
            reasons += [missing_message(entry, item) for item in absent] or [
                f"{entry.id} stands in for {entry.stands_in_for}, and a reference model is required"
            ]
        return Resolution(capability, None, tuple(reasons))

    def model_ref(self, model: str) -> ModelRef:
        """What records say of a model; its digest covers the digests of all its files. Verifies every file.

        Of a weightless model, the digest covers its parameters.
        """
        entry = self.lock[model]
        found = {file.name: self._verify(entry, file)[1] for file in entry.files}
        return ModelRef(entry.id, digest(found or entry.preprocessing), entry.tier, entry.stands_in_for)

    @property
    def lock_sha256(self) -> str:
        """Digest of the lock's content, for the run header."""
        return digest(self.lock)

    def providers(self) -> dict[str, str]:
        """`model/file` -> execution provider that was obtained, for the sessions that were opened."""
        with self._guard:
            return {f"{model}/{file}": session.provider for (model, file), session in sorted(self._sessions.items())}

    def require_embedded(self) -> None:
        """Raises ModelMissing unless every file of every embedded model is present."""
        rows = [(entry, row) for entry in self.lock.embedded for row in self.file_statuses(entry, hashed=False)]
        absent = [missing_message(entry, row) for entry, row in rows if row.state == "missing"]
        if absent:
            raise ModelMissing("\n".join(absent))

    def status(self, hashed: bool = False, fresh: bool = False) -> list[ModelStatus]:
        """All models in the order of the lock. `hashed` compares digests, `fresh` reads every file again to do so."""
        best = {name: self.resolve(name).entry for name in self.lock.capabilities}
        return [
            ModelStatus(entry, tuple(self.file_statuses(entry, hashed, fresh)), best[entry.capability] is entry)
            for entry in self.lock.models
        ]

    # ---------------------------------------------------------------------------------------------------- places

    def places(self, entry: ModelEntry, name: str) -> list[Path]:
        """Where a file or source of a model is looked for, in order."""
        found = []
        if self.mounted is not None:
            found.append(self.mounted / entry.id / name)
            if entry.tier is Tier.REFERENCE:
                found.append(self.mounted / name)
        return [*found, self.folder / entry.id / name]

    def file_statuses(self, entry: ModelEntry, hashed: bool = True, fresh: bool = False) -> list[FileStatus]:
        """What is found of every file of a model; raises nothing for what is missing or wrong."""
        return [self._status(entry, file, hashed, fresh) for file in entry.files]

    def _find(self, entry: ModelEntry, file: ModelFile) -> Path | None:
        return next((place for place in self.places(entry, file.name) if place.is_file()), None)

    def _status(self, entry: ModelEntry, file: ModelFile, hashed: bool, fresh: bool = False) -> FileStatus:
        path = self._find(entry, file)
        if path is None:
            best = self.places(entry, file.name)[0 if entry.tier is Tier.REFERENCE else -1]
            return FileStatus(file.name, best, "missing", file.sha256, None)
        if not hashed:
            return FileStatus(file.name, path, "present", file.sha256, None)
        found = self.digests.sha256(path, fresh)
        return FileStatus(file.name, path, _state(entry, file, path, found), file.sha256, found)


def _state(entry: ModelEntry, file: ModelFile, path: Path, found: str) -> FileState:
    if file.sha256 is None:
        return "accepted"
    if found == file.sha256:
        return "locked"
    if file.how == "exported" and _exported_here(entry, file, path.parent / EXPORT_RECORD, found):
        return "exported here"
    return "corrupt"


def _exported_here(entry: ModelEntry, file: ModelFile, record: Path, found: str) -> bool:
    """Whether an export record vouches for a file: these sources, this recipe, this digest, and parity passed."""
    if entry.export is None or not record.is_file():
        return False
    try:
        tree = orjson.loads(record.read_bytes())
        return bool(
            tree["passed"] is True
            and tree["recipe"] == entry.export.sha256
            and tree["sources"] == {source.name: source.sha256 for source in entry.sources}
            and tree["files"][file.name] == found
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ModelCorrupt(f"{record}: not an export record ({error})") from error


def missing_message(entry: ModelEntry, status: FileStatus) -> str:
    """What to copy where: the path, the digest and the origin of a file that is not there."""
    sha = f"SHA-256 {status.expected}" if status.expected else "any file that honours the contract in the model lock"
    how = ""
    if entry.on_request:
        how = f"; it is used only where asked for, prepare it with: python -m export build {entry.id}"
    elif entry.tier is Tier.EMBEDDED:
        how = "; prepare it with: ./run.sh setup"
    elif entry.export is not None:
        how = f"; or export it from its published weights: python -m export build {entry.id} --models DIR"
    return f"{status.path}: missing (model {entry.id}, {sha}); origin: {entry.origin.published}{how}"
