"""metrics.prom: read back by a reader of its own, compared with what the run wrote elsewhere."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.runner import engine, prom
from evaluator.runner.header import RunHeader, RunStatus
from evaluator.schema import ModelRef, Reason, Score, Status, Tier
from tests.runner.clips import clip
from tests.test_cli import Cli, cli, write  # noqa: F401  (fixture)

SAMPLE = re.compile(r"(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
LABEL = re.compile(r'([a-z_0-9]+)="((?:[^"\\\n]|\\.)*)"')
PLAIN = {"\\\\": "\\", "\\n": "\n", '\\"': '"'}

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parsed(text: str) -> Samples:
    """Samples by name and labels, as the format's description reads; every family announced, no sample twice."""
    found: Samples = {}
    announced = set()
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith("# TYPE "):
            assert line.split()[3] == "gauge"
            announced.add(line.split()[2])
        if line.startswith("#"):
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        assert match["name"] in announced
        labels = LABEL.findall(match["labels"] or "")
        assert ",".join(f'{name}="{value}"' for name, value in labels) == (match["labels"] or "")
        plain = frozenset((name, re.sub(r"\\.", lambda part: PLAIN[part[0]], value)) for name, value in labels)
        assert (match["name"], plain) not in found
        found[match["name"], plain] = float(match["value"])
    return found


def of(samples: Samples, name: str, **labels: str) -> list[float]:
    """Values of a family whose labels include those given."""
    return [value for (family, own), value in samples.items() if family == name and own >= set(labels.items())]


def header(status: RunStatus = RunStatus.SUCCESS, ended: str | None = "2026-11-30T02:00:10+00:00") -> RunHeader:
    return RunHeader(
        status=status, arguments=(), options={}, manifest={"path": "m", "sha256": "ab", "cases": 2}, lock_sha256="cd",
        shard="1/1", suites=("core",), profile="paper", metrics=(), models=(), unavailable={}, decoder="pyav",
        backends={}, device="cpu", driver=None, judge=None, seeds={}, started="2026-11-30T02:00:00+00:00", ended=ended,
        telemetry={"cpu_seconds": {"decode": 1.5}, "counters": {"decode_passes": 3}},
    )  # fmt: skip


def score(case: str, value: float | None, system: str = "a", models: tuple[ModelRef, ...] = ()) -> Score:
    status = Status.SKIPPED if value is None else Status.OK
    reason = Reason("not_applicable", "no sound") if value is None else None
    return Score(case, "core", system, "ssim", value, status, reason, value, {}, models, "paper", "f")


def test_counts_and_means() -> None:
    found = parsed(prom.render(header(), [score("1", 0.25), score("2", 0.75), score("3", None), score("1", 1.0, "b")]))
    assert of(found, "evaluator_scores", system="a", metric="ssim", status="ok") == [2.0]
    assert of(found, "evaluator_scores", system="a", status="skipped") == [1.0]
    assert of(found, "evaluator_score_mean", suite="core", system="a", metric="ssim") == [0.5]
    assert of(found, "evaluator_score_mean", system="b") == [1.0]
    assert of(found, "evaluator_cases") == [3.0]


def test_stand_ins_and_published_models_never_share_a_mean() -> None:
    real = ModelRef("lpips", "1" * 64, Tier.REFERENCE)
    other = ModelRef("stlpips", "2" * 64, Tier.EMBEDDED, "LPIPS")
    found = parsed(prom.render(header(), [score("1", 0.0, models=(real,)), score("2", 1.0, models=(other,))]))
    assert of(found, "evaluator_score_mean", stand_in="false") == [0.0]
    assert of(found, "evaluator_score_mean", stand_in="true") == [1.0]


def test_times_are_unix_seconds_and_stages_are_named() -> None:
    found = parsed(prom.render(header(), []))
    assert of(found, "evaluator_run_start_timestamp_seconds") == [1796004000.0]
    assert of(found, "evaluator_run_end_timestamp_seconds") == [1796004010.0]
    assert of(found, "evaluator_cpu_seconds", stage="decode") == [1.5]
    assert of(found, "evaluator_events", event="decode_passes") == [3.0]
    assert of(found, "evaluator_run_info", manifest_sha256="ab", lock_sha256="cd", device="cpu") == [1.0]


@pytest.mark.parametrize("status", list(RunStatus))
def test_exactly_one_status_is_set(status: RunStatus) -> None:
    found = parsed(prom.render(header(status), []))
    assert of(found, "evaluator_run_status", status=str(status)) == [1.0]
    assert sorted(of(found, "evaluator_run_status")) == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_a_run_without_an_end_has_no_time_of_it() -> None:
    assert of(parsed(prom.render(header(ended=None), [])), "evaluator_run_end_timestamp_seconds") == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_any_name_of_a_system_comes_back(name: str) -> None:
    found = parsed(prom.render(header(), [score("1", 0.5, name)]))
    assert of(found, "evaluator_score_mean", system=name) == [0.5]


def test_the_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    prom.write(tmp_path, header(), [score("1", 0.5)])
    prom.write(tmp_path, replace(header(), profile="strict"), [])
    assert [path.name for path in tmp_path.iterdir()] == [prom.PROM]
    assert of(parsed((tmp_path / prom.PROM).read_text()), "evaluator_run_info", profile="strict") == [1.0]


def test_a_run_writes_what_its_summary_says(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
) -> None:
    for seed, name in enumerate(("one", "two")):
        clip(tmp_path / f"{name}.mp4", seed=seed, frames=12)
    write(
        tmp_path / "m.jsonl", [{"id": n, "suite": "core", "video": f"{n}.mp4", "system": "s"} for n in ("one", "two")]
    )
    assert cli("--manifest", tmp_path / "m.jsonl", "--out", tmp_path / "out", "--metrics", "loudness,msm").code == 0
    found = parsed((tmp_path / "out" / prom.PROM).read_text())
    rows = json.loads((tmp_path / "out" / "summary.json").read_text())["rows"]
    assert len(rows) == 2
    for row in rows:
        assert of(found, "evaluator_score_mean", metric=row["metric"]) == [pytest.approx(row["mean"], rel=1e-6)]
    assert of(found, "evaluator_run_status", status="success") == [1.0]
    assert of(found, "evaluator_events", event="decode_passes") == [2.0]


def test_an_interrupted_run_says_so(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clip(tmp_path / "one.mp4", frames=12)
    write(tmp_path / "m.jsonl", [{"id": "one", "suite": "core", "video": "one.mp4"}])

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine.Engine, "run", interrupted)
    told = cli("--manifest", tmp_path / "m.jsonl", "--out", tmp_path / "out", "--metrics", "loudness")
    assert told.code == 130
    found = parsed((tmp_path / "out" / prom.PROM).read_text())
    assert of(found, "evaluator_run_status", status="cancelled") == [1.0]
