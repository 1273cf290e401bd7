"""Sampling rules: the published index lists, libavfilter as the reference for `fps`, and properties of any clip."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
import pytest
from av.filter import Graph
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.media.sampling import RULES, select
from evaluator.schema import Sampling


def clock(frames: int, rate: float = 25.0) -> np.ndarray:
    return np.arange(frames) / rate


def pick(rule: str, frames: int, *params: object, rate: float = 25.0) -> list[int]:
    return select(Sampling(rule, params), clock(frames, rate)).tolist()


@pytest.mark.parametrize(
    ("frames", "n", "expected"),
    [
        (250, 10, "0 28 55 83 111 138 166 194 221 249"),
        (125, 10, "0 14 28 41 55 69 83 96 110 124"),
        (121, 10, "0 13 27 40 53 67 80 93 107 120"),
        (24, 10, "0 3 5 8 10 13 15 18 20 23"),
        (11, 10, "0 1 2 3 4 6 7 8 9 10"),
        (250, 8, "0 36 71 107 142 178 213 249"),
        (121, 8, "0 17 34 51 69 86 103 120"),
        (9, 8, "0 1 2 3 5 6 7 8"),
        (16, 8, "0 2 4 6 9 11 13 15"),
        (
            121,
            50,
            "0 2 5 7 10 12 15 17 20 22 24 27 29 32 34 37 39 42 44 47 49 51 54 56 59 61 64 66 69 71 73 76 78 81 83 86 "
            "88 91 93 96 98 100 103 105 108 110 113 115 118 120",
        ),
    ],
)
@pytest.mark.parametrize("rule", ["ave_f1", "linspace"])
def test_ave_compass_lists(rule: str, frames: int, n: int, expected: str) -> None:
    assert pick(rule, frames, n) == [int(word) for word in expected.split()]


def test_ave_compass_short_clips() -> None:
    assert pick("linspace", 3, 8) == [0, 1, 2]
    assert pick("linspace", 51, 50) == [i for i in range(51) if i != 25]
    assert pick("linspace", 99, 50) == list(range(0, 99, 2))
    assert pick("ave_f1", 10, 10) == list(range(10))
    assert pick("ave_f1", 7, 1) == list(range(7))


def test_cutcraft_cuts_fractions_off() -> None:
    """32 frames of 15 s: the places that CutCraft's quality service looks at (its section 4), and not their nearest."""
    assert pick("linspace_floor", 360, 32) == [359 * k // 31 for k in range(32)] != pick("linspace", 360, 32)
    assert pick("linspace_floor", 31, 32) == list(range(31))
    assert pick("linspace_floor", 5, 1) == [0]


@pytest.mark.parametrize(
    ("frames", "count", "expected"),
    [
        (25, 10, [0, 3, 5, 8, 11, 13, 16, 19, 21, 24]),
        (11, 10, [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]),
        (100, 10, list(range(0, 100, 11))),
        (121, 16, list(range(0, 121, 8))),
        (150, 10, [0, 17, 33, 50, 66, 83, 99, 116, 132, 149]),
        (5, 10, [0, 1, 2, 3, 4]),
        (1, 10, [0]),
        (2, 1, [1]),
    ],
)
def test_covebench_lists(frames: int, count: int, expected: list[int]) -> None:
    assert pick("equal_indices", frames, count) == expected


@pytest.mark.parametrize(
    ("rate", "wanted", "step"),
    [
        (24, 8, 3),
        (25, 8, 3),
        (30, 8, 3),
        (30, 4, 7),
        (24, 2, 12),
        (10, 25, 1),
        (24000 / 1001, 8, 2),
        (30000 / 1001, 2, 14),
    ],
)
def test_cutcraft_stride(rate: float, wanted: int, step: int) -> None:
    assert pick("stride", 200, wanted, 6, rate=rate) == [i * step for i in range(6)]


def test_stride_survives_time_stamps_in_milliseconds() -> None:
    times = np.floor(clock(120, 24) * 1000) / 1000
    assert select(Sampling("stride", (2, 5)), times).tolist() == [0, 12, 24, 36, 48]


def test_every_ranges_triplets() -> None:
    assert pick("every", 10, 4) == [0, 4, 8]
    assert pick("ranges", 10, ((1, 3), (2, 5), (8, 99))) == [1, 2, 3, 4, 8, 9]
    assert pick("triplets", 7, 9) == list(range(7))
    assert pick("triplets", 21, 3) == [0, 1, 2, 8, 9, 10, 18, 19, 20]
    assert pick("triplets", 2, 3) == []


def test_fps_doubles_and_halves() -> None:
    assert pick("fps", 3, 50) == [0, 0, 1, 1, 2, 2]
    assert pick("fps", 6, 12.5) == [0, 2, 4]
    assert pick("fps_head", 6, 12.5, 2) == [0, 2]
    assert pick("fps_tail", 6, 12.5, 2) == [2, 4]
    assert pick("fps_tail", 6, 12.5, 9) == [0, 2, 4]
    assert pick("fps", 4, 25) == [0, 1, 2, 3]


def test_fps_last_frame_stays_until_the_end_of_the_clip() -> None:
    assert select(Sampling("fps", (10,)), np.array([0.0, 0.1]), end=0.5).tolist() == [0, 1, 1, 1, 1]


def filtered(stamps: list[int], last: int, rate: int) -> list[int]:
    """Indices of the frames that libavfilter's fps filter emits."""
    graph = Graph()
    chain = [graph.add("buffer", video_size="2x2", pix_fmt="gray", time_base="1/1000"), graph.add("fps", str(rate))]
    graph.link_nodes(*chain, graph.add("buffersink")).configure()
    shown = []
    stays = [*np.diff(stamps).tolist(), last]
    for index, (stamp, stay) in enumerate(zip(stamps, stays, strict=True)):
        frame = av.VideoFrame.from_ndarray(np.full((2, 2), index, np.uint8), format="gray")
        frame.pts, frame.duration, frame.time_base = stamp, stay, Fraction(1, 1000)
        graph.vpush(frame)
        shown += drained(graph)
    graph.vpush(None)
    return shown + drained(graph)


def drained(graph: Graph) -> list[int]:
    found = []
    while True:
        try:
            found.append(int(graph.vpull().to_ndarray()[0, 0]))
        except (av.error.BlockingIOError, av.error.EOFError):
            return found


@settings(max_examples=150, deadline=None)
@given(
    gaps=st.lists(st.integers(1, 150), max_size=40),
    start=st.integers(0, 2000),
    last=st.integers(1, 150),
    rate=st.sampled_from([8, 10, 24, 25, 30, 50]),
)
def test_fps_is_the_rule_of_libavfilter(gaps: list[int], start: int, last: int, rate: int) -> None:
    stamps = (start + np.cumsum([0, *gaps])).tolist()
    found = select(Sampling("fps", (rate,)), np.array(stamps) / 1000, (stamps[-1] + last) / 1000)
    assert found.tolist() == filtered(stamps, last, rate)


@pytest.mark.parametrize("rate", [8, 12, 16, 24, 25, 30, 50, 60])
def test_fps_of_constant_rates_is_the_rule_of_libavfilter(rate: int) -> None:
    stamps = [round(1000 * i / rate) for i in range(3 * rate)]
    found = select(Sampling("fps", (25,)), np.array(stamps) / 1000, 3.0)
    assert found.tolist() == filtered(stamps, 3000 - stamps[-1], 25)


RULE_PARAMS = {
    "all": st.tuples(),
    "ave_f1": st.tuples(st.integers(0, 60)),
    "linspace": st.tuples(st.integers(1, 60)),
    "linspace_floor": st.tuples(st.integers(1, 60)),
    "equal_indices": st.tuples(st.integers(0, 60)),
    "every": st.tuples(st.integers(1, 60)),
    "stride": st.tuples(st.floats(0.5, 120), st.integers(1, 60)),
    "fps": st.tuples(st.floats(0.5, 120)),
    "fps_head": st.tuples(st.floats(0.5, 120), st.integers(1, 60)),
    "fps_tail": st.tuples(st.floats(0.5, 120), st.integers(1, 60)),
    "ranges": st.tuples(
        st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), max_size=4).map(
            lambda spans: tuple((start, start + length) for start, length in spans)
        )
    ),
    "triplets": st.tuples(st.integers(1, 60)),
    "moments": st.tuples(st.integers(1, 60), st.floats(0.0, 100.0), st.floats(0.01, 100.0)),
    "fragments": st.tuples(st.integers(1, 4), st.integers(1, 40), st.integers(1, 3), st.integers(0, 99)),
    "stride_head": st.tuples(st.floats(0.5, 120), st.integers(1, 60)),
}


def test_every_rule_has_a_property_test() -> None:
    assert RULE_PARAMS.keys() == RULES.keys()


@pytest.mark.parametrize("rule", RULES)
@given(data=st.data(), gaps=st.lists(st.floats(0.001, 1.0), max_size=80))
@settings(max_examples=60, deadline=None)
def test_indices_exist_and_are_in_presentation_order(rule: str, data: st.DataObject, gaps: list[float]) -> None:
    times = np.cumsum([0.0, *gaps])
    found = select(Sampling(rule, data.draw(RULE_PARAMS[rule])), times)
    assert found.dtype == np.int64
    assert all(0 <= index < len(times) for index in found)
    steps = np.diff(found)
    assert (steps >= 0).all() if rule.startswith(("fps", "moments")) else (steps > 0).all()


@given(frames=st.integers(1, 400), n=st.integers(2, 60))
def test_spread_rules_reach_both_ends_evenly(frames: int, n: int) -> None:
    for rule in ("linspace", "equal_indices"):
        found = pick(rule, frames, n)
        if frames >= 2:
            assert found[0] == 0
            assert found[-1] == frames - 1
        assert len(found) == min(frames, n)
        assert max(np.diff(found), default=0) - min(np.diff(found), default=0) <= 1


@pytest.mark.parametrize("rule", RULES)
def test_a_clip_without_frames_gives_no_index(rule: str) -> None:
    pairs: dict[str, tuple[int, ...]] = dict.fromkeys(("fps_head", "fps_tail"), (25, 3))
    pairs |= {"fragments": (3, 32, 2, 7), "stride_head": (2, 3)}
    params = {**pairs, "ranges": (((0, 2),),), "stride": (2, 3), "moments": (5, 1.0, 1.0), "all": ()}.get(rule, (5,))
    assert select(Sampling(rule, params), np.empty(0)).tolist() == []


@pytest.mark.parametrize(
    ("rule", "params", "says"),
    [
        ("nearest", (), "unknown sampling rule 'nearest'; expected one of all"),
        ("linspace", (), "takes the parameters"),
        ("all", (3,), "takes the parameters"),
        ("linspace", (0,), "n = 0"),
        ("every", (0,), "k = 0"),
        ("every", (1.5,), "k = 1.5"),
        ("fps", (0,), "rate = 0"),
        ("stride", (-1, 3), "fps = -1"),
        ("stride", (2, 0), "max_frames = 0"),
        ("fps_head", (2, 0), "slots = 0"),
        ("triplets", (0,), "count = 0"),
        ("ranges", (((3, 3),),), "range"),
        ("ranges", (((-1, 3),),), "range"),
    ],
)
def test_wrong_requests_are_refused(rule: str, params: tuple[object, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("(", r"\(")):
        select(Sampling(rule, params), clock(9))


def test_moments_are_the_same_times_on_clips_of_two_rates() -> None:
    """Ten frames from the first to the last of a second at 25 fps, and what a 4 fps clip shows at those times."""
    fast, slow = (pick("moments", rate, 10, 24 / 25, 1.0, rate=float(rate)) for rate in (25, 4))
    assert fast == np.rint(np.linspace(0, 24, 10)).astype(int).tolist()
    assert slow == [0, 0, 1, 1, 2, 2, 3, 3, 3, 3]


def test_moments_repeat_the_last_frame_of_a_clip_that_is_over() -> None:
    assert pick("moments", 3, 4, 1.0, 1.0) == [0, 2, 2, 2]
    assert pick("moments", 1, 4, 1.0, 1.0) == [0, 0, 0, 0]


@pytest.mark.parametrize(("rate", "seconds"), [(4, 8.0), (4, 8.2), (8, 8.0), (25, 8.0), (30, 2.5), (4, 0.1)])
def test_moments_are_frames_of_the_clip_as_it_is_cut(rate: int, seconds: float) -> None:
    """floor(seconds x rate) frames are left of a longer clip, or the first: what comes later cannot be picked."""
    left = max(1, int(seconds * rate + 1e-9))
    source = np.arange(int(seconds * 25)) / 25
    found = pick("moments", 12 * rate, 16, float(source[-1]), seconds, rate=float(rate))
    cut = np.arange(left) / rate
    assert found == [int(np.abs(cut - at).argmin()) for at in np.linspace(0, source[-1], 16)]


@pytest.mark.parametrize("rate", [23.976, 24.0, 25.0, 29.97, 30.0, 60.0])
@pytest.mark.parametrize("seconds", [1.0, 2.5, 5.0, 7.3])
def test_moments_pick_the_same_frames_of_a_clip_that_is_stamped_in_milliseconds(rate: float, seconds: float) -> None:
    exact = np.arange(round(12 * rate)) / rate
    until = int(seconds * rate) / rate  # as long as a cut to whole frames is
    picked = Sampling("moments", (16, until - 1 / rate, until))
    assert np.array_equal(select(picked, exact), select(picked, exact.round(3)))
