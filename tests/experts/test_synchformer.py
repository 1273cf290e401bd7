"""Synchformer: geometry, front ends and alignment by a session that honours the contract; the published features."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.features import SyncOffset
from evaluator.experts.synchformer import (
    EXPERT,
    FILE,
    GRID,
    VIEW,
    aligned,
    audio_segments,
    cropped,
    in_form,
    recoded,
    video_segments,
    window_start,
)
from evaluator.media.decode import CollectTap, decode
from evaluator.media.probe import probe
from evaluator.media.reencode import LOOKAHEAD
from evaluator.media.sampling import select
from evaluator.media.types import U8, Audio, AudioInfo, ClipInfo, Frames, VideoInfo
from evaluator.schema import AudioView, ExpertNeed, Fit, FramesNeed
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.sounds import lcg, sound

WANT = ExpertNeed("av_sync")
ELEMENTS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


def pictures(count: int, start: float = 0.0) -> Frames:
    """Frame k is level k everywhere."""
    index = np.arange(count)
    return Frames(levels(count, side=224), index, start + index / 25, ClipInfo("x", None, None))


def session(element: str = "tensor(float)", winner: int = 10) -> FakeSession:
    logits = np.where(np.arange(21) == winner, 3.0, 0.0).astype(np.float32)[None]
    shape = ("batch", 14, 16, 3, 224, 224)
    return FakeSession(lambda feeds: {"logits": logits}, inputs={"video": (shape, element)})


def run(fake: FakeSession, frames: Frames, audio: Audio) -> SyncOffset:
    return EXPERT(FakeSource({FILE: fake})).run(WANT, {"frames": frames, "audio": audio})


def levels(count: int, side: int = 4) -> U8:
    """Pictures [count, side, side, 3] of which number k is level k everywhere."""
    level = np.arange(count, dtype=np.uint8)[:, None, None, None]
    return np.ascontiguousarray(np.broadcast_to(level, (count, side, side, 3)))


def test_a_long_clip_gives_125_slots_of_one_25th() -> None:
    """At 50 frames a second every second frame shows, at 12.5 every frame twice; nothing after five seconds does."""
    fast, slow = (select(VIEW.sampling, np.arange(2000) / rate) for rate in (50, 12.5))
    assert fast.tolist() == [2 * k for k in range(125)]
    assert slow.tolist() == [k // 2 for k in range(125)]
    assert len(select(VIEW.sampling, np.arange(50) / 25)) == 50


@pytest.mark.parametrize("element", ELEMENTS)
def test_contract(element: str) -> None:
    fake = session(element, winner=18)
    found = run(fake, pictures(125), sound(np.zeros(80_000)))
    assert (fake.fed[0]["video"].shape, fake.fed[0]["video"].dtype) == ((1, 14, 16, 3, 224, 224), ELEMENTS[element])
    assert (fake.fed[0]["audio"].shape, fake.fed[0]["audio"].dtype) == ((1, 14, 1, 128, 66), np.float32)
    assert found.grid[found.probability.argmax()] == pytest.approx(1.6)
    assert found.probability.sum() == pytest.approx(1.0)
    assert found.probability[18] == pytest.approx(np.exp(3) / (np.exp(3) + 20))
    assert not found.padded


def test_the_last_window_is_the_last_125_slots() -> None:
    need = EXPERT(FakeSource({})).needs(ExpertNeed("av_sync", options=(("window", "last"),)))["frames"]
    assert isinstance(need, FramesNeed)
    assert select(need.view.sampling, np.arange(250) / 25).tolist() == list(range(125, 250))
    assert select(need.view.sampling, np.arange(80) / 25).tolist() == list(range(80))


HELD = np.concatenate([np.arange(100) / 25, [4.0], np.arange(175, 250) / 25])
"""A picture that is held from 4 s to 7 s, in a clip of 10 s."""


@pytest.mark.parametrize("times", [HELD, np.arange(250) / 25, np.arange(240) / 23.976, np.arange(83) / 8])
def test_sound_goes_with_the_slots_of_the_last_window(times: np.ndarray) -> None:
    """A picture that is held may show before the window begins; the sound of the window begins with the window."""
    times = 3.0 + times
    length = float(times[-1] - times[0] + times[1] - times[0])
    video = VideoInfo("h264", 64, 64, "yuv420p", "bt709", False, 0, (1, 1), times, length)
    slots = np.floor(25 * np.append(times, times[0] + length) + 0.5 + 1e-6).astype(int)  # spec 3.4
    index = np.repeat(np.arange(len(times)), np.diff(slots))[-125:]
    frames = Frames(levels(125), index, times[index], ClipInfo("x", video, None))
    assert window_start(frames, last=True) == pytest.approx((slots[-1] - 125) / 25)
    assert window_start(frames, last=False) == times[index[0]]


def test_the_last_window_of_a_short_clip_is_the_first_one() -> None:
    times = 0.007 + np.arange(60) / 30
    video = VideoInfo("h264", 64, 64, "yuv420p", "bt709", False, 0, (1, 1), times, 2.0)
    frames = Frames(levels(50), np.arange(50), times[:50], ClipInfo("x", video, None))
    assert window_start(frames, last=True) == window_start(frames, last=False) == 0.007


def test_grid() -> None:
    np.testing.assert_allclose(GRID, [k / 5 for k in range(-10, 11)], atol=1e-7)


def test_an_engine_of_another_type_is_refused() -> None:
    with pytest.raises(ExpertError, match=r"tensor\(uint8\)"):
        run(session("tensor(uint8)"), pictures(125), sound(np.zeros(80_000)))


def test_segments_lie_in_the_middle_and_overlap_by_half() -> None:
    found = video_segments(levels(125), np.float32)[0, :, :, 0, 0, 0]  # [14, 16]
    expected = 2 + 8 * np.arange(14)[:, None] + np.arange(16)
    np.testing.assert_allclose((found + 1) * 127.5, expected, atol=1e-3)


def test_half_precision_rounds_at_every_step() -> None:
    level = np.float16(77)
    expected = (level / np.float16(255) - np.float16(0.5)) / np.float16(0.5)
    assert video_segments(np.full((125, 1, 1, 3), 77, np.uint8), np.float16)[0, 0, 0, 0, 0, 0] == expected


def test_the_last_frame_is_repeated() -> None:
    found = video_segments(levels(20), np.float32)[0, :, :, 0, 0, 0]
    np.testing.assert_allclose((found[3:] + 1) * 127.5, 19, atol=1e-3)


def test_published_audio_features() -> None:
    """AVE-Compass 12.6: noise of the linear congruential generator."""
    found = audio_segments((0.1 * lcg(80_000)).astype(np.float32))[0, :, 0]  # [14, 128, 66]
    assert found.mean() == pytest.approx(0.475429, abs=2e-6)
    assert found.std() == pytest.approx(0.136165, abs=2e-6)
    np.testing.assert_allclose(found[0, 0, :4], [0.233714, 0.338529, 0.164016, -0.237199], atol=5e-6)
    np.testing.assert_allclose(found[0, 64, :4], [0.457396, 0.609024, 0.549015, 0.495506], atol=5e-6)
    last = [0.707772, 0.729819, 0.675496, 0.653669, 0.640427, 0.467032]
    np.testing.assert_allclose(found[13, 127, 60:66], last, atol=5e-6)


def test_audio_segments_start_with_their_frames() -> None:
    """A click at sample 1280 + 5120 k is the first of segment k and in the middle of the one before it."""
    samples = np.zeros(80_000, np.float32)
    samples[1280 + 5120 * 7] = 1.0
    loudest = audio_segments(samples)[0, :, 0, 64].argmax(axis=1)  # [14] column
    assert (loudest[7], loudest[6]) == (0, 32)


@given(st.integers(-16_000, 16_000))
@settings(max_examples=30)
def test_sound_is_put_where_it_is_heard(late: int) -> None:
    """A sample presented `late` samples after the first frame ends up there, or is cut off before it."""
    samples = np.arange(1, 40_001, dtype=np.int16)
    found = aligned(Audio(samples, 16_000, True, start=2.0 + late / 16_000), start=2.0) * 32768
    line = np.concatenate([np.zeros(max(0, late)), samples[max(0, -late) :]])
    np.testing.assert_array_equal(found, line[:80_000])


@pytest.mark.parametrize("start", [5.0, 100.0, -2.5])
def test_sound_elsewhere(start: float) -> None:
    with pytest.raises(NotApplicable, match="No sound coincides"):
        aligned(Audio(np.ones(40_000, np.int16), 16_000, True, start), start=0.0)


@pytest.mark.parametrize(
    ("frames", "samples", "late", "padded"),
    [(125, 80_000, 0.0, False), (124, 80_000, 0.0, True), (125, 79_999, 0.0, True), (125, 80_000, -0.1, True)],
)
def test_what_is_missing_is_told(frames: int, samples: int, late: float, padded: bool) -> None:
    audio = Audio(np.ones(samples, np.int16), 16_000, True, start=1.0 + late)
    assert run(session(), pictures(frames, start=1.0), audio).padded is padded


@pytest.mark.parametrize(
    ("height", "width", "whole", "top", "left"),
    [(256, 455, False, 16, 115), (455, 256, False, 115, 16), (256, 455, True, 16, 116), (256, 456, False, 16, 116)],
)
def test_an_odd_side_loses_its_last_line_before_the_crop(
    height: int, width: int, whole: bool, top: int, left: int
) -> None:
    """Spec 4.4: even sides (step 1), then round((side - 224) / 2) (step 5); 1080 x 1920 becomes 256 x 454."""
    row, column = np.mgrid[:height, :width] % 256
    pictures = np.stack([row, column, row], axis=2).astype(np.uint8)[None]
    seen = cropped(pictures, whole)
    assert seen.shape == (1, 224, 224, 3)
    assert seen[0, 0, 0].tolist() == [top, left, top]


def by_ffmpeg(path: Path, count: int) -> np.ndarray:
    """The published scaling and cropping, by FFmpeg's own filters, then the square of step 5: [count, 224, 224, 3]."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        graph = av.filter.Graph()
        graph.link_nodes(
            graph.add_buffer(template=stream),
            graph.add("scale", r"iw*256/min(iw\,ih):ih*256/min(iw\,ih)"),
            graph.add("crop", "trunc(iw/2)*2:trunc(ih/2)*2"),
            graph.add("buffersink"),
        ).configure()
        found = []
        for frame, _ in zip(container.decode(stream), range(count), strict=False):
            graph.push(frame)
            found.append(graph.pull().to_ndarray(format="rgb24"))
    top, left = (round((side - 224) / 2) for side in found[0].shape[:2])
    return np.stack(found)[:, top : top + 224, left : left + 224]


def test_the_square_is_the_one_of_the_published_filters(shared: Path) -> None:
    """A tall clip of 1080 x 1920. What differs is the rounding of chroma; a square that is off by a line is far."""
    path = shared / "data" / "clips" / "talking1.mp4"
    clip = probe(path)
    tap = CollectTap(clip)
    decode(path, clip, [(VIEW, tap)], [])
    ours, theirs = cropped(tap.close().data, in_form(clip))[:10].astype(int), by_ffmpeg(path, 10)
    assert np.abs(ours - theirs).mean() < 3
    assert np.abs(ours[:, 1:] - theirs[:, :-1]).mean() > 4
    assert np.abs(ours[:, :-1] - theirs[:, 1:]).mean() > 4


def test_the_first_five_seconds_of_a_clip(shared: Path) -> None:
    """Portrait at 25 frames a second: scaled to a width of 256; the square is cut from it later."""
    path = shared / "data" / "clips" / "talking1.mp4"
    clip = probe(path)
    need = EXPERT(FakeSource({})).needs(WANT)["frames"]
    assert isinstance(need, FramesNeed)
    tap = CollectTap(clip)
    sounds, _ = decode(path, clip, [(need.view, tap)], [AudioView(16_000)])
    frames = tap.close()
    assert frames.data.shape == (125, 455, 256, 3)
    assert frames.index.tolist() == list(range(125))
    assert not run(session(), frames, sounds[AudioView(16_000)]).padded


# ------------------------------------------------------------------------------------------------- coded again

RECODED = ExpertNeed("av_sync", options=(("reencode", True),))


def whole_frames(count: int, rate: int = 30, sound_rate: int = 44_100, short: int = 480) -> Frames:
    """Gray blocks, 256 x 303 pixels: what the view of a clip of that rate and size gives."""
    blocks = np.random.default_rng(0).integers(0, 256, (count, 32, 38, 1)).astype(np.uint8)
    data = blocks.repeat(8, 1).repeat(8, 2).repeat(3, 3)[:, :, :303]
    times = np.arange(100) / rate
    video = VideoInfo("h264", 568, short, "yuv420p", "bt709", False, 0, (1, 1), times, 100 / rate)
    clip = ClipInfo("mp4", video, AudioInfo("aac", sound_rate, 2, 0.0, count / 25))
    return Frames(data, np.arange(count), np.arange(count) / 25, clip)


def test_the_whole_frame_and_the_lookahead_go_through_the_coding() -> None:
    view = EXPERT(FakeSource({})).needs(RECODED)["frames"].view
    assert (view.sampling.rule, view.sampling.params, view.fit) == ("fps_head", (25, 125 + LOOKAHEAD), Fit.SHORT_SIDE)
    assert (view.height, view.filter) == (256, VIEW.filter)


def test_frames_are_coded_then_cropped_and_sound_keeps_its_length() -> None:
    frames, tone = whole_frames(20), sound(0.3 * np.sin(np.arange(12_800) / 5))
    seen, heard = recoded(frames, tone)
    assert seen.shape == (20, 224, 224, 3)
    plain = frames.data[:, 16:240, 39:263]  # the odd column goes first, then 224 from the middle of 302
    assert 0.5 < np.abs(seen.astype(int) - plain).mean() < 15
    assert np.corrcoef(seen.ravel(), plain.ravel())[0, 1] > 0.95
    assert len(heard) == 12_800
    assert np.corrcoef(heard[2000:], tone.float32[2000:])[0, 1] > 0.99


@pytest.mark.parametrize("other", [{}, {"rate": 30}, {"sound_rate": 48_000}, {"short": 480}])
def test_a_clip_in_the_form_already_is_not_coded(other: dict[str, int]) -> None:
    """25 frames a second, 16 kHz, a short side of 256: all three, or it is coded."""
    frames, tone = whole_frames(6, **{"rate": 25, "sound_rate": 16_000, "short": 256, **other}), sound(np.zeros(4000))
    seen, _ = recoded(frames, tone)
    same = bool((seen == frames.data[:, 16:240, 40:264]).all())
    assert same is in_form(frames.clip) is (not other)


def test_the_network_gets_five_seconds_of_a_recoded_clip() -> None:
    fake = session(winner=12)
    frames = whole_frames(130, rate=25, sound_rate=16_000, short=256)
    audio = sound(np.random.default_rng(1).normal(0, 0.1, 90_000))
    found = EXPERT(FakeSource({FILE: fake})).run(RECODED, {"frames": frames, "audio": audio})
    assert fake.fed[0]["video"].shape == (1, 14, 16, 3, 224, 224)
    assert found.grid[found.probability.argmax()] == pytest.approx(0.4)
    assert not found.padded
    np.testing.assert_allclose(fake.fed[0]["audio"], audio_segments(audio.float32[:80_000]))


def test_only_the_first_seconds_are_coded_again() -> None:
    with pytest.raises(ValueError, match="not window 'last'"):
        EXPERT(FakeSource({})).needs(ExpertNeed("av_sync", options=(("reencode", True), ("window", "last"))))
