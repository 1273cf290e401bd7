"""What the demo shows a newcomer: each damage moves the metrics that should notice it, and only those."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

Scores = Mapping[tuple[str, str], float | None]

PICTURE = ("shot_count", "subject_consistency", "motion_smoothness", "msm", "ssim", "lpips", "video_similarity")
SOUND = ("loudness", "silence", "speech_ratio", "speech_likelihood", "audio_similarity")
PICTURE_DAMAGES = ("blurred", "low_bitrate", "stuttering", "frozen")
SOUND_DAMAGES = ("sound_replaced", "sound_delayed", "sound_quiet")

LOWER = {  # damage -> metrics that must fall clearly below the untouched copy, and by how much
    "blurred": {"ssim": 0.05},
    "low_bitrate": {"ssim": 0.1},
    "stuttering": {"motion_smoothness": 0.001, "ssim": 0.02},
    "frozen": {"ssim": 0.5, "video_similarity": 0.05},
    "sound_replaced": {"audio_similarity": 0.3},
    "sound_delayed": {"audio_similarity": 0.02},
}
HIGHER = {
    "blurred": {"lpips": 0.1},
    "low_bitrate": {"lpips": 0.1},
    "frozen": {"lpips": 0.1},
    "sound_delayed": {"silence": 0.05},
    "sound_quiet": {"silence": 0.3},
}


@pytest.fixture(scope="module")
def scores(baseline: bytes) -> Scores:
    records = [json.loads(line) for line in baseline.splitlines()]
    return {(record["system"], record["metric"]): record["value"] for record in records}


def value(scores: Scores, system: str, metric: str) -> float:
    found = scores[system, metric]
    assert found is not None, (system, metric)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "metric", "by"), [(d, m, by) for d, all_ in LOWER.items() for m, by in all_.items()]
)
def test_a_damage_lowers_what_should_notice_it(scores: Scores, damage: str, metric: str, by: float) -> None:
    assert value(scores, damage, metric) < value(scores, "untouched", metric) - by


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "metric", "by"), [(d, m, by) for d, all_ in HIGHER.items() for m, by in all_.items()]
)
def test_a_damage_raises_what_should_notice_it(scores: Scores, damage: str, metric: str, by: float) -> None:
    assert value(scores, damage, metric) > value(scores, "untouched", metric) + by


@pytest.mark.slow
@pytest.mark.parametrize("damage", SOUND_DAMAGES)
def test_a_damage_of_the_sound_leaves_every_picture_metric(scores: Scores, damage: str) -> None:
    for metric in PICTURE:
        assert scores[damage, metric] == scores["untouched", metric], metric


@pytest.mark.slow
@pytest.mark.parametrize("damage", PICTURE_DAMAGES)
def test_a_damage_of_the_picture_leaves_every_sound_metric(scores: Scores, damage: str) -> None:
    for metric in SOUND:
        assert scores[damage, metric] == scores["untouched", metric], metric


@pytest.mark.slow
def test_twenty_decibels_are_twenty_decibels(scores: Scores) -> None:
    quieter = value(scores, "untouched", "loudness") - value(scores, "sound_quiet", "loudness")
    assert quieter == pytest.approx(20, abs=1.5)  # gating lets other blocks count


@pytest.mark.slow
def test_cuts_are_found_and_a_copy_is_equal_to_its_source(scores: Scores) -> None:
    assert value(scores, "bikes copied", "shot_count") == 6
    for system in ("untouched", "bikes copied"):
        assert value(scores, system, "ssim") == 1
        assert value(scores, system, "lpips") == 0
