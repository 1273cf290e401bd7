"""What a manifest line may say under `data`, and the worked example."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evaluator.errors import ManifestError
from evaluator.manifest.loader import load
from evaluator.suites.ave_compass import SUITE
from evaluator.suites.ave_compass.branches import BRANCHES
from evaluator.suites.ave_compass.data import AveData
from evaluator.suites.ave_compass.taxonomy import OPERATIONS, STRATA
from tests.conftest import ROOT
from tests.suites.ave_compass.manifests import write_manifest

EXAMPLE = ROOT / "manifests" / "ave_compass.example.jsonl"


def test_nothing_is_required() -> None:
    assert AveData.model_validate({}).layout is None


@pytest.mark.parametrize(
    "data",
    [
        {"operation": "speaker change"},
        {"operation": "s2.1"},
        {"vram_bytes": 0},
        {"vram_bytes": "24"},
        {"instruction_id": 1.5},
        {"layout": {"instructions": 3, "missing_output": {"karaoke": 1}}},
        {"layout": {"instructions": 3, "lost": 1}},
        {"branch": "joint"},
    ],
)
def test_what_it_does_not_know_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AveData.model_validate(data)


def test_a_branch_in_other_words_is_a_problem_of_its_line(tmp_path: Path) -> None:
    for name in ("edited.mp4", "source.mp4"):
        (tmp_path / name).write_bytes(b"")
    path = write_manifest(tmp_path, [{"id": "good", "category": "speech"}, {"id": "bad", "category": "speech_edit"}])
    with pytest.raises(ManifestError) as refusal:
        load(path, suites={SUITE.id: SUITE.data}, examine={SUITE.id: SUITE.examine})
    (problem,) = refusal.value.problems
    assert problem.startswith(f"{path}:2: category: expected one of joint, ")
    assert problem.endswith('write "speech"')


def test_the_worked_example_has_a_case_of_every_branch() -> None:
    if not (ROOT / "manifests" / "demo" / "bigbuckbunny.mp4").is_file():
        pytest.skip("demo clips are not made (./run.sh setup)")
    cases = load(EXAMPLE, ROOT / "manifests", suites={SUITE.id: SUITE.data}, examine={SUITE.id: SUITE.examine})
    assert [case.category for case in cases] == list(BRANCHES)
    for case in cases:
        assert case.data["operation"] in OPERATIONS
        assert case.checklist["edit_prompt"] == case.prompt
        assert all(case.labels[axis] in strata for axis, strata in STRATA.items())
