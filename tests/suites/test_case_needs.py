"""What two suites say of the capabilities that only cases ask for, against their worked examples."""

from __future__ import annotations

import pytest

from evaluator.doctor.models import findings
from evaluator.manifest import load
from evaluator.runtime.session import SessionSource
from evaluator.runtime.store import Store
from evaluator.schema import ExpertNeed
from evaluator.suites import suites
from tests.conftest import ROOT

OF_ONE_PROFILE = {"voices_apart", "speaker_embedding"}
"""Only profile `diarised` asks for these, and nothing but a stand-in serves them."""


@pytest.mark.parametrize("name", ["avenue", "multiref_compass"])
def test_every_capability_that_a_case_asks_for_is_named(name: str) -> None:
    if not (ROOT / "manifests" / "demo" / "untouched.mp4").is_file():
        pytest.skip("demo clips are not made (./run.sh setup)")
    suite = suites()[name]
    cases = load(ROOT / "manifests" / f"{name}.example.jsonl", suites={one.id: one.data for one in suites().values()})
    asked = {
        (need.capability, metric.id)
        for profile in suite.profiles
        for case in cases
        for metric in suite.metrics_of(case, profile)
        for need in (metric.needs_of(case) if metric.needs_of else {}).values()
        if isinstance(need, ExpertNeed) and need.capability not in OF_ONE_PROFILE
    }
    assert asked == {(capability, metric) for capability, metrics in suite.case_needs.items() for metric in metrics}


def test_the_doctor_names_what_text_and_sound_lack(models: SessionSource) -> None:
    assert isinstance(models, Store)
    told = {(one.section, one.name): one.found for one in findings(models, ["avenue", "multiref_compass"])}
    assert told["suite avenue", "clap"] == "clap_stand_in stands in"
    assert told["suite avenue", "clap_text"] == (
        "skipped: curation_audio_language; measured in another way: text_audio"
    )
    assert told["suite avenue", "imagebind"].startswith("skipped: audio_video")
    assert told["suite multiref_compass", "ecapa"] == "ecapa_stand_in stands in"
    assert told["suite multiref_compass", "dover_technical"] == "skipped: vtq"
