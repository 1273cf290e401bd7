"""Lifts of pairs of names, and the stand-in for ImageBind that is made of them."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from evaluator.errors import NotApplicable
from evaluator.experts import imagebind_stand_in, minilm
from evaluator.experts.clip_text_stand_in import class_names
from evaluator.experts.features import AudioTags, FaceTrack
from evaluator.experts.imagebind_stand_in import PERSON, ImageBindStandIn, _table, faces_at, profile, with_persons
from evaluator.experts.names_together import TEMPERATURE, agreement, lifts
from evaluator.experts.yamnet import CLASS_MAP
from evaluator.experts.yamnet import class_names as sound_names
from evaluator.media.types import F32, F64
from evaluator.runtime.store import Store
from evaluator.schema import ALL_FRAMES, ExpertNeed, FramesNeed, Sampling
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import frames_of

RNG = np.random.default_rng(0)


def unit(rows: F64) -> F32:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


PICTURES, SOUNDS = unit(RNG.standard_normal((30, 12))), unit(RNG.standard_normal((20, 12)))


def test_lifts_are_the_balanced_kernel_of_cosines() -> None:
    """Against Sinkhorn's iterations on potentials, in logarithms."""
    scores = PICTURES.astype(np.float64) @ SOUNDS.astype(np.float64).T / TEMPERATURE
    rows, columns = np.zeros((30, 1)), np.zeros((1, 20))
    for _ in range(500):
        rows = -logsumexp(scores + columns, axis=1, keepdims=True)
        columns = -logsumexp(scores + rows, axis=0, keepdims=True)
    plan = np.exp(scores + rows + columns)
    np.testing.assert_allclose(lifts(PICTURES, SOUNDS), plan / plan.mean(), rtol=1e-4)


def test_every_name_has_the_same_weight_and_the_order_of_names_does_not_matter() -> None:
    table = lifts(PICTURES, SOUNDS)
    np.testing.assert_allclose(table.mean(axis=0), 1, atol=1e-9)
    np.testing.assert_allclose(table.mean(axis=1), 1, atol=1e-4)
    turned = RNG.permutation(30)
    np.testing.assert_allclose(lifts(PICTURES[turned], SOUNDS), table[turned], rtol=1e-9)


def test_a_name_that_lies_near_everything_says_nothing() -> None:
    """Two names have the cosine 1/2 with a picture: one with this picture alone, the other with all of them."""
    axes = np.eye(8)
    own, hub = unit(axes[:4] + np.sqrt(3) * axes[4:]), unit(axes[:4].sum(axis=0, keepdims=True))
    table = lifts(axes[:4].astype(np.float32), np.concatenate([own, hub]))
    np.testing.assert_allclose(table[:, 4], 1, atol=1e-3)
    assert (np.diag(table) > 3).all()


@given(st.integers(0, 19), st.integers(0, 29), st.floats(0, 1))
def test_agreement_is_nought_for_any_name_and_within_one(sound: int, picture: int, share: float) -> None:
    table = lifts(PICTURES, SOUNDS)
    heard = (1 - share) / 20 + share * np.eye(20)[sound]
    assert agreement(np.full((1, 30), 1 / 30), heard, table)[0] == pytest.approx(0, abs=1e-4)
    assert -1 <= agreement(np.eye(30)[picture][None], heard, table)[0] <= 1


def test_the_more_of_the_sound_is_another_one_the_lower_it_falls() -> None:
    table = lifts(PICTURES, SOUNDS)
    best, worst = int(table[0].argmax()), int(table[0].argmin())
    mixed = [(1 - k) * np.eye(20)[best] + k * np.eye(20)[worst] for k in (0, 0.3, 0.6, 1)]
    values = [float(agreement(np.eye(30)[:1], heard, table)[0]) for heard in mixed]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0 > values[-1]


# ---------------------------------------------------------------------------------------------------- the expert


def faces(*seen: bool) -> FaceTrack:
    count = len(seen)
    nowhere = np.zeros((count, 4), np.float32)
    rows = np.zeros(count, np.float32)
    found = np.array(seen, np.int64)
    return FaceTrack(np.arange(count), np.arange(count) / 25, rows, nowhere, found, rows, ("",) * count)


def test_a_frame_with_a_face_is_half_a_persons() -> None:
    things = np.full((2, 4), 0.25)
    found = with_persons(things, np.array([0.0, 1.0]))
    np.testing.assert_allclose(found, [[0.25, 0.25, 0.25, 0.25, 0], [0.125, 0.125, 0.125, 0.125, 0.5]])


def test_faces_are_those_of_the_sampled_frames() -> None:
    frames = frames_of(np.zeros((3, 8, 8, 3), np.uint8))
    assert faces_at(frames, faces(True, False, True, True)).tolist() == [1, 0, 1]


def test_what_is_heard_are_shares_of_the_asked_seconds() -> None:
    tags = AudioTags(np.array([[0.6, 0.2], [0.6, 0.2], [0.0, 0.9], [0.0, 0.9]], np.float32), ("a", "b"), 0.48)
    np.testing.assert_allclose(profile(tags, 1.0), [0.75, 0.25], atol=1e-6)
    assert profile(tags, None).sum() == pytest.approx(1)
    with pytest.raises(NotApplicable, match="no class of sounds"):
        profile(AudioTags(np.zeros((2, 2), np.float32), ("a", "b"), 0.48), None)


def test_it_asks_for_frames_faces_and_tags_of_one_clip() -> None:
    want = ExpertNeed("sound_and_picture_names", ("source",), Sampling("moments", (4, 1.0, 1.0)))
    needs = ImageBindStandIn(FakeSource({})).needs(want)
    frames = needs.pop("frames")  # type: ignore[attr-defined]
    assert isinstance(frames, FramesNeed)
    assert (frames.role, frames.view.sampling) == ("source", want.sampling)
    assert needs == {
        "faces": ExpertNeed("faces", ("source",), ALL_FRAMES),
        "tags": ExpertNeed("audio_tags", ("source",)),
    }


TOGETHER = (
    ("German Shepherd Dog", "Bark"), ("tabby cat", "Meow"), ("rooster", "Crowing, cock-a-doodle-doo"), ("ox", "Moo"),
    ("violin", "Violin, fiddle"), ("grand piano", "Piano"), ("drum", "Snare drum"), ("church", "Church bell"),
    ("steam locomotive", "Train"), ("race car", "Race car, auto racing"), ("vacuum cleaner", "Vacuum cleaner"),
    ("lakeshore", "Waves, surf"), (PERSON, "Speech"), ("volcano", "Explosion"), ("typewriter keyboard", "Typing"),
)  # fmt: skip


def test_names_of_one_thing_go_together_and_swapped_ones_do_not(models: Store) -> None:
    seen = (*class_names(models.path("minilm", "imagenet_names.json")), PERSON)
    heard = sound_names(models.path("yamnet", CLASS_MAP))
    rows = [seen.index(thing) for thing, _ in TOGETHER]
    columns = [heard.index(sound) for _, sound in TOGETHER]
    table = _table(models, heard)[np.ix_(rows, columns)]
    own, swapped = np.diag(table), table[~np.eye(len(TOGETHER), dtype=bool)]
    assert (own[:, None] > swapped).mean() > 0.97  # area under the curve of 15 pairs against 210
    assert np.median(swapped) < 1 < own.min()


def test_threads_share_one_table_and_do_not_make_it_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def slow(sessions: Any, texts: Any) -> np.ndarray:
        made.append(len(texts))
        time.sleep(0.05)
        return np.ones((len(texts), 4), np.float32)

    classifier = FakeSession(lambda feeds: {"logits": np.zeros((len(feeds["pixels"]), 2))}, ("logits",))
    source = FakeSource({"efficientnet_lite0.onnx": classifier}, {"imagenet_names.json": Path("names")})
    monkeypatch.setattr(minilm, "embed", slow)
    monkeypatch.setattr(imagebind_stand_in, "class_names", lambda path: ("one", "two"))
    tags = AudioTags(np.full((1, 2), 0.5, np.float32), ("a", "b"), 0.48)
    inputs = {"frames": frames_of(np.zeros((1, 8, 8, 3), np.uint8)), "faces": faces(False), "tags": tags}
    expert = ImageBindStandIn(source)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: expert.run(ExpertNeed("sound_and_picture_names"), inputs), range(4)))
    assert len({one.cosines.tobytes() for one in found}) == 1
    assert made == [3, 2]
    with pytest.raises(ValueError, match="read-only"):
        _table(source, tags.names)[0] = 0


def looked_and_heard(models: Store, thing: str, sounds: dict[str, float], face: bool = False) -> float:
    """The expert on a picture that the classifier takes for one thing; the way through the names is real."""
    logits = np.full((1, 1000), -8.0, np.float32)
    logits[0, class_names(models.path("minilm", "imagenet_names.json")).index(thing)] = 8.0
    names = sound_names(models.path("yamnet", CLASS_MAP))
    rows = np.full((4, len(names)), 1e-4, np.float32)
    rows[:, [names.index(name) for name in sounds]] = list(sounds.values())
    classifier = FakeSession(lambda feeds: {"logits": np.repeat(logits, len(feeds["pixels"]), 0)}, ("logits",))
    inputs: dict[str, Any] = {
        "frames": frames_of(np.zeros((1, 224, 224, 3), np.uint8)),
        "faces": faces(face),
        "tags": AudioTags(rows, names, 0.48),
    }
    real = models.session
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "session", lambda *of: classifier if of[0] == "efficientnet_lite0" else real(*of))
        return float(ImageBindStandIn(models).run(ExpertNeed("sound_and_picture_names"), inputs).cosines[0])


def test_a_replaced_sound_belongs_less_to_the_picture(models: Store) -> None:
    bark, bell = {"Bark": 0.9, "Dog": 0.9}, {"Church bell": 0.9}
    mixed = {"Bark": 0.5, "Church bell": 0.5}
    values = [looked_and_heard(models, "German Shepherd Dog", sounds) for sounds in (bark, mixed, bell)]
    assert values[0] > values[1] > values[2]
    assert values[0] > 0.5 > 0.1 > values[2]


def test_speech_belongs_to_a_picture_with_a_face(models: Store) -> None:
    with_face, without = (looked_and_heard(models, "T-shirt", {"Speech": 0.9}, face) for face in (True, False))
    assert with_face > 0.5 > without
    assert looked_and_heard(models, "T-shirt", {"Bark": 0.9}, face=True) < with_face
