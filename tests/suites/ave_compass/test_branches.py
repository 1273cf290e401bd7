"""Branch names: every spelling of both halves of the reference, operation codes, and the reference's own mistakes."""

from __future__ import annotations

import pytest

from evaluator.suites.ave_compass.branches import (
    BRANCHES,
    branch_of,
    compat_judge_branch,
    compat_objective_branch,
)
from evaluator.suites.ave_compass.taxonomy import (
    DURATION_BINS,
    OPERATIONS,
    PUBLISHED,
    STRATA,
    duration_bin,
    labels_of,
    unlike_published,
)

SPELLINGS = {
    "joint": ("joint", "av", "audio-video", "Audio_Video", "audio_video_joint_edit", "J7.1", "J2"),
    "speech": ("speech", "speech-editing", "speech_edit", " Speech Edit ", "S2.1", "s1.3 sentence insertion"),
    "video-only": ("video", "video_only", "video only", "video_only_edit", "V1", "V1.1", "v3.2"),
    "audio-only": ("audio", "audio-only", "AUDIO_ONLY_EDIT", "audio only", "A1", "A1.3", "A2.1 loudness"),
}


@pytest.mark.parametrize(("branch", "text"), [(branch, text) for branch, texts in SPELLINGS.items() for text in texts])
def test_every_spelling(branch: str, text: str) -> None:
    assert branch_of(text) == branch


@pytest.mark.parametrize("text", ["", "music", "edit", "X1.1", "speechless", "jazz", "videos"])
def test_what_names_no_branch(text: str) -> None:
    assert branch_of(text) is None


@pytest.mark.parametrize(
    "text", ["video_only_edit", "audio_only_edit", "speech_edit", "V1", "A1.3", "S2.1", "video only"]
)
def test_the_reference_takes_these_for_joint(text: str) -> None:
    """Spec 1.7, measured; ours tells each of them apart."""
    assert compat_objective_branch(text) == "joint"
    assert branch_of(text) != "joint"


def test_what_the_reference_knows_is_as_ours() -> None:
    known = ("audio", "video", "av", "audio_video", "speech_editing", "Video_Only", *BRANCHES)
    assert all(compat_objective_branch(text) == branch_of(text) for text in known)
    assert compat_objective_branch("") == "joint"


@pytest.mark.parametrize(
    ("category", "edit_type", "prompt", "branch"),
    [
        ("video_only_edit", "", "", "video-only"),
        ("audio-only", "", "", "audio-only"),
        ("speech edit", "", "", "speech"),
        ("S2.1", "speech", "She says hello.", "joint"),
        ("", "speech_edit", "", "speech"),
        ("", "rewrite", "Let her voice be deeper.", "speech"),
        ("", "rewrite", "Let it rain.", "joint"),
        ("", "joint weather edit", "The narrator says so.", "joint"),
    ],
)
def test_the_references_second_normaliser(category: str, edit_type: str, prompt: str, branch: str) -> None:
    assert compat_judge_branch(category, edit_type, prompt) == branch


def test_operations_by_branch() -> None:
    """Spec 1.8: 4 audio-only, 13 joint, 4 speech, 7 video-only."""
    counts = [sum(branch_of(code) == branch for code in OPERATIONS) for branch in BRANCHES]
    assert dict(zip(BRANCHES, counts, strict=True)) == {"joint": 13, "speech": 4, "video-only": 7, "audio-only": 4}


def test_published_totals_are_totals() -> None:
    assert {sum(counts.values()) for counts in PUBLISHED.values()} == {196}
    assert all(set(counts) == set(STRATA[axis]) for axis, counts in PUBLISHED.items())


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, 0), (3.999, 0), (4, 1), (5, 2), (5.99, 2), (6, 3), (8, 4), (9, 5), (10, 5), (10.04, 5), (10.2, None)],
)
def test_duration_bins(seconds: float, expected: int | None) -> None:
    assert duration_bin(seconds) == (None if expected is None else DURATION_BINS[expected])


@pytest.mark.parametrize(
    "tree",
    [
        {"object_localization": "Hard", "audio_complexity": "simple", "linkage": "Other", "audio_edit_type": "timbre"},
        {"difficulty": {"localisation": "hard", "source_complexity": "SIMPLE", "cross_modal_linkage": "others"},
         "labels": {"audio_aspect": "timbre"}},
        {"instruction": {"difficulty": {"localization": "hard", "complexity": " simple ", "linkage": "others"},
                         "audio_edit_aspect": "Timbre"}},
    ],
)  # fmt: skip
def test_labels_under_any_key(tree: dict[str, object]) -> None:
    assert labels_of(tree) == {"localisation": "hard", "complexity": "simple", "linkage": "others", "aspect": "timbre"}


def test_a_label_outside_its_axis_is_kept_as_it_is() -> None:
    assert labels_of({"localisation": "Very Hard", "complexity": 3, "linkage": ""}) == {"localisation": "Very Hard"}


def test_totals_that_differ_from_the_publication_are_told() -> None:
    cases = [{"localisation": "easy"}] * 34 + [{"localisation": "hard"}] * 161 + [{"localisation": "easy"}]
    (found,) = unlike_published(cases)
    assert found == ("localisation", "easy 34, hard 162", "easy 35, hard 161")
    assert not list(unlike_published([{"localisation": "easy"}] * 34 + [{"localisation": "hard"}] * 162))
