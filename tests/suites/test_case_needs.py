"""What suites say of the capabilities that only some cases or profiles ask for, against their worked examples."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluator.doctor.finding import Level
from evaluator.doctor.models import findings
from evaluator.doctor.wanted import of_cases, of_suite
from evaluator.errors import UsageError
from evaluator.manifest import load
from evaluator.runtime.session import SessionSource
from evaluator.runtime.store import Store
from evaluator.schema import Case
from evaluator.suites import suites
from tests.conftest import ROOT

OF_ONE_PROFILE = {"voices_apart", "speaker_embedding"}
"""Only profile `diarised` of MultiRef-Compass asks for these, and nothing but a stand-in serves them."""


def example(name: str) -> list[Case]:
    """The cases of a suite's worked example."""
    if not (ROOT / "manifests" / "demo" / "untouched.mp4").is_file():
        pytest.skip("demo clips are not made (./run.sh setup)")
    return load(ROOT / "manifests" / f"{name}.example.jsonl", suites={one.id: one.data for one in suites().values()})


@pytest.mark.parametrize("name", ["ave_compass", "avenue", "covebench", "multiref_compass"])
def test_every_capability_that_a_case_asks_for_is_named_and_no_other(name: str) -> None:
    suite, cases = suites()[name], example(name)
    asked = {
        (capability, metric)
        for profile in suite.profiles
        for capability, metrics in of_cases(cases, profile)[name].items()
        for metric in metrics
        if capability not in OF_ONE_PROFILE
    }
    told = {(capability, metric) for capability, metrics in of_suite(suite).items() for metric in metrics}
    assert asked <= told
    assert {(capability, metric) for capability, metrics in suite.case_needs.items() for metric in metrics} <= asked


def test_a_manifest_asks_for_what_its_cases_need_in_its_profile() -> None:
    (sound_only,) = [case for case in example("avenue") if case.id == "rabbit/tone/swap"]
    asked = of_cases([sound_only], "paper")["avenue"]
    assert asked["clap_text_audio"] == ("text_audio",)
    assert "clip_text_image" not in asked  # nothing was asked of the picture
    assert "object_detections" not in asked
    assert "object_detections" in of_cases([sound_only], "curation")["avenue"]
    lips = [of_cases(example("ave_compass"), profile)["ave_compass"] for profile in ("paper", "strict")]
    assert [one.get("face_lip_embedding") for one in lips] == [None, ("lip_sync",)]
    with pytest.raises(UsageError, match="suite avenue has paper, compat, curation"):
        of_cases([sound_only], "strict")


def test_an_excluded_task_asks_for_nothing() -> None:
    case = example("covebench")[0]
    assert "point_tracks" in of_cases([case], "paper")["covebench"]
    left_out = replace(case, data={**case.data, "excluded": ["mf"]})
    assert "point_tracks" not in of_cases([left_out], "paper")["covebench"]


def test_the_doctor_names_what_suites_lack(models: SessionSource) -> None:
    assert isinstance(models, Store)
    named = ["ave_compass", "avenue", "covebench", "multiref_compass"]
    told = {(one.section, one.name): one.found for one in findings(models, named)}
    assert told["suite avenue", "clap"] == "clap_stand_in stands in"
    assert told["suite avenue", "clap_text"] == (
        "skipped: curation_audio_language; measured in another way: text_audio"
    )
    assert told["suite avenue", "imagebind"] == (
        "skipped: curation_av_correspondence; measured in another way: audio_video"
    )
    assert told["suite multiref_compass", "ecapa"] == "ecapa_stand_in stands in"
    assert told["suite multiref_compass", "dover_technical"] == "skipped: vtq"
    assert told["suite covebench", "dover_technical"] == "skipped: tq"
    assert told["suite covebench", "cotracker"] == "lk_tracks stands in"


def test_only_what_a_manifest_asks_for_can_be_missing(models: SessionSource) -> None:
    assert isinstance(models, Store)

    def missing(cases: list[Case]) -> set[str]:
        asked = of_cases(cases, "paper")
        found = findings(models, asked, require_reference=True, asked=asked)
        return {one.name for one in found if one.level is Level.MISSING}

    cases = example("avenue")
    assert "clip_text" in missing(cases)
    assert "clip_text" not in missing([case for case in cases if case.id == "rabbit/tone/swap"])


def test_what_is_put_together_from_published_models_is_asked_of_its_parts(models: SessionSource) -> None:
    """Lip sync on followed faces needs SyncNet's eye, and S3FD for the faces."""
    assert isinstance(models, Store)
    asked = of_cases(example("multiref_compass"), "paper")
    told = {one.name: one for one in findings(models, asked, asked=asked)}
    assert told["syncnet_lip"].found == "measured in another way: sls, sls_unscreened"
    assert told["s3fd"].found == "face_clips_stand_in stands in"
    strict = {one.name: one for one in findings(models, asked, require_reference=True, asked=asked)}
    assert "entity_cues" not in told
    assert (strict["entity_cues"].level, strict["s3fd"].level) == (Level.MISSING, Level.MISSING)
