"""Which records of an earlier run still hold: those whose inputs cannot have changed, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.errors import OutputError
from evaluator.metrics.base import Metric
from evaluator.runner.options import RunOptions
from evaluator.runner.plan import Job
from evaluator.runner.run import finished
from evaluator.runner.writer import SCORES
from evaluator.schema import Reason, Score, Status, encode
from tests.runner.fakes import BRIGHT, COUNT, LOUD, World, case

CASES = [case(name, Path(f"/{name}.mp4")) for name in "ab"]
METRICS = (BRIGHT, COUNT, LOUD)  # two rest on a model, the last on sound alone


def jobs(
    world: World | None = None, metrics: Sequence[Metric] = METRICS, system: str = "sys", **media: str
) -> list[Job]:
    """Every metric of every case; `media` names another digest for a case's file."""
    planner = (world or World()).planner()
    cases = [replace(one, system=system) for one in CASES]
    return [planner.job(one, metric, {"video": media.get(one.id, one.id)}) for one in cases for metric in metrics]


def record(job: Job, **changes: object) -> Score:
    fields: dict[str, object] = {
        "case": job.case.id,
        "suite": job.case.suite,
        "system": job.case.system,
        "metric": job.metric.id,
        "value": 0.5,
        "status": Status.OK,
        "reason": None,
        "raw": None,
        "details": {},
        "models": job.models,
        "profile": "paper",
        "fingerprint": job.fingerprint,
    }
    return Score(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.fixture
def options(tmp_path: Path) -> RunOptions:
    """A folder in which all jobs are done."""
    (tmp_path / SCORES).write_bytes(b"".join(encode(record(job)) for job in jobs()))
    return RunOptions(out=tmp_path, workers=1)


def held(options: RunOptions, wanted: Sequence[Job]) -> set[str]:
    """case/metric of what need not be done again."""
    return {"/".join(key) for key in finished(options, wanted)}


def test_nothing_has_changed(options: RunOptions) -> None:
    assert held(options, jobs()) == {f"{one}/{metric}" for one in "ab" for metric in ("bright", "count", "loud")}


def test_another_model_in_the_lock_takes_with_it_what_rests_on_a_model(options: RunOptions) -> None:
    assert held(options, jobs(World(digest="1" * 64))) == {"a/loud", "b/loud"}


def test_another_version_of_a_metric_takes_its_own_records(options: RunOptions) -> None:
    changed = (replace(BRIGHT, version=2), COUNT, LOUD)
    assert held(options, jobs(metrics=changed)) == {"a/count", "a/loud", "b/count", "b/loud"}


def test_another_clip_takes_the_records_of_its_case(options: RunOptions) -> None:
    assert held(options, jobs(b="other")) == {"a/bright", "a/count", "a/loud"}


def test_another_name_of_the_system_takes_nothing_and_is_written(options: RunOptions) -> None:
    found = finished(options, jobs(system="renamed"))
    assert len(found) == 6
    assert {one.score.system for one in found.values()} == {"renamed"}
    assert all(b'"system":"renamed"' in one.line for one in found.values())


def test_a_failure_is_tried_again_and_a_skip_is_not(options: RunOptions) -> None:
    first, second, *others = jobs()
    failed = {"value": None, "status": Status.FAILED, "reason": Reason("incomplete", "cut off")}
    skipped = {"value": None, "status": Status.SKIPPED, "reason": Reason("not_applicable", "no sound")}
    lines = [record(first, **failed), record(second, **skipped), *map(record, others)]
    (options.out / SCORES).write_bytes(b"".join(map(encode, lines)))
    assert held(options, jobs()) == {"a/count", "a/loud", "b/bright", "b/count", "b/loud"}


def test_records_of_another_selection_are_not_dropped(options: RunOptions) -> None:
    with pytest.raises(OutputError, match=r"1 cases, first 'b'\).*--fresh"):
        finished(options, jobs()[:3])
    assert held(replace(options, fresh=True), jobs()[:3]) == set()
    assert not (options.out / SCORES).exists()


def test_a_line_from_somewhere_else_is_named(options: RunOptions) -> None:
    with (options.out / SCORES).open("ab") as file:
        file.write(b'{"schema":1,"case":"a","metric":"bright"}\n')
    with pytest.raises(OutputError, match=rf"{SCORES}:7: not a score record"):
        finished(options, jobs())
