"""Sentences as vectors, and clips as the names of what is in them: contracts, and what the real model must know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.errors import ModelCorrupt, NotApplicable
from evaluator.experts.clap_text_stand_in import ClapTextStandIn
from evaluator.experts.clip_text_stand_in import ClipTextStandIn, class_names, softmax
from evaluator.experts.features import AudioTags
from evaluator.experts.minilm import DIMENSIONS, LENGTH, MiniLm, embed, vocabulary
from evaluator.experts.named_classes import cosines, named
from evaluator.experts.yamnet import CLASS_MAP
from evaluator.experts.yamnet import class_names as sound_names
from evaluator.runtime.session import Array, SessionSource
from evaluator.runtime.store import Store
from evaluator.schema import ExpertNeed, FramesNeed, Sampling
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import frames_of

WORDS = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "dog": 4, "bark": 5, "##s": 6, "tram": 7}


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": {"vocab": WORDS}}))
    return path


def states(feeds: Any) -> dict[str, Array]:
    """Every token is the axis of its number, so that a text is the mix of its words."""
    ids = feeds["input_ids"]
    return {"last_hidden_state": np.eye(DIMENSIONS, dtype=np.float32)[ids]}


def test_a_text_is_the_mean_of_its_tokens_and_each_is_run_alone(tokenizer: Path) -> None:
    session = FakeSession(states)
    found = embed(FakeSource({"model.onnx": session}, {"tokenizer.json": tokenizer}), ["Dog barks", "tram"])
    assert found.shape == (2, DIMENSIONS)
    expected = np.zeros(DIMENSIONS)
    expected[[2, 4, 5, 6, 3]] = 1 / np.sqrt(5)
    np.testing.assert_allclose(found[0], expected, atol=1e-6)
    assert [feeds["input_ids"].tolist() for feeds in session.fed] == [[[2, 4, 5, 6, 3]], [[2, 7, 3]]]
    assert all(feeds["attention_mask"].all() and not feeds["token_type_ids"].any() for feeds in session.fed)


def test_a_long_text_is_cut_and_keeps_its_end(tokenizer: Path) -> None:
    session = FakeSession(states)
    embed(FakeSource({"model.onnx": session}, {"tokenizer.json": tokenizer}), ["dog " * 300])
    (ids,) = session.fed[0]["input_ids"]
    assert (len(ids), ids[0], ids[-1]) == (LENGTH, 2, 3)


def test_no_text_is_no_vector_and_no_vocabulary_no_model(tokenizer: Path) -> None:
    source = FakeSource({"model.onnx": FakeSession(states)}, {"tokenizer.json": tokenizer})
    with pytest.raises(NotApplicable):
        MiniLm(source).run(ExpertNeed("text_embedding", options=(("text", " "),)), {})
    assert MiniLm(source).run(ExpertNeed("text_embedding", options=(("text", "dog"),)), {}).vectors.shape[0] == 1
    assert embed(source, []).shape == (0, DIMENSIONS)
    tokenizer.write_text("{}")
    vocabulary.cache_clear()
    with pytest.raises(ModelCorrupt):
        vocabulary(tokenizer)


AXES = {name: np.eye(3, dtype=np.float32)[at] for at, name in enumerate(("dog", "tram", "hay"))}


def test_a_picture_is_the_mix_of_its_likeliest_names() -> None:
    def axes(texts: Any) -> Any:
        return np.stack([AXES[text] for text in texts])

    found = named(np.array([[0.6, 0.0, 0.8], [1.0, 0.0, 0.0]]), list(AXES), axes)
    np.testing.assert_allclose(found, [[0.6, 0, 0.8], [1, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(cosines(found, AXES["dog"]), [0.6, 1], atol=1e-6)
    falling = [
        float(cosines(named(np.array([[1 - k, k, 0.0]]), list(AXES), axes), AXES["dog"])[0]) for k in (0, 0.2, 0.9)
    ]
    assert falling == sorted(falling, reverse=True)


def test_probabilities_sum_to_one_and_class_names_are_a_thousand(tmp_path: Path) -> None:
    np.testing.assert_allclose(
        softmax(np.array([[900.0, 900.0], [0.0, np.log(3)]], np.float32)), [[0.5, 0.5], [0.25, 0.75]]
    )
    path = tmp_path / "names.json"
    path.write_text(json.dumps(["dog"] * 999))
    with pytest.raises(ModelCorrupt):
        class_names(path)


def test_what_is_asked_of_a_clip() -> None:
    sampling = Sampling("moments", (4, 1.0, 1.0))
    want = ExpertNeed("text_and_picture_names", sampling=sampling, options=(("text", "a dog"),))
    need = ClipTextStandIn(FakeSource({})).needs(want)["frames"]
    assert isinstance(need, FramesNeed)
    assert (need.view.height, need.view.sampling) == (224, want.sampling)
    heard = ClapTextStandIn(FakeSource({})).needs(ExpertNeed("text_and_sound_names", options=(("text", "a dog"),)))
    assert heard == {"tags": ExpertNeed("audio_tags")}


def test_like_sentences_lie_close(models: SessionSource) -> None:
    dog, puppy, train = embed(models, ["a dog barks", "a puppy is barking", "a train passes"])
    assert dog @ puppy == pytest.approx(0.82, abs=0.05)
    assert dog @ train < 0.25


def heard(models: Store, sounds: dict[str, float], text: str, seconds: float | None = None) -> float:
    """The cosine of a text with a clip in whose first half these classes are heard, and silence after."""
    names = sound_names(models.path("yamnet", CLASS_MAP))
    rows = np.full((8, len(names)), 1e-4, np.float32)
    rows[:4, [names.index(name) for name in sounds]] = list(sounds.values())
    rows[4:, names.index("Silence")] = 1.0
    options = (("text", text), *((("seconds", seconds),) if seconds else ()))
    want = ExpertNeed("text_and_sound_names", options=options)
    found = ClapTextStandIn(models).run(want, {"tags": AudioTags(rows, names, 0.48)})
    return float(found.cosines[0])


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [("a dog barks at the gate", "Bark", "Church bell"), ("church bells ring", "Church bell", "Bark"),
     ("a man is speaking", "Speech", "Engine"), ("an engine idles", "Engine", "Speech")],
)  # fmt: skip
def test_a_replaced_sound_is_further_from_the_prompt(models: Store, text: str, right: str, wrong: str) -> None:
    values = [heard(models, sounds, text) for sounds in ({right: 0.9}, {right: 0.5, wrong: 0.5}, {wrong: 0.9})]
    assert values[0] > values[1] > values[2]
    assert values[0] > values[2] + 0.1


def test_only_the_common_duration_is_heard(models: Store) -> None:
    assert heard(models, {"Bark": 0.9}, "a dog barks", seconds=1.5) > heard(models, {"Bark": 0.9}, "a dog barks")


def test_replaced_pictures_are_further_from_the_prompt(models: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The classifier's word is made up, the way from its thousand names to a sentence is real."""
    names = class_names(models.path("minilm", "imagenet_names.json"))
    logits = np.full((3, 1000), -8.0, np.float32)
    for row, name in enumerate(("tram", "goldfish", "tram")):
        logits[row, names.index(name)] = 8.0
    real = models.session

    def session(model: str, file: str) -> Any:
        if model != "efficientnet_lite0":
            return real(model, file)
        return FakeSession(lambda feeds: {"logits": logits[: len(feeds["pixels"])]}, ("logits",))

    monkeypatch.setattr(models, "session", session)
    want = ExpertNeed(
        "text_and_picture_names", sampling=Sampling("linspace", (2,)), options=(("text", "a tram on a city street"),)
    )
    found = ClipTextStandIn(models).run(want, {"frames": frames_of(np.zeros((2, 224, 224, 3), np.uint8))})
    assert found.cosines[0] > found.cosines[1] + 0.2
