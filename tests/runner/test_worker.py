"""A worker makes the records that were planned, or says why it cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.commands import load
from evaluator.errors import PrerequisiteError
from evaluator.runner.equipment import CPU
from evaluator.runner.options import RunOptions
from evaluator.runner.run import Plan, make_plan, run
from evaluator.runner.worker import Asked, Told, Worker, agreed, facts, refuse_unless_equal
from evaluator.runner.writer import Key
from evaluator.runtime.store import Store
from evaluator.schema import Case, ModelRef, Reason, Tier
from tests.runner.clips import clip

METRICS = ("ssim", "loudness", "silence")
"""Of suite core, those that need no model."""


def options(out: Path, workers: int = 1, engine: str = "local") -> RunOptions:
    return RunOptions(out, workers, METRICS, quiet=True, engine=engine)


def manifest(folder: Path, names: tuple[str, ...]) -> Path:
    """Cases named `place/system`, each with a clip of its own; those of one place share its source."""
    lines = []
    for seed, name in enumerate(names):
        place = name.partition("/")[0]
        made, source = folder / f"{name.replace('/', '-')}.mp4", folder / f"{place}.mp4"
        clip(made, frames=10, seed=seed)
        if not source.exists():
            clip(source, frames=10, seed=100 + seed)
        lines.append(json.dumps({"id": name, "suite": "core", "video": made.name, "source": source.name}))
    path = folder / "manifest.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def planned(cases: list[Case], store: Store, out: Path) -> tuple[Plan, dict[Key, Asked]]:
    plan = make_plan(cases, store, options(out))
    return plan, {job.key: Asked(job.fingerprint, job.models, job.media) for job in plan.jobs}


def test_a_worker_sends_the_lines_that_a_run_writes_then_what_it_counted(tmp_path: Path) -> None:
    whole, store = load(manifest(tmp_path, ("street/a", "street/b")), None), Store.open()
    run(whole, store, options(tmp_path / "out"))
    _, asked = planned(list(whole.cases), store, tmp_path)
    worker = Worker(options(tmp_path), None, facts(store, CPU))
    *made, told = worker.score(whole.cases, asked)
    assert [case for case, _ in made] == ["street/a", "street/b"]
    assert b"".join(lines for _, lines in made) == (tmp_path / "out" / "scores.jsonl").read_bytes()
    assert isinstance(told, Told)
    assert told.counters["decode_passes"] == 3  # two clips and the source that they share


def test_only_what_is_asked_for_is_computed(tmp_path: Path) -> None:
    whole, store = load(manifest(tmp_path, ("street/a",)), None), Store.open()
    _, asked = planned(list(whole.cases), store, tmp_path)
    few = {key: one for key, one in asked.items() if key[1] == "silence"}
    (_, lines), _ = Worker(options(tmp_path), None, facts(store, CPU)).score(whole.cases, few)
    assert lines.count(b"\n") == 1
    assert b'"metric":"silence"' in lines


def test_a_machine_with_another_version_is_refused_by_its_name_and_both_versions() -> None:
    with pytest.raises(PrerequisiteError, match=r"numpy is 2\.0, where the run was started 2\.3"):
        refuse_unless_equal({"numpy": "2.0", "av": "18"}, {"numpy": "2.3", "av": "18"})
    with pytest.raises(PrerequisiteError, match="device is absent, where the run was started H200"):
        refuse_unless_equal({}, {"device": "H200"})


def test_the_facts_of_a_machine_know_its_code_its_lock_and_its_libraries() -> None:
    found = facts(Store.open(), CPU)
    assert len(found["the digest of its code"]) == len(found["the model lock"]) == 64
    assert {"evaluator", "numpy", "onnxruntime"} <= set(found)


def test_another_file_under_the_same_path_fails_its_case_alone(tmp_path: Path) -> None:
    whole = load(manifest(tmp_path, ("street/a", "harbour/a")), None)
    plan, asked = planned(list(whole.cases), Store.open(), tmp_path)
    theirs = {
        key: replace(one, media={**one.media, "video": "f" * 64}) if key[0] == "street/a" else one
        for key, one in asked.items()
    }
    work, foreign = agreed(plan.jobs, theirs)
    assert [item.case for item in work] == ["harbour/a"]
    [(case, reason)] = foreign
    assert case == "street/a"
    assert isinstance(reason, Reason)
    assert reason.code == "media_differs"
    assert "video" in reason.message


def test_another_model_ends_the_run_and_both_are_named(tmp_path: Path) -> None:
    whole = load(manifest(tmp_path, ("street/a",)), None)
    plan, asked = planned(list(whole.cases), Store.open(), tmp_path)
    mounted = ModelRef("raft", "a" * 64, Tier.REFERENCE)
    with pytest.raises(PrerequisiteError, match=r"come from .*, where the run was started from raft \(aaaaaaaaaaaa\)"):
        agreed(plan.jobs, {key: replace(one, fingerprint="0", models=(mounted,)) for key, one in asked.items()})
    with pytest.raises(PrerequisiteError, match="other options"):
        agreed(plan.jobs, {key: replace(one, fingerprint="0") for key, one in asked.items()})
