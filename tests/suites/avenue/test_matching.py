"""Output matching: one duration for all outputs of an instance, whatever their rate, order or number of shards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.media.sampling import select
from evaluator.media.types import AudioInfo, ClipInfo
from evaluator.schema import Case
from evaluator.suites.avenue.data import of
from evaluator.suites.avenue.matching import cut, frames_need, moments, prepare
from tests.experts.pictures import clip_of
from tests.suites.avenue.cases import case, tone


def info(frames: int, sound: float | None = None) -> ClipInfo:
    """Pictures at 25 fps, and sound of so many seconds."""
    audio = AudioInfo("aac", 16_000, 1, 0.0, sound) if sound else None
    return replace(clip_of(frames), audio=audio)


FILES = {
    "/s.mp4": info(100, 4.0),
    "/long.mp4": info(90, 3.6),
    "/short.mp4": info(100, 2.5),
    "/mute.mp4": info(80),
    "/rival.mp4": info(50),
    "/broken.mp4": None,
}


def outputs(*names: str) -> list[Case]:
    found = [case("A", name=f"x/{name}", system=name) for name in names]
    return [
        replace(one, video=Path(f"/{one.system}.mp4"), data={k: v for k, v in one.data.items() if k != "matched"})
        for one in found
    ]


def facts(path: Path) -> ClipInfo | None:
    return FILES[str(path)]


def seconds(cases: list[Case], whole: list[Case] | None = None) -> list[float]:
    return [of(one).matched.seconds for one in prepare(cases, whole or cases, facts)]  # type: ignore[union-attr]


def test_the_shortest_stream_of_any_output_counts() -> None:
    assert seconds(outputs("long", "mute")) == [3.2, 3.2]
    assert seconds(outputs("long", "short", "mute")) == [2.5] * 3
    assert seconds(outputs("mute")) == [3.2]


def test_two_outputs_of_one_system_under_two_conditions_both_count() -> None:
    short, long = outputs("short", "long")
    whole = [replace(short, system="x"), replace(long, system="x", data={**long.data, "condition": "source_video"})]
    assert seconds(whole) == [2.5, 2.5]
    assert of(prepare(whole, whole, facts)[0]).matched.systems == ["x"]  # type: ignore[union-attr]


def test_an_output_that_cannot_be_read_does_not_shorten_the_others() -> None:
    cases = prepare(outputs("long", "broken"), outputs("long", "broken"), facts)
    common = of(cases[0]).matched
    assert common is not None
    assert (common.seconds, common.systems) == (3.6, ["long"])


def test_a_run_of_some_cases_sees_all_outputs_of_the_manifest() -> None:
    whole = outputs("long", "short", "mute")
    assert seconds(whole[:1], whole) == [2.5]


def test_the_order_of_systems_changes_nothing() -> None:
    whole = outputs("long", "short", "mute")
    shuffled = [whole[at] for at in (2, 0, 1)]
    first = {one.id: one.data for one in prepare(whole, whole, facts)}
    assert {one.id: one.data for one in prepare(shuffled, shuffled, facts)} == first


def test_a_rival_sets_the_duration_too_and_a_pinned_one_stays() -> None:
    pair = replace(outputs("long")[0], references=case(rival="rival").references)
    pair = replace(pair, references=(replace(pair.references[0], path=Path("/rival.mp4")),))
    assert seconds([pair]) == [2.0]
    pinned = case("A")
    assert prepare([pinned], [pinned], facts) == [pinned]


def test_frames_are_floor_of_seconds_times_rate_and_the_same_moments_everywhere() -> None:
    """2.5 s at 25 fps: frames 0 to 61, for floor(62.5) = 62 frames; a clip at 4 fps shows the nearest of its ten."""
    one = prepare(outputs("short"), outputs("short"), facts)[0]
    common = of(one).matched
    assert common is not None
    assert (common.frames, common.span) == (62, 2.44)
    found = select(moments(one, 16), np.arange(100) / 25)
    assert found.tolist() == np.rint(np.linspace(0, 61, 16)).astype(int).tolist()
    slow = select(moments(one, 16), np.arange(12) / 4)
    cut = np.arange(10) / 4  # the frame at 2.5 s is the first that is cut off
    assert slow.tolist() == [int(np.abs(cut - at).argmin()) for at in np.linspace(0, 2.44, 16)]
    assert frames_need(one, "video").view.sampling == moments(one, 8)


def test_fewer_frames_than_asked_are_all_taken_once() -> None:
    one = case("A", matched={"seconds": 0.2, "frames": 5, "span": 0.16, "systems": []})
    assert select(moments(one, 16), np.arange(50) / 25).tolist() == [0, 1, 2, 3, 4]


def test_sound_is_cut_at_a_sample() -> None:
    one = case("A", matched={"seconds": 0.70001, "frames": 17, "span": 0.64, "systems": []})
    assert len(cut(tone(), one).samples) == 11_200
    with pytest.raises(NotApplicable):
        cut(replace(tone(), samples=tone().samples[:0]), one)
