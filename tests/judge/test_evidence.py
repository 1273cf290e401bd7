"""Evidence: which frames at which times, how large, how it is recorded, and that equal input gives equal bytes."""

from __future__ import annotations

import io
import math
import wave

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from evaluator.judge import evidence, evidence_text
from evaluator.judge.dialect import chat_request
from evaluator.judge.evidence import Budget, clip_frames, crop, paired_frames, sound, still, strip
from evaluator.judge.evidence_picture import GUTTER, JPEG, PNG, bounded, cut_out, encode, side_by_side
from evaluator.judge.types import AudioPart, Evidence, FramesPart, ImagePart, Question, TextPart
from evaluator.media.types import Audio, ClipInfo, Frames, VideoInfo

U8 = npt.NDArray[np.uint8]
SMALL = Budget(frames=4, frame_side=32, still_side=40, seconds=1.0)


def clip(times: list[float], start: float = 0.0, height: int = 24, width: int = 48) -> Frames:
    """Frames whose grey level is their position times ten."""
    moments = np.array(times, np.float64) + start
    info = VideoInfo("h264", width, height, "yuv420p", "bt601", False, 0, (1, 1), moments[:1], 1.0)
    data = np.broadcast_to(
        (10 * np.arange(len(times), dtype=np.uint8))[:, None, None, None], (len(times), height, width, 3)
    )
    return Frames(data, np.arange(len(times)) * 3, moments, ClipInfo("mp4", info, None))


def opened(data: bytes) -> U8:
    return np.asarray(Image.open(io.BytesIO(data)))


def frames_of(part: object) -> FramesPart:
    assert isinstance(part, FramesPart)
    return part


def levels(part: FramesPart) -> list[int]:
    return [int(opened(frame)[0, 0, 0]) for frame in part.frames]


# -------------------------------------------------------------------------------------------------- frames and times


def test_frames_carry_their_times_from_the_start_of_the_clip() -> None:
    part = frames_of(clip_frames(clip([0.0, 0.04, 0.08, 1.23456], start=7.5), "target").part)
    assert part.times == (0.0, 0.04, 0.08, 1.235)
    assert levels(part) == [0, 10, 20, 30]
    assert (part.mime, part.name, part.evidence) == (JPEG, "target", Evidence.NATIVE)


def test_an_odd_last_frame_is_shown_again_a_millisecond_later() -> None:
    exhibit = clip_frames(clip([0.0, 0.5, 1.0]), "target")
    part = frames_of(exhibit.part)
    assert part.times == (0.0, 0.5, 1.0, 1.001)
    assert part.frames[2] == part.frames[3]
    assert exhibit.record["frames"] == [0, 3, 6, 6]
    assert exhibit.record["skew"] == 0.0


def test_a_single_frame_makes_a_pair() -> None:
    part = frames_of(clip_frames(clip([2.0]), "target").part)
    assert part.times == (0.0, 0.001)


def test_more_frames_than_the_budget_are_thinned_evenly_and_recorded() -> None:
    exhibit = clip_frames(clip([k / 10 for k in range(10)]), "target", SMALL)
    assert exhibit.record["frames"] == [0, 9, 18, 27]
    assert exhibit.record["sampled"] == 10
    assert (exhibit.record["width"], exhibit.record["height"]) == (32, 16)
    assert exhibit.record["bytes"] == sum(map(len, frames_of(exhibit.part).frames))
    assert exhibit.record["sha256"] == exhibit.part.sha256


def test_frames_that_a_sampling_rule_repeats_are_shown_once() -> None:
    part = frames_of(clip_frames(clip([0.0, 0.0, 0.5, 0.5]), "target").part)
    assert part.times == (0.0, 0.5)


@given(
    st.lists(st.integers(0, 4000), min_size=1, max_size=40),
    st.lists(st.integers(0, 4000), min_size=1, max_size=40),
    st.integers(1, 8),
)
@settings(max_examples=60, deadline=None)
def test_two_clips_always_fit_one_request(first: list[int], second: list[int], half: int) -> None:
    """Equal times, even, rising, within the budget: what the dialect asks for."""
    budget = Budget(frames=2 * half, frame_side=8)
    clips = [clip(sorted(k / 1000 for k in times), start=0.1) for times in (first, second)]
    shown = [frames_of(exhibit.part) for exhibit in paired_frames(*clips, budget=budget)]
    assert shown[0].times == shown[1].times
    assert len(shown[0].times) <= budget.frames
    body = chat_request(Question("x", "x", "", (*shown, TextPart("?")), ("Yes", "No")), "judge", [1, 2])
    assert len(body["media_io_kwargs"]["video"]["frames_indices"]) % 2 == 0


def test_the_longer_clip_shows_its_nearest_frames() -> None:
    source, target = clip([0.0, 1.0, 2.0, 3.0]), clip([0.0, 0.4, 1.4, 2.2, 5.0, 6.0])
    first, second = paired_frames(source, target)
    assert frames_of(first.part).times == (0.0, 1.0, 2.0, 3.0)
    assert levels(frames_of(second.part)) == [0, 20, 30, 30]
    assert (first.record["skew"], second.record["skew"]) == (0.0, 0.8)


def test_of_two_equally_near_frames_the_earlier_is_shown() -> None:
    _, second = paired_frames(clip([0.0, 1.0]), clip([0.0, 0.5, 1.5]))
    assert second.record["frames"] == [0, 3]


def test_no_frame_is_no_evidence() -> None:
    with pytest.raises(ValueError, match="no frame"):
        clip_frames(Frames(np.zeros((0, 8, 8, 3), np.uint8), np.zeros(0, np.int64), np.zeros(0), clip([0.0]).clip), "x")


@pytest.mark.parametrize("frames", [0, 1, 7])
def test_a_budget_of_frames_is_even(frames: int) -> None:
    with pytest.raises(ValueError, match="even"):
        Budget(frames=frames)


# --------------------------------------------------------------------------------------------------------- pictures


def random_picture(height: int, width: int, channels: int = 3, seed: int = 0) -> U8:
    return np.random.default_rng(seed).integers(0, 256, (height, width, channels), dtype=np.uint8)


def test_png_keeps_every_pixel_and_jpeg_nearly() -> None:
    picture = random_picture(20, 30)
    np.testing.assert_array_equal(opened(encode(picture, PNG)), picture)
    smooth = np.broadcast_to(np.linspace(0, 255, 30, dtype=np.uint8)[None, :, None], (20, 30, 3))
    assert np.abs(opened(encode(smooth, JPEG)).astype(int) - smooth).max() <= 3


def test_gray_is_shown_as_gray() -> None:
    found = opened(encode(random_picture(8, 8, 1), PNG))
    assert found.shape == (8, 8, 3)
    np.testing.assert_array_equal(found[..., 0], found[..., 2])


@pytest.mark.parametrize("mime", [JPEG, PNG])
def test_equal_pixels_give_equal_bytes(mime: str) -> None:
    picture = random_picture(33, 47)
    assert encode(picture, mime) == encode(picture[::-1][::-1].copy(), mime)


def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(ValueError, match="image/gif"):
        encode(random_picture(4, 4), "image/gif")


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 200))
@settings(max_examples=40, deadline=None)
def test_a_bound_holds_and_never_enlarges(height: int, width: int, side: int) -> None:
    found = bounded(np.zeros((height, width, 3), np.uint8), side)
    assert max(found.shape[:2]) == min(side, max(height, width))
    assert min(found.shape[:2]) >= 1


def test_a_crop_goes_outwards_to_whole_pixels() -> None:
    picture = random_picture(10, 20)
    np.testing.assert_array_equal(cut_out(picture, (0.26, 0.31, 0.5, 0.6)), picture[3:6, 5:10])
    np.testing.assert_array_equal(cut_out(picture, (0.5, 0.5, 1.0, 1.0), margin=0.5), picture[2:, 5:])
    np.testing.assert_array_equal(cut_out(picture, (0.999, 0.999, 1, 1)), picture[9:, 19:])


@pytest.mark.parametrize(
    "box", [(0.5, 0, 0.5, 1), (0, 0, 1.1, 1), (-0.1, 0, 1, 1), (math.nan, 0, 1, 1), (0.6, 0, 0.4, 1)]
)
def test_a_box_outside_or_empty_is_refused(box: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="box"):
        cut_out(random_picture(10, 10), box)


def test_a_strip_has_equal_heights_and_gutters() -> None:
    found = side_by_side([random_picture(10, 20), random_picture(20, 20), random_picture(10, 5, 1)])
    assert found.shape == (10, 20 + GUTTER + 10 + GUTTER + 5, 3)
    assert (found[:, 20 : 20 + GUTTER] == 255).all()
    with pytest.raises(ValueError, match="at least one"):
        side_by_side([])


def test_stills_crops_and_strips_are_lossless_bounded_and_recorded() -> None:
    frames = clip([0.0, 0.5], start=3.0)
    whole = still(frames, 1, "middle", SMALL)
    assert isinstance(whole.part, ImagePart)
    assert opened(whole.part.data).shape == (20, 40, 3)
    assert (whole.record["time"], whole.record["width"], whole.record["height"]) == (0.5, 40, 20)
    part = crop(frames, 1, (0.25, 0.5, 0.75, 1.0), "face", margin=0.1)
    assert isinstance(part.part, ImagePart)
    assert opened(part.part.data).shape == (14, 30, 3)
    assert part.record["box"] == [0.25, 0.5, 0.75, 1.0]
    row = strip([frames.data[0], frames.data[1]], "both")
    assert row.record["pictures"] == 2
    assert row.record["sha256"] == row.part.sha256


# ------------------------------------------------------------------------------------------------------------ sound


def test_sound_is_the_wav_that_servers_take() -> None:
    samples = np.arange(-8000, 8000, dtype=np.int16)
    exhibit = sound(Audio(samples, 16_000, True), "target", Budget(seconds=0.5))
    assert isinstance(exhibit.part, AudioPart)
    with wave.open(io.BytesIO(exhibit.part.wav)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 16_000)
        np.testing.assert_array_equal(np.frombuffer(file.readframes(10**6), "<i2"), samples[:8000])
    assert (exhibit.record["seconds"], exhibit.record["of"]) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("audio", "complaint"),
    [
        (Audio(np.zeros(100, np.int16), 16_000, False), "no sound track"),
        (Audio(np.zeros(100, np.int16), 44_100, True), "44100 Hz"),
        (Audio(np.zeros(0, np.int16), 16_000, True), "0 samples"),
    ],
)
def test_what_is_no_sound_is_refused(audio: Audio, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        sound(audio, "target")


def test_a_mel_picture_is_marked_as_a_substitute() -> None:
    tone = Audio((8000 * np.sin(np.arange(16_000) / 5)).astype(np.int16), 16_000, True)
    exhibit = evidence.mel({"source": tone, "target": tone}, "sound", cuts=[0.5])
    assert isinstance(exhibit.part, ImagePart)
    assert exhibit.part.evidence is Evidence.MEL_IMAGE
    assert exhibit.record["evidence"] == "mel_image"
    assert exhibit.record["tracks"] == {label: {"seconds": 1.0, "of": 1.0} for label in ("source", "target")}


# ------------------------------------------------------------------------------------------------------------- text


def text_of(exhibit: evidence.Exhibit) -> str:
    assert isinstance(exhibit.part, TextPart)
    assert exhibit.part.untrusted
    return exhibit.part.text


def test_a_transcript_has_its_times() -> None:
    exhibit = evidence_text.transcript([(0, 1.234, "Hello  \n there"), (2.5, 3, "Bye")], "target speech")
    assert text_of(exhibit) == "[0.00 s to 1.23 s] Hello there\n[2.50 s to 3.00 s] Bye"
    assert exhibit.part.evidence is Evidence.TRANSCRIPT


def test_nothing_found_is_said_and_not_left_empty() -> None:
    assert "no speech" in text_of(evidence_text.transcript([], "x"))
    assert "nothing" in text_of(evidence_text.tags([], "x"))
    assert "no shot" in text_of(evidence_text.shots([], "x"))


def test_tags_shots_and_facts() -> None:
    assert text_of(evidence_text.tags([("Speech", 0.987), ("Dog", 0.1)], "x")) == "Speech: 0.99\nDog: 0.10"
    assert text_of(evidence_text.shots([(0, 1.5), (1.5, 4)], "x")).splitlines()[1] == "shot 2: [1.50 s to 4.00 s]"
    found = evidence_text.facts(
        {"loudness": -23.04567, "frames": 120, "clipped": False, "onset": None, "codec": "h\n264"}, "x"
    )
    assert text_of(found) == "loudness: -23.05\nframes: 120\nclipped: no\nonset: not known\ncodec: h 264"
    assert found.part.evidence is Evidence.FACTS


@given(st.integers(40, 400), st.integers(0, 60))
def test_text_is_bounded_and_says_so(most: int, count: int) -> None:
    exhibit = evidence_text.transcript([(k, k + 1, "some words") for k in range(count)], "x", most=most)
    text = text_of(exhibit)
    assert len(text) <= most
    assert ("cut off" in text) == (exhibit.record["of"] > most)
    assert exhibit.record["characters"] == len(text)
