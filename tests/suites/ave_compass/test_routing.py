"""Section 2 as a table, in every profile; labels that the reference misroutes are routed right, and wrong in compat."""

from __future__ import annotations

import pytest

from evaluator.schema import Case
from evaluator.suites.ave_compass import SUITE, examine
from evaluator.suites.ave_compass.branches import BRANCHES
from evaluator.suites.ave_compass.routing import HEADLINE, ROUTING
from tests.suites.ave_compass.cases import case

EXPECTED = {
    "joint": "av_sync video_aesthetic subject_consistency motion_smoothness audio_aesthetic",
    "speech": "lip_sync av_sync video_aesthetic subject_consistency motion_smoothness audio_aesthetic speech_quality",
    "video-only": "video_aesthetic subject_consistency motion_smoothness audio_similarity",
    "audio-only": "av_sync audio_aesthetic videoclip_video_similarity",
}


def objective(item: Case, profile: str) -> list[str]:
    """Ids of the objective metrics of a case, in order."""
    return [metric.id for metric in SUITE.metrics_of(item, profile) if metric.id in ROUTING]


@pytest.mark.parametrize("profile", SUITE.profiles)
@pytest.mark.parametrize("branch", BRANCHES)
def test_the_table(branch: str, profile: str) -> None:
    assert objective(case("one", branch), profile) == EXPECTED[branch].split()


def test_the_headline_is_what_the_paper_prints() -> None:
    assert HEADLINE == (
        "lip_sync",
        "av_sync",
        "video_aesthetic",
        "subject_consistency",
        "motion_smoothness",
        "audio_aesthetic",
        "speech_quality",
    )


MISROUTED = {"S2.1": "speech", "speech_edit": "speech", "video_only_edit": "video-only", "A1.3": "audio-only"}


@pytest.mark.parametrize(("label", "branch"), MISROUTED.items())
def test_labels_that_the_reference_takes_for_joint(label: str, branch: str) -> None:
    """Known pitfall 1: lip_sync and speech_quality are never run, the similarity metrics vanish."""
    item = case("one", branch, branch_label=label)
    assert objective(item, "paper") == objective(item, "strict") == EXPECTED[branch].split()
    assert objective(item, "compat") == EXPECTED["joint"].split()


def test_an_empty_label_is_joint_in_compat_and_no_label_is_a_manifest_by_hand() -> None:
    """Spec 1.7: the reference's normaliser of the objective side takes an empty value for joint."""
    published, by_hand = case("one", "speech", branch_label=""), case("one", "speech")
    assert objective(published, "paper") == objective(by_hand, "compat") == EXPECTED["speech"].split()
    assert objective(published, "compat") == EXPECTED["joint"].split()


@pytest.mark.parametrize("label", ["speech", "Speech_Editing", "video", "audio-only", "av"])
def test_labels_that_the_reference_knows_route_alike(label: str) -> None:
    branches = {"speech": "speech", "Speech_Editing": "speech", "video": "video-only", "audio-only": "audio-only"}
    item = case("one", branches.get(label, "joint"), branch_label=label)
    assert objective(item, "compat") == objective(item, "paper")


@pytest.mark.parametrize("category", ["speech_edit", "V1.1", "Joint", "music", ""])
def test_a_manifest_spells_branches_as_the_tables_do(category: str) -> None:
    (problem,) = examine(case("one", category))
    assert problem.field == "category"
    assert ('write "' in problem.remedy) is (category in {"speech_edit", "V1.1", "Joint"})


@pytest.mark.parametrize("branch", BRANCHES)
def test_a_case_without_a_checklist_is_no_problem(branch: str) -> None:
    assert not list(examine(case("one", branch)))


def test_every_metric_of_a_profile_keeps_its_id() -> None:
    for variants in SUITE.variants.values():
        assert all(metric.id == name for name, metric in variants.items())
    for metric in SUITE.metrics:
        assert metric.instead is None or metric.instead.id == metric.id
