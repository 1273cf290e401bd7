"""Prepare models: copy what is copied, export what is exported, prove parity, then put the files into the store.

Nothing reaches the store before every file of the model is complete and every parity row has passed.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

import orjson

from evaluator.errors import EvaluatorError, ModelCorrupt, PrerequisiteError
from evaluator.runtime.digests import sha256_file
from evaluator.runtime.lock import ModelEntry
from evaluator.runtime.store import EXPORT_RECORD, ROOT, Store
from evaluator.schema import Tier
from export.fetch import Wheelhouse
from export.recipe import Build, Parity, Precision, Sources
from export.sources import LockedSources

EXPORT_ENVIRONMENT = "docker/requirements/export.txt and export-torch.txt"
REFERENCE_ENVIRONMENT = "docker/requirements/export-models.txt and export-torch.txt"


class ParityFailed(EvaluatorError):
    """An exported file does not compute what its origin computes."""

    code = "parity"


def prepared(store: Store, entry: ModelEntry) -> bool:
    """True if every file of the model lies in the store or the mounted folder and is the right one."""
    states = {file.state for file in store.file_statuses(entry)}
    return not states & {"missing", "corrupt"}


def packages_of(entry: ModelEntry) -> list[str]:
    """The registry packages whose wheels a build of the model reads, as `name==version`."""
    carriers = [source.package for source in entry.sources if source.package is not None]
    return list(dict.fromkeys([*carriers, *(entry.export.code if entry.export else ())]))


def build(
    store: Store, wheels: Wheelhouse, entry: ModelEntry, say: Callable[[str], None], precision: Precision = "fp32"
) -> list[Parity]:
    """Make all files of one model and move them into the store. Returns the parity rows of the exported ones.

    Raises ModelMissing for a source that the user must mount, ParityFailed, or PrerequisiteError.
    """
    if entry.weightless:
        return []
    if entry.export is None and all(file.how == "mounted" for file in entry.files):
        raise PrerequisiteError(f"{entry.id}: nothing to build; its file is mounted ({entry.origin.published})")
    store.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=store.folder, prefix=f".{entry.id}.") as scratch:
        out = Path(scratch) / "out"
        out.mkdir()
        sources = LockedSources(entry, store, wheels, Path(scratch))
        for source in entry.sources:  # what the user must mount is said before anything is fetched or imported
            if source.package is None:
                sources.file(source.name)
        _copy(sources, out, say)
        rows = export(sources, out, say, precision) if entry.export else []
        _install(out, store.folder / entry.id)
    return rows


def export(
    sources: LockedSources, out: Path, say: Callable[[str], None], precision: Precision = "fp32"
) -> list[Parity]:
    """Run the recipe of a model into `out` and write the export record beside its files. Raises ParityFailed."""
    entry = sources.entry
    say(f"{entry.id}: exporting")
    rows = _recipe(entry, precision)(sources, out)
    for row in rows:
        say(f"  {row.file} {row.output}: largest difference {row.max_abs:.2g}, allowed {row.tolerance:.0e}")
    absent = [file.name for file in entry.made if not (out / file.name).is_file()]
    if absent or not rows:
        raise ParityFailed(f"{entry.id}: the recipe left out {', '.join(absent) or 'its parity rows'}")
    if failed := [f"{row.file} {row.output}" for row in rows if not row.passed]:
        raise ParityFailed(f"{entry.id}: parity failed for {', '.join(failed)}; nothing was written to the store")
    (out / EXPORT_RECORD).write_bytes(_record(sources, out, rows))
    return rows


def recipe_digest(model: str) -> str:
    """SHA-256 of the text of a recipe."""
    return sha256_file(ROOT / "export" / "recipes" / f"{model}.py")


def recipe_module(entry: ModelEntry) -> ModuleType:
    """The recipe of a model. Raises PrerequisiteError if something that it imports is not installed here."""
    try:
        return importlib.import_module(f"export.recipes.{entry.id}")
    except ModuleNotFoundError as error:
        environment = EXPORT_ENVIRONMENT if entry.tier is Tier.EMBEDDED else REFERENCE_ENVIRONMENT
        raise PrerequisiteError(
            f"{entry.id}: exporting needs {error.name}, which is not installed here; use an environment made from "
            f"{environment}"
        ) from error


def _recipe(entry: ModelEntry, precision: Precision) -> Build:
    """A recipe's own `build`, or one that writes its `networks` in a precision."""
    module = recipe_module(entry)
    if hasattr(module, "build"):
        made: Build = module.build
        if precision == "fp32":
            return made

        def build_halves(sources: Sources, out: Path) -> list[Parity]:
            rows = made(sources, out)
            return [*(row for row in rows if row.call is None), *halves(entry, rows, out, out)]

        return build_halves

    def build_networks(sources: Sources, out: Path) -> list[Parity]:
        from export.network import write

        made = module.networks(sources)
        return [row for network in made for row in write(network, entry.file(network.file), out, precision)]

    return build_networks


def halves(entry: ModelEntry, rows: Sequence[Parity], made: Path, out: Path) -> list[Parity]:
    """Write float16 copies of the networks that a recipe made into `out` and compare them on the same calls."""
    from export.half import Half, halved

    how: Mapping[str, Half] = getattr(recipe_module(entry), "HALF", {})
    names = dict.fromkeys(row.file for row in rows if row.call is not None)
    return [row for name in names for row in halved(made / name, out / name, rows, how.get(name, Half()))]


def _copy(sources: LockedSources, out: Path, say: Callable[[str], None]) -> None:
    for file in sources.entry.files:
        if file.parts:
            say(f"{sources.entry.id}: copying {file.name}")
            content = b"".join(sources.file(part).read_bytes() for part in file.parts)
            if hashlib.sha256(content).hexdigest() != file.sha256:
                raise ModelCorrupt(f"{sources.entry.id}: the lock gives {file.name} and its source different digests")
            (out / file.name).write_bytes(content)


def _record(sources: LockedSources, out: Path, rows: list[Parity]) -> bytes:
    """The export record: what vouches for files whose digests differ from the lock's, or that have none there."""
    entry = sources.entry
    read = {source.name: source.sha256 or sha256_file(sources.file(source.name)) for source in entry.sources}
    record = {
        "schema": 1,
        "model": entry.id,
        "recipe": recipe_digest(entry.id),
        "sources": read,
        "files": {file.name: sha256_file(out / file.name) for file in entry.files if (out / file.name).is_file()},
        "packages": {name: _version(name) for name in ("torch", "transformers", "onnx", "numpy", "onnxruntime")},
        "passed": all(row.passed for row in rows),
        "parity": [row.numbers for row in rows],
    }
    return orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _install(out: Path, folder: Path) -> None:
    """Move finished files into the store, one rename each, the record last: it vouches for files that are there."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(out.iterdir(), key=lambda path: path.name == EXPORT_RECORD):
        os.replace(path, folder / path.name)
