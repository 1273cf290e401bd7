"""Contracts of CLIP, CLAP, ImageBind, LPIPS, ECAPA and the detector on sessions without a network, and their tokens."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts import (
    clap,
    clap_text,
    clip_text,
    clip_vit_l14,
    ecapa,
    imagebind,
    lpips_alex,
    object_detector,
)
from evaluator.experts.byte_pairs import BytePairs, byte_signs, read
from evaluator.experts.features import Embeddings, SpeechActivity
from evaluator.schema import AudioNeed, ExpertNeed, FramesNeed, Sampling
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import frames_of
from tests.experts.sounds import sound

FRAMES = Sampling("moments", (4, 1.0, 1.0))


def pieces(*merges: str, clip: bool = True, words: str = "") -> BytePairs:
    """A vocabulary of all bytes, their ends of words, the merges and the special signs."""
    special = ["<|startoftext|>", "<|endoftext|>"] if clip else ["<s>", "<pad>", "</s>"]
    names = [*special, *byte_signs(), *(f"{sign}</w>" for sign in byte_signs())]
    names += [merge.replace(" ", "") for merge in merges]
    pairs = [tuple(merge.split(" ")) for merge in merges]
    return BytePairs({name: at for at, name in enumerate(names)}, {pair: at for at, pair in enumerate(pairs)}, clip)  # type: ignore[misc]


def spelled(tokens: BytePairs, text: str, length: int = 20) -> list[str]:
    names = {at: name for name, at in tokens.ids.items()}
    return [names[at] for at in tokens.encode(text, length).tolist()]


def test_clip_lowers_case_merges_by_rank_and_marks_ends_of_words() -> None:
    tokens = pieces("a b", "ab c</w>", "b c</w>")
    assert spelled(tokens, "ABC  bc!", 8) == [
        "<|startoftext|>", "abc</w>", "bc</w>", "!</w>", *["<|endoftext|>"] * 4
    ]  # fmt: skip
    assert spelled(pieces("b c</w>", "a b"), "abc", 5)[1:3] == ["a", "bc</w>"]  # the pair of the lower rank comes first


def test_roberta_marks_beginnings_of_words_by_the_sign_of_the_space() -> None:
    tokens = pieces("Ġ b", clip=False)
    assert spelled(tokens, "a b", 5) == ["<s>", "a", "Ġb", "</s>", "<pad>"]


@pytest.mark.parametrize("clip", [True, False])
def test_any_text_can_be_spelled_and_is_cut_with_its_end(clip: bool) -> None:
    tokens = pieces(clip=clip)
    row = spelled(tokens, "naïve 犬 🐕 don't_stop 42" * 5, 30)
    assert len(row) == 30
    assert row[-1] == ("<|endoftext|>" if clip else "</s>")
    assert len(set(byte_signs())) == 256


def test_files_of_another_form_are_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps({"a": 0}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\na b c\n")
    with pytest.raises(ExpertError, match="two pieces"):
        read(tmp_path / "vocab.json", tmp_path / "merges.txt", clip=True)
    with pytest.raises(ExpertError, match="do not belong together"):
        BytePairs({"<|startoftext|>": 0, "<|endoftext|>": 1}, {}, True).encode("a", 4)


def vocabulary(folder: Path, clip: bool) -> dict[str, Path]:
    tokens = pieces(clip=clip)
    (folder / "vocab.json").write_text(json.dumps(tokens.ids))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return {name: folder / name for name in ("vocab.json", "merges.txt")}


def unit(*rows: list[float]) -> Embeddings:
    found = np.array(rows, np.float32)
    return Embeddings(found / np.linalg.norm(found, axis=1, keepdims=True), np.arange(len(found)))


@pytest.mark.parametrize(
    ("module", "file", "other"),
    [(clip_text, "clip_text.onnx", "images"), (clap_text, "clap_text.onnx", "sounds")],
)
def test_cosines_of_a_text(tmp_path: Path, module: object, file: str, other: str) -> None:
    session = FakeSession(lambda feeds: {"embedding": [[3.0, 4.0]]}, ["embedding"])
    paths = vocabulary(tmp_path, clip=module is clip_text)
    expert = module.EXPERT(FakeSource({file: session}, paths))  # type: ignore[attr-defined]
    want = ExpertNeed(expert.capability, sampling=FRAMES, options=(("text", "a bell"),))
    found = expert.run(want, {other: unit([1, 0], [3, 4])})
    np.testing.assert_allclose(found.cosines, [0.6, 1.0], atol=1e-6)
    assert session.fed[0]["tokens"].shape == (1, 77)
    assert session.fed[0]["tokens"].dtype == np.int64
    with pytest.raises(ExpertError, match="mount both towers"):
        expert.run(want, {other: unit([1, 0, 0])})
    with pytest.raises(NotApplicable, match="no text"):
        expert.run(ExpertNeed(expert.capability, sampling=FRAMES, options=(("text", " "),)), {other: unit([1, 0])})


def test_clip_frames_are_cropped_and_normalised() -> None:
    session = FakeSession(lambda feeds: {"embedding": feeds["pixels"].mean(axis=(2, 3)) + 5}, ["embedding"])
    expert = clip_vit_l14.EXPERT(FakeSource({"clip_image.onnx": session}))
    need = expert.needs(ExpertNeed("clip_image", sampling=FRAMES))["frames"]
    assert isinstance(need, FramesNeed)
    assert (need.view.height, need.view.width) == (224, 224)
    data = np.full((2, 224, 224, 3), 128, np.uint8)
    found = expert.run(ExpertNeed("clip_image", sampling=FRAMES), {"frames": frames_of(data)})
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)
    expected = (128 / 255 - 0.48145466) / 0.26862954
    assert session.fed[0]["pixels"][0, 0, 0, 0] == pytest.approx(expected, abs=1e-5)


def test_clap_repeats_short_sounds_and_hears_only_the_asked_seconds() -> None:
    session = FakeSession(lambda feeds: {"embedding": [[1.0, feeds["wave"].sum()]]}, ["embedding"])
    expert = clap.EXPERT(FakeSource({"clap_audio.onnx": session}))
    want = ExpertNeed("clap_audio", options=(("seconds", 2.0),))
    need = expert.needs(want)["audio"]
    assert isinstance(need, AudioNeed)
    assert need.view.rate == 48_000
    audio = type(sound([0]))(np.arange(4 * 48_000).astype(np.int16), 48_000, True)
    expert.run(want, {"audio": audio})
    wave = session.fed[0]["wave"][0]
    assert len(wave) == 480_000
    np.testing.assert_array_equal(wave[:96_000], wave[96_000:192_000])
    long = type(audio)(np.ones(25 * 48_000, np.int16), 48_000, True)
    expert.run(ExpertNeed("clap_audio"), {"audio": long})
    assert [int((feeds["wave"] > 0).sum()) for feeds in session.fed[1:]] == [480_000, 480_000, 240_000]
    with pytest.raises(NotApplicable):
        expert.run(want, {"audio": type(audio)(np.zeros(0, np.int16), 48_000, True)})


def test_imagebind_compares_means_of_both_towers() -> None:
    vision = FakeSession(lambda feeds: {"embedding": np.ones((len(feeds["pixels"]), 2))}, ["embedding"])
    audio = FakeSession(lambda feeds: {"embedding": np.tile([1.0, 0.0], (len(feeds["wave"]), 1))}, ["embedding"])
    expert = imagebind.EXPERT(FakeSource({"imagebind_vision.onnx": vision, "imagebind_audio.onnx": audio}))
    data = np.zeros((15, 224, 224, 3), np.uint8)
    want = ExpertNeed("imagebind_av", options=(("seconds", 1.5),))
    asked = ExpertNeed("imagebind_av", sampling=Sampling("moments", (16, 1.4, 1.5)))
    for one, sampling in ((want, Sampling("linspace", (15,))), (asked, asked.sampling)):
        assert expert.needs(one)["frames"].view.sampling == sampling  # type: ignore[union-attr]
    found = expert.run(want, {"frames": frames_of(data), "audio": sound(np.ones(5 * 16_000) / 2)})
    assert found.cosines.tolist() == pytest.approx([0.5**0.5])
    assert audio.fed[0]["wave"].shape == (3, 32_000)
    assert int((audio.fed[0]["wave"][0] > 0).sum()) == 24_000


def test_lpips_resizes_the_second_clip_to_the_first() -> None:
    session = FakeSession(lambda feeds: {"distance": [np.abs(feeds["first"] - feeds["second"]).mean()]}, ["distance"])
    expert = lpips_alex.EXPERT(FakeSource({"lpips_alex.onnx": session}))
    need = expert.needs(ExpertNeed("frame_distance", ("video", "source"), FRAMES))["first"]
    assert need.view.height == 256  # type: ignore[union-attr]
    first, second = np.full((2, 256, 300, 3), 10, np.uint8), np.full((3, 256, 400, 3), 10, np.uint8)
    want = ExpertNeed("frame_distance", ("video", "source"), FRAMES)
    found = expert.run(want, {"first": frames_of(first), "second": frames_of(second)})
    assert found.values.tolist() == [0.0, 0.0]


def test_ecapa_hears_speech_only_and_at_least_a_second() -> None:
    session = FakeSession(lambda feeds: {"embedding": [[0.0, 2.0]]}, ["embedding"])
    expert = ecapa.EXPERT(FakeSource({"ecapa.onnx": session}))
    activity = np.zeros(100, np.float32)
    activity[10:50] = 0.9
    inputs = {"audio": sound(np.ones(51_200) / 2), "speech": SpeechActivity(activity, 0.032, 3.2)}
    found = expert.run(ExpertNeed("speaker_verification"), inputs)
    assert session.fed[0]["wave"].shape == (1, 20_480)
    assert found.vector.tolist() == [0.0, 1.0]
    activity[20:] = 0
    with pytest.raises(NotApplicable) as caught:
        expert.run(ExpertNeed("speaker_verification"), inputs)
    assert caught.value.reason == "filtered"


def test_boxes_come_back_as_fractions_of_the_picture(tmp_path: Path) -> None:
    """A picture of 1280 x 640 fills the rows 160 to 480 of the letterboxed input."""
    (tmp_path / "classes.json").write_text(json.dumps(["person", "dog"]))
    answer = {
        "boxes": [[[0, 160, 320, 480], [0, 0, 9, 9]]],
        "scores": [[0.9, 0.2]],
        "labels": [[1, 0]],
    }
    session = FakeSession(lambda _: {name: np.array(value) for name, value in answer.items()}, ["boxes"])
    source = FakeSource({"object_detector.onnx": session}, {"classes.json": tmp_path / "classes.json"})
    frames = frames_of(np.zeros((2, 640, 640, 3), np.uint8))
    video = frames.clip.video
    assert video is not None
    wide = type(video)(**{**{name: getattr(video, name) for name in video.__slots__}, "width": 1280, "height": 640})
    clip = type(frames.clip)("test", wide, None)
    want = ExpertNeed("object_detections", sampling=FRAMES)
    found = object_detector.EXPERT(source).run(
        want, {"frames": type(frames)(frames.data, frames.index, frames.time, clip)}
    )
    assert found.row.tolist() == [0, 1]
    assert found.name == ("dog", "dog")
    np.testing.assert_allclose(found.box[0], [0, 0, 0.5, 1], atol=1e-6)
