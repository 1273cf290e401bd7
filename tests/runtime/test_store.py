"""The store: which file is found, which is believed, which model answers, and what a person is told."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluator.errors import ModelCorrupt, ModelMissing, PrerequisiteError
from evaluator.runtime.lock import Lock
from evaluator.runtime.store import LOCK_FILE, ROOT, Store
from evaluator.schema import ModelRef, Tier, digest
from tests.runtime.build import CONTENT, ZEROS, FakeSession, entry, file, put, sha, store

EXPORT = {"recipe": "export/recipes/alpha.py", "sha256": ZEROS, "opset": 17, "precision": "fp32"}
SOURCE = {"name": "alpha.pt", "package": "alpha==1.0", "member": "alpha.pt", "size": 3, "sha256": sha(b"raw")}
BOTH = (entry("beta", tier="reference"), entry("alpha", stands_in_for="Beta"))


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return tmp_path / "store"


# ------------------------------------------------------------------------------------------------------- files


def test_a_right_file_is_given(tmp_path: Path, shelf: Path) -> None:
    path = put(shelf, "alpha")
    assert store(tmp_path, entry()).path("alpha", "net.onnx") == path


def test_a_missing_file_says_where_what_and_whence(tmp_path: Path, shelf: Path) -> None:
    with pytest.raises(ModelMissing) as told:
        store(tmp_path, entry()).path("alpha", "net.onnx")
    assert str(shelf / "alpha" / "net.onnx") in str(told.value)
    assert sha(CONTENT) in str(told.value)
    assert "shelf alpha" in str(told.value)


def test_a_missing_reference_file_is_asked_for_in_the_mounted_folder(tmp_path: Path) -> None:
    mounted = tmp_path / "mounted"
    with pytest.raises(ModelMissing, match=str(mounted / "alpha" / "net.onnx")):
        store(tmp_path, entry(tier="reference"), mounted=mounted).path("alpha", "net.onnx")


@pytest.mark.parametrize("position", range(len(CONTENT)))
def test_one_changed_byte_is_refused(tmp_path: Path, shelf: Path, position: int) -> None:
    changed = bytes(value ^ (1 if at == position else 0) for at, value in enumerate(CONTENT))
    path = put(shelf, "alpha", content=changed)
    with pytest.raises(ModelCorrupt) as told:
        store(tmp_path, entry()).session("alpha", "net.onnx")
    assert all(part in str(told.value) for part in (str(path), sha(CONTENT), sha(changed)))


def test_a_byte_changed_after_an_earlier_run_is_refused(tmp_path: Path, shelf: Path) -> None:
    path = put(shelf, "alpha")
    store(tmp_path, entry()).path("alpha", "net.onnx")
    path.write_bytes(CONTENT[::-1])
    with pytest.raises(ModelCorrupt):
        store(tmp_path, entry()).path("alpha", "net.onnx")


def test_the_mounted_folder_comes_first(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    mounted = put(tmp_path / "mounted", "alpha")
    assert store(tmp_path, entry(), mounted=tmp_path / "mounted").path("alpha", "net.onnx") == mounted


def test_a_wrong_mounted_file_is_an_error_not_a_fallback(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    put(tmp_path / "mounted", "alpha", content=b"another")
    with pytest.raises(ModelCorrupt):
        store(tmp_path, entry(), mounted=tmp_path / "mounted").path("alpha", "net.onnx")


@pytest.mark.parametrize(("tier", "found"), [("reference", True), ("embedded", False)])
def test_only_reference_files_may_lie_flat(tmp_path: Path, tier: str, found: bool) -> None:
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    (mounted / "net.onnx").write_bytes(CONTENT)
    state = store(tmp_path, entry(tier=tier), mounted=mounted).status()[0].files[0].state
    assert state == ("present" if found else "missing")


# ---------------------------------------------------------------------------------------------- export records


def exported(folder: Path, **changes: Any) -> Store:
    """A store with a file of another digest than the lock's, and an export record for it."""
    item = entry(files=[file(how="exported")], sources=[SOURCE], export=EXPORT)
    put(folder / "store", "alpha", content=b"made elsewhere")
    record = {"passed": True, "recipe": ZEROS, "sources": {"alpha.pt": sha(b"raw")}}
    record |= {"files": {"net.onnx": sha(b"made elsewhere")}, **changes}
    put(folder / "store", "alpha", "export.json", orjson.dumps(record))
    return store(folder, item)


def test_an_export_made_here_is_accepted_and_says_so(tmp_path: Path) -> None:
    found = exported(tmp_path)
    assert found.session("alpha", "net.onnx")
    assert found.status(hashed=True)[0].files[0].state == "exported here"
    assert found.model_ref("alpha").sha256 == digest({"net.onnx": sha(b"made elsewhere")})


@pytest.mark.parametrize(
    "changes",
    [{"passed": False}, {"recipe": sha(b"x")}, {"sources": {}}, {"files": {"net.onnx": sha(b"x")}}, {"passed": "yes"}],
)
def test_a_record_that_vouches_for_something_else_does_not_help(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(ModelCorrupt):
        exported(tmp_path, **changes).path("alpha", "net.onnx")


def test_a_broken_record_is_named(tmp_path: Path, shelf: Path) -> None:
    found = exported(tmp_path)
    put(shelf, "alpha", "export.json", b"{")
    with pytest.raises(ModelCorrupt, match=r"export\.json: not an export record"):
        found.path("alpha", "net.onnx")


def test_a_copied_file_has_no_use_for_a_record(tmp_path: Path) -> None:
    exported(tmp_path)
    found = store(tmp_path, entry(files=[file(how="copied", source="alpha.pt")], sources=[SOURCE]))
    with pytest.raises(ModelCorrupt):
        found.path("alpha", "net.onnx")


def test_any_file_will_do_where_the_lock_names_no_digest(tmp_path: Path) -> None:
    mounted = tmp_path / "mounted"
    refs = []
    for content in (b"one", b"two"):
        put(mounted, "alpha", content=content)
        found = store(tmp_path, entry(tier="reference", files=[file(content=None)]), mounted=mounted)
        assert found.status(hashed=True)[0].files[0].state == "accepted"
        refs.append(found.model_ref("alpha").sha256)
    assert refs == [digest({"net.onnx": sha(content)}) for content in (b"one", b"two")]


# ---------------------------------------------------------------------------------------------------- sessions


def test_a_session_is_opened_once_however_many_threads_ask(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    opened: list[Path] = []
    gate = threading.Barrier(8, timeout=20)

    def opener(path: Path) -> FakeSession:
        opened.append(path)
        return FakeSession()

    found = store(tmp_path, entry(), opener=opener)

    def ask(_: int) -> object:
        gate.wait()
        return found.session("alpha", "net.onnx")

    with ThreadPoolExecutor(8) as pool:
        sessions = list(pool.map(ask, range(8)))
    assert len(opened) == 1
    assert len({id(session) for session in sessions}) == 1
    assert found.providers() == {"alpha/net.onnx": "CPUExecutionProvider"}


def test_slow_opening_of_one_model_does_not_hold_up_another(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    put(shelf, "beta")
    released = threading.Event()

    def opener(path: Path) -> FakeSession:
        assert path.parent.name == "beta" or released.wait(20)
        return FakeSession()

    found = store(tmp_path, entry(), entry("beta", "hearing"), opener=opener)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(found.session, "alpha", "net.onnx")
        assert found.session("beta", "net.onnx")
        assert not slow.done()
        released.set()
        assert slow.result(20)


def test_a_failed_opening_is_not_kept(tmp_path: Path, shelf: Path) -> None:
    found = store(tmp_path, entry())
    with pytest.raises(ModelMissing):
        found.session("alpha", "net.onnx")
    put(shelf, "alpha")
    assert found.session("alpha", "net.onnx")


def test_files_beside_a_network_are_verified_with_it(tmp_path: Path, shelf: Path) -> None:
    item = entry(files=[file(beside=["net.data"]), file("net.data", b"numbers")])
    put(shelf, "alpha")
    put(shelf, "alpha", "net.data", b"NUMBERS")
    with pytest.raises(ModelCorrupt, match=r"net\.data"):
        store(tmp_path, item).session("alpha", "net.onnx")


def test_files_beside_a_network_lie_in_its_folder(tmp_path: Path, shelf: Path) -> None:
    item = entry(files=[file(beside=["net.data"]), file("net.data", b"numbers")])
    put(tmp_path / "mounted", "alpha")
    put(shelf, "alpha", "net.data", b"numbers")
    with pytest.raises(ModelMissing, match="same folder"):
        store(tmp_path, item, mounted=tmp_path / "mounted").session("alpha", "net.onnx")


def test_a_breach_of_contract_is_found_when_the_file_is_opened(tmp_path: Path, shelf: Path) -> None:
    inputs = [{"name": "pixels", "dtype": "float32", "shape": ["batch", 3]}]
    put(shelf, "alpha")
    with pytest.raises(ModelCorrupt, match="input pixels is missing"):
        store(tmp_path, entry(files=[file(inputs=inputs)])).session("alpha", "net.onnx")


# -------------------------------------------------------------------------------------------------- resolution


def test_the_reference_answers_where_it_is_present(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    put(shelf, "beta")
    found = store(tmp_path, *BOTH).resolve("seeing")
    assert found.require().id == "beta"
    assert found.reasons == ()


def test_the_stand_in_answers_where_it_is_not_and_says_why(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    found = store(tmp_path, *BOTH).resolve("seeing")
    assert found.require().id == "alpha"
    assert ["model beta" in reason for reason in found.reasons] == [True]


def test_a_stand_in_is_no_reference(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    found = store(tmp_path, *BOTH).resolve("seeing", require_reference=True)
    assert found.entry is None
    with pytest.raises(ModelMissing, match="alpha stands in for Beta"):
        found.require()


def test_an_embedded_model_that_is_the_published_one_is_enough(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    assert store(tmp_path, entry()).resolve("seeing", require_reference=True).require().id == "alpha"


def test_nothing_present_gives_every_reason(tmp_path: Path) -> None:
    found = store(tmp_path, *BOTH).resolve("seeing")
    assert found.entry is None
    assert len(found.reasons) == 2


def test_a_wrong_reference_file_is_used_and_refused(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    put(shelf, "beta", content=b"wrong")
    found = store(tmp_path, *BOTH)
    assert found.resolve("seeing").require().id == "beta"
    with pytest.raises(ModelCorrupt):
        found.session("beta", "net.onnx")


def test_an_unknown_capability_is_a_mistake_of_ours(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        store(tmp_path, entry()).resolve("smelling")


# ------------------------------------------------------------------------------------------- identity and status


def test_what_records_say_of_a_model(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    expected = ModelRef("alpha", digest({"net.onnx": sha(CONTENT)}), Tier.EMBEDDED, "Beta")
    assert store(tmp_path, *BOTH).model_ref("alpha") == expected


def test_every_file_counts_for_the_identity(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    alone = store(tmp_path, entry()).model_ref("alpha")
    put(shelf, "alpha", "names.csv", b"a,b")
    joined = store(tmp_path, entry(files=[file(), file("names.csv", b"a,b")])).model_ref("alpha")
    assert alone.sha256 != joined.sha256


def test_what_is_required_is_what_is_embedded(tmp_path: Path, shelf: Path) -> None:
    found = store(tmp_path, *BOTH)
    with pytest.raises(ModelMissing) as told:
        found.require_embedded()
    assert "model alpha" in str(told.value)
    assert "model beta" not in str(told.value)
    put(shelf, "alpha")
    found.require_embedded()


def test_status_tells_all_states(tmp_path: Path, shelf: Path) -> None:
    put(shelf, "alpha")
    rows = store(tmp_path, *BOTH).status()
    assert [(row.entry.id, row.files[0].state, row.ready, row.resolved) for row in rows] == [
        ("beta", "missing", False, False),
        ("alpha", "present", True, True),
    ]
    put(shelf, "beta", content=b"wrong")
    rows = store(tmp_path, *BOTH).status(hashed=True)
    assert [(row.files[0].state, row.ready) for row in rows] == [("corrupt", False), ("locked", True)]


def test_a_fresh_status_does_not_believe_the_memory(tmp_path: Path, shelf: Path) -> None:
    path = put(shelf, "alpha")
    put(shelf, "alpha", content=b"altered")
    stat = path.stat()
    stamp = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    (tmp_path / "digests.json").write_bytes(orjson.dumps({str(path.resolve()): [stamp, sha(CONTENT)]}))
    assert store(tmp_path, entry()).status(hashed=True)[0].files[0].state == "locked"
    assert store(tmp_path, entry()).status(hashed=True, fresh=True)[0].files[0].state == "corrupt"


# ------------------------------------------------------------------------------------------------- of this checkout


def test_the_environment_chooses_the_folders(tmp_path: Path) -> None:
    settings = {"EVALUATOR_STORE": str(tmp_path / "s"), "EVALUATOR_CACHE": str(tmp_path / "c")}
    found = Store.open(environment=settings)
    assert (found.folder, found.mounted) == (tmp_path / "s", None)
    assert found.digests.file == tmp_path / "c" / "digests.json"
    assert Store.open(environment={**settings, "EVALUATOR_MODELS": str(tmp_path)}).mounted == tmp_path
    assert Store.open(tmp_path, {**settings, "EVALUATOR_MODELS": "/elsewhere"}).mounted == tmp_path
    assert Store.open(environment={"HOME": str(tmp_path)}).folder == ROOT / "models" / "store"


def test_a_mounted_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="does not exist"):
        Store.open(tmp_path / "none", {})


def test_the_lock_digest_follows_the_lock(tmp_path: Path) -> None:
    first, same, other = (store(tmp_path, entry(title=title)).lock_sha256 for title in ("A", "A", "B"))
    assert first == same != other
    assert isinstance(Store.open(environment={}).lock, Lock)
    assert LOCK_FILE.is_file()
