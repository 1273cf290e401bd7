"""Every reference recipe, end to end at a tiny configuration: torch, ONNX in fp32 and fp16, ONNX Runtime, an engine.

Needs the environment of export-models.txt and judge-torch.txt (`.venv-judge`), and for engines that of device-test.txt
(`.venv-device`); skips without them. What needs a checkout is listed with the reason.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evaluator.runtime.lock import read_lock
from evaluator.runtime.store import LOCK_FILE, ROOT
from evaluator.schema import Tier
from tests.device import environment

PYTHON = Path(os.environ.get("EVALUATOR_JUDGE_VENV", ROOT / ".venv-judge")) / "bin" / "python"

CHECKOUTS = {
    "amt_g": "EVALUATOR_CHECKOUT_AMT",
    "cotracker": "EVALUATOR_CHECKOUT_COTRACKER",
    "dover_technical": "EVALUATOR_CHECKOUT_DOVER",
    "imagebind": "EVALUATOR_CHECKOUT_IMAGEBIND",
    "synchformer": "EVALUATOR_CHECKOUT_SYNCHFORMER",
}
UNTRIED = CHECKOUTS
"""Model -> what the report says instead of a comparison. Everything else has a tiny configuration."""

LOCK = read_lock(LOCK_FILE)
REFERENCES = [entry for entry in LOCK.models if entry.tier is Tier.REFERENCE]
TRIED = [entry for entry in REFERENCES if entry.id not in UNTRIED]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the files and the report of all reference recipes."""
    if not PYTHON.is_file() or _run("-c", "import onnx, onnxruntime, transformers").returncode:
        pytest.skip(f"{PYTHON}: not an environment with export-models.txt (./run.sh test)")
    folder = tmp_path_factory.mktemp("tiny")
    empty = folder / "empty"
    empty.mkdir()
    told = _run(
        *("-m", "export", "parity", *(entry.id for entry in REFERENCES)),
        *("--keep", str(folder / "kept"), "--out", str(folder / "parity.json"), "--models", str(empty)),
    )
    assert told.returncode == 0, told.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def rows(kept: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((kept / "parity.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module", params=["fp32", "fp16"])
def engines(kept: Path, request: pytest.FixtureRequest) -> dict[str, int | str]:
    """model/precision/file -> size of its engine, or why there is none; for one precision."""
    told = environment.run("tests.export.engines", str(kept / "kept"), request.param)
    found: dict[str, int | str] = json.loads(told)
    return found


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    command = [str(PYTHON), *arguments]
    one = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}  # threads would only wait for each other on tiny networks
    return subprocess.run(
        command, cwd=ROOT, env={**kept, **one}, capture_output=True, text=True, timeout=550, check=False
    )


@pytest.mark.parametrize("entry", TRIED, ids=lambda entry: entry.id)
@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_a_file_computes_what_torch_computes(rows: list[dict[str, Any]], entry: Any, precision: str) -> None:
    mine = [row for row in rows if row["model"] == entry.id and row.get("precision") == precision]
    expected = {(file.name, tensor.name) for file in entry.made for tensor in file.outputs}
    assert {(row["file"], row["output"]) for row in mine} == expected
    assert all(row["passed"] and row["weights"] == "tiny" for row in mine)


@pytest.mark.parametrize("model", sorted(UNTRIED))
def test_what_could_not_be_tried_is_listed_with_its_reason(rows: list[dict[str, Any]], model: str) -> None:
    (row,) = [row for row in rows if row["model"] == model]
    assert UNTRIED[model] in row["untried"]


@pytest.mark.parametrize("entry", TRIED, ids=lambda entry: entry.id)
def test_a_file_becomes_an_engine(engines: dict[str, int | str], entry: Any) -> None:
    mine = {name: size for name, size in engines.items() if name.startswith(f"{entry.id}/")}
    assert {name.split("/")[2] for name in mine} == {file.name for file in entry.made}
    for name, size in mine.items():
        assert isinstance(size, int), f"{name}: {size}"
        assert size > 1000


def test_a_half_file_is_about_half_as_large(kept: Path, rows: list[dict[str, Any]]) -> None:
    folder = kept / "kept" / "videoclip_xl"
    whole, half = ((folder / precision / "videoclip_xl.onnx").stat().st_size for precision in ("fp32", "fp16"))
    assert half < 0.75 * whole  # what is not weights stays


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    """Check of `recipes_inside.py` -> "ok" or its error."""
    if not PYTHON.is_file():
        pytest.skip(f"no environment ({PYTHON})")
    told = _run("-m", "tests.export.recipes_inside")
    found = dict(line.split("\t", 1) for line in told.stdout.splitlines() if "\t" in line)
    return {"stderr": told.stderr[-3000:], **found}


@pytest.mark.parametrize(
    "name",
    [
        "grounding_dino_is_what_transformers_computes",
        "audiobox_is_what_transformers_computes",
        "claps_front_end_is_that_of_its_extractor",
        "a_published_folder_is_read_whole_or_refused",
        "another_order_of_nodes_is_put_right",
        "a_checkout_gives_its_modules_and_says_what_is_missing",
        "published_names_lead_to_the_layers_of_syncnet",
        "synchformers_parts_are_found_by_the_names_of_its_configuration",
        "a_tracker_looks_up_in_space_what_it_looked_up_in_space_and_time",
        "kaldis_front_end_is_its_five_steps",
        "s3fd_has_its_published_names_and_the_anchors_of_the_runtime",
        "s3fd_takes_the_largest_background_and_reads_tensors_only",
        "sam2_tracks_as_transformers_does",
        "a_pushed_out_frame_is_the_oldest_but_never_the_first",
        "raft_is_the_networks_own_last_refinement",
        "htdemucs_in_two_branches_is_its_authors_network",
        "the_published_file_of_htdemucs_names_its_own_settings",
    ],
)
def test_inside(outcomes: dict[str, str], name: str) -> None:
    assert outcomes.get(name) == "ok", outcomes["stderr"]
