"""What a recipe may read: verified files, and modules that leave nothing behind."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import ModelCorrupt, ModelMissing, PrerequisiteError
from export.fetch import Wheelhouse
from export.sources import LockedSources, importable
from tests.export.wheels import wheel
from tests.runtime.build import ZEROS, entry, file, sha, store

BIG = b"""
import my_missing
from my_missing.parts import gadget
from my_nets.small import WIDTH
"""
CODE = {
    "odd-root/tree/my_nets/__init__.py": b"",
    "odd-root/tree/my_nets/big.py": BIG,
    "odd-root/tree/my_nets/small.py": b"WIDTH = 4\n",
    "odd-root/tree/weights.bin": b"numbers",
}
SOURCE = {"name": "weights.bin", "package": "my-net==1.0", "member": "odd-root/tree/weights.bin"}


def sources(folder: Path, mounted: Path | None = None, **changes: Any) -> LockedSources:
    """The sources of one entry over one fake wheel."""
    pin = wheel(folder / "wheels", "my-net", CODE)
    listed = [{**SOURCE, "size": 7, "sha256": sha(b"numbers"), **changes}]
    export = {"recipe": "r.py", "sha256": ZEROS, "opset": 17, "precision": "fp32", "code": ["my-net==1.0"]}
    item = entry(files=[file(how="exported")], sources=listed, export=export, tier="reference")
    found = store(folder, item, mounted=mounted)
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    return LockedSources(found.lock["alpha"], found, Wheelhouse(folder / "wheels", {pin.text: pin}, print), scratch)


def test_a_member_is_unpacked_once_it_is_right(tmp_path: Path) -> None:
    assert sources(tmp_path).file("weights.bin").read_bytes() == b"numbers"


def test_a_member_with_another_digest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelCorrupt, match=r"odd-root/tree/weights\.bin: expected SHA-256 0000"):
        sources(tmp_path, sha256=ZEROS).file("weights.bin")
    assert not (tmp_path / "scratch" / "weights.bin").exists()


@pytest.mark.parametrize("place", ["alpha/weights.bin", "weights.bin"])
def test_a_mounted_source_is_found(tmp_path: Path, place: str) -> None:
    path = tmp_path / "mounted" / place
    path.parent.mkdir(parents=True)
    path.write_bytes(b"numbers")
    found = sources(tmp_path, tmp_path / "mounted", package=None, member=None)
    assert found.file("weights.bin") == path
    path.write_bytes(b"altered")
    with pytest.raises(ModelCorrupt):
        found.file("weights.bin")


def test_a_source_that_must_be_mounted_says_where(tmp_path: Path) -> None:
    found = sources(tmp_path, tmp_path / "mounted", package=None, member=None)
    with pytest.raises(ModelMissing) as told:
        found.file("weights.bin")
    assert str(tmp_path / "mounted" / "alpha" / "weights.bin") in str(told.value)
    assert sha(b"numbers") in str(told.value)


def test_a_module_is_found_at_any_depth_and_imported_with_stubs(tmp_path: Path) -> None:
    before, path = set(sys.modules), list(sys.path)
    module = sources(tmp_path).module("my-net", "my_nets.big", stubs=["my_missing", "my_missing.parts"])
    assert module.WIDTH == 4
    assert module.gadget is None
    assert set(sys.modules) == before
    assert sys.path == path


def test_a_second_import_starts_afresh(tmp_path: Path) -> None:
    found = sources(tmp_path)
    first, second = (found.module("my-net", "my_nets.small") for _ in range(2))
    first.WIDTH = 5
    assert second.WIDTH == 4


def test_what_is_not_stubbed_and_not_there_is_an_import_error(tmp_path: Path) -> None:
    before = set(sys.modules)
    with pytest.raises(ModuleNotFoundError, match="my_missing"):
        sources(tmp_path).module("my-net", "my_nets.big")
    assert set(sys.modules) == before


@pytest.mark.parametrize(("package", "name"), [("other", "my_nets.small"), ("my-net", "my_nets.huge")])
def test_what_the_lock_does_not_list_cannot_be_imported(tmp_path: Path, package: str, name: str) -> None:
    with pytest.raises(PrerequisiteError):
        sources(tmp_path).module(package, name)


def test_only_python_files_are_unpacked_for_an_import(tmp_path: Path) -> None:
    sources(tmp_path).module("my-net", "my_nets.small")
    unpacked = {path.suffix for path in (tmp_path / "scratch" / "code").rglob("*") if path.is_file()}
    assert unpacked <= {".py", ".pyc"}


def test_what_an_imported_module_puts_on_the_path_is_taken_away_again(tmp_path: Path) -> None:
    (tmp_path / "my_pushy.py").write_text("import sys\nsys.path.insert(0, '.')\nsys.path.append('elsewhere')\n")
    path = list(sys.path)
    with importable([str(tmp_path)], []):
        import_module("my_pushy")
    assert sys.path == path
    with pytest.raises(ModuleNotFoundError):
        import_module("my_pushy")
