"""All mounted models at once, by sessions that honour the contracts of the lock: every metric of the automated half
finds its way from two files to a number."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from evaluator.experts.sam2 import MASK_SIDE
from evaluator.manifest.loader import read
from evaluator.runner.options import RunOptions
from evaluator.runner.run import run
from evaluator.runtime.digests import DigestCache
from evaluator.runtime.lock import Lock, ModelFile, read_lock
from evaluator.runtime.session import Array, Session
from evaluator.runtime.store import LOCK_FILE, Store
from evaluator.schema import Score, Status
from evaluator.suites.covebench.data import TaskData
from tests.experts.fakes import FakeSession
from tests.experts.test_cotracker import drifting
from tests.experts.test_sam2 import start, step
from tests.runner.clips import clip

MOUNTED = ("aesthetic_v25", "cotracker", "dover_technical", "grounding_dino", "sam2", "dinov2_small")
ELEMENTS = {"float32": "tensor(float)", "int64": "tensor(int64)"}


def embedding(feeds: Mapping[str, Array]) -> Mapping[str, Any]:
    """Mean colours, in 384 dimensions."""
    matrix = np.random.default_rng(0).standard_normal((3, 384)).astype(np.float32)
    return {"embedding": feeds["pixels"].mean(axis=(2, 3)) @ matrix}


RESPONSES = {
    "aesthetic_v25.onnx": lambda feeds: {"score": 5 + feeds["pixels"].mean(axis=(1, 2, 3))},
    "cotracker.onnx": drifting,
    "dover_technical.onnx": lambda feeds: {"score": feeds["fragments"].mean(axis=(1, 2, 3, 4))},
    "grounding_dino.onnx": lambda feeds: {"score": [[0.9]], "boxes": np.array([[[0.25, 0.5, 0.5, 1.0]]], np.float32)},
    "sam2_start.onnx": start,
    "sam2_step.onnx": step,
    "dinov2_small.onnx": embedding,
}


def opener(lock: Lock) -> Any:
    """Sessions by file name, with inputs and outputs as the lock says."""
    files: dict[str, ModelFile] = {file.name: file for name in MOUNTED for file in lock[name].files}

    def open_file(path: Path) -> Session:
        contract = files[path.name]
        inputs = {item.name: (item.shape, ELEMENTS[item.dtype]) for item in contract.inputs}
        outputs = [item.name for item in contract.outputs]
        return FakeSession(RESPONSES[path.name], outputs, inputs)  # type: ignore[arg-type]

    return open_file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mounted")
    for seed, name in enumerate(("source", "edit")):
        clip(folder / f"{name}.mp4", seed=seed, frames=40, sound=False)
    lock = read_lock(LOCK_FILE)
    for name in MOUNTED:
        (folder / "models" / name).mkdir(parents=True)
        for file in lock[name].files:
            (folder / "models" / name / file.name).write_text(f"[CLS]\n[SEP]\n[UNK]\nstands in for {file.name}")
    case = {"suite": "covebench", "source": "source.mp4", "data": {"task": 9001, "entities": ["red car"]}}
    lines = [{"id": name, "video": f"{name}.mp4", **case} for name in ("edit", "source")]
    (folder / "m.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return folder


def scores(folder: Path, tmp_path: Path, profile: str) -> dict[tuple[str, str], Score]:
    lock = read_lock(LOCK_FILE)
    store = Store(lock, tmp_path, folder / "models", DigestCache(tmp_path / "digests.json"), opener(lock))
    options = RunOptions(tmp_path / "out", 2, ("aes", "aes_kf", "tq", "mf", "src"), profile=profile, quiet=True)
    found = run(read(folder / "m.jsonl", suites={"covebench": TaskData}), store, options).scores
    assert all(score.status is Status.OK for score in found), [score.reason for score in found]
    return {(score.case, score.metric): score for score in found}


@pytest.mark.parametrize("profile", ["paper", "compat", "strict"])
def test_every_metric_reaches_its_models(folder: Path, tmp_path: Path, profile: str) -> None:
    found = scores(folder, tmp_path, profile)
    used = {
        metric: [model.id for model in found["edit", metric].models] for metric in ("aes", "aes_kf", "tq", "mf", "src")
    }
    assert used == {
        "aes": ["aesthetic_v25"],
        "aes_kf": ["aesthetic_v25"],
        "tq": ["dover_technical"],
        "mf": ["cotracker"],
        "src": ["dinov2_small", "grounding_dino", "sam2"],
    }
    assert not any(model.stands_in_for for score in found.values() for model in score.models)
    assert found["source", "src"].value == pytest.approx(1.0)
    assert 0 < (found["edit", "src"].value or 0) < 1
    assert found["edit", "src"].details["used_frames"] == 3  # 1.6 s at two a second
    assert found["source", "mf"].value == pytest.approx(1.0, abs=1e-6)
    details = found["edit", "aes_kf"].details
    assert details["key_frames"]["index"] == [0]  # as the encoder of these clips has it
    assert details["sampled"]["mean"] == pytest.approx(found["edit", "aes"].value)
    assert found["edit", "tq"].details["starts"] == found["source", "tq"].details["starts"]


def test_masks_of_the_lock_are_those_of_the_fake() -> None:
    sizes = {item.shape for file in read_lock(LOCK_FILE)["sam2"].files for item in file.outputs if item.name == "masks"}
    assert sizes == {("objects", MASK_SIDE, MASK_SIDE)}
