"""Gated averages: which stream of which case is left out, and what is never gated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluator.schema import Case, ModelRef, Score, Tier
from evaluator.suites.ave_compass.cells import Records
from evaluator.suites.ave_compass.gating import Response, fidelity, gated, realism, response
from tests.suites.ave_compass.judging import case, score


def said(modality: str, yes: bool | None) -> dict[str, Any]:
    return {"id": "Q", "modality": modality, "yes": yes}


@pytest.mark.parametrize(
    ("responded", "undefined", "expected"),
    [
        (Response(True, True), "keep", 3 / 5),
        (Response(False, True), "keep", 2 / 3),
        (Response(True, False), "keep", 1 / 3),
        (Response(False, False), "keep", None),
        (Response(None, None), "keep", 3 / 5),
        (Response(False, None), "keep", 2 / 3),
        (Response(None, True), "drop", 2 / 3),
    ],
)
def test_items_of_a_stream_that_did_not_respond_do_not_count(
    responded: Response, undefined: Any, expected: float | None
) -> None:
    """General items stay unless both streams were asked about and neither responded."""
    told = [
        said("video", True),
        said("video", False),
        said("audio", True),
        said("audio", True),
        said("general", False),
        said("video", None),
    ]
    assert fidelity(told, responded, undefined) == (pytest.approx(expected) if expected is not None else None)


def test_realism_keeps_the_streams_that_responded() -> None:
    streams = {"video": 0.25, "audio": 0.75}
    assert realism(streams, Response(True, True)) == 0.5
    assert realism(streams, Response(False, True)) == 0.75
    assert realism(streams, Response(False, False)) is None
    assert realism({"video": 0.25, "audio": None}, Response(None, False)) == 0.25


def records() -> tuple[list[Case], list[Score]]:
    """One case whose picture did not respond, one that responded in full."""
    untouched, touched = case(None, "a"), case(None, "b")
    scores = []
    for one, responded, value in ((untouched, 0.0, 1.0), (touched, 1.0, 0.5)):
        items = [said("video", value == 1.0), said("audio", True)]
        scores += [
            score(one, "edit_response_video", responded),
            score(one, "edit_response_audio", 1.0),
            score(one, "fidelity_preserving", (value + 1) / 2, {"items": items}),
            score(one, "fidelity_preserving_video", value),
            score(one, "fidelity_preserving_audio", 1.0),
            score(one, "realism", 0.5),
            score(one, "realism_video", value),
            score(one, "realism_audio", 0.5),
            score(one, "instruction_following_video", value),
            score(one, "av_sync", 0.5),
        ]
    return [untouched, touched], scores


def test_averages_with_and_without_untouched_streams() -> None:
    cases, scores = records()
    found = {one.quantity: one for one in gated(Records(cases, scores), cases)}
    video = found["fidelity_preserving_video"]
    assert (video.ungated, video.gated, video.difference, video.n, video.dropped) == (75.0, 50.0, -25.0, 2, 1)
    assert found["fidelity_preserving_audio"].dropped == 0
    assert found["fidelity_preserving"].gated == pytest.approx(100 * (1.0 + 0.5) / 2)
    assert found["realism_video"].gated == 50.0
    assert found["realism"].gated == pytest.approx(100 * (0.5 + 0.5) / 2)
    assert found["av_sync"].dropped == 0
    assert not any(name.startswith(("instruction", "editing")) for name in found)


def test_objective_diagnostics_drop_by_their_streams() -> None:
    one = case(None, "a")
    scores = [
        score(one, "edit_response_video", 0.0),
        score(one, "edit_response_audio", 0.0),
        score(one, "av_sync", 0.5),
        score(one, "audio_aesthetic", 0.5),
    ]
    found = {each.quantity: each for each in gated(Records([one], scores), [one])}
    assert found["av_sync"].gated is None
    assert found["audio_aesthetic"].dropped == 1
    assert response(Records([one], scores), one) == Response(False, False)


def test_a_stand_in_behind_an_objective_score_is_named_and_meets_no_published_model() -> None:
    """Speech quality rests on two models; the one that stands in is not the last."""
    distillmos = ModelRef("distillmos", "0" * 64, Tier.EMBEDDED, "NISQA v2.0")
    nisqa, vad = ModelRef("nisqa", "1" * 64, Tier.REFERENCE), ModelRef("silero_vad", "2" * 64, Tier.EMBEDDED)
    cases = [case(None, name) for name in "abc"]
    scores = [
        replace(score(one, "speech_quality", value), models=(first, vad))
        for one, value, first in zip(cases, (0.2, 0.4, 0.9), (distillmos, distillmos, nisqa), strict=True)
    ]
    found = {one.basis.judge: one.ungated for one in gated(Records(cases, scores), cases)}
    assert found == {"distillmos for NISQA v2.0": pytest.approx(30.0), "published models": pytest.approx(90.0)}
