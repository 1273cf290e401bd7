"""The prepared networks give the values that their cards quote, and honour the contract of the lock."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.runtime.lock import read_lock
from evaluator.runtime.session import Array, SessionSource
from evaluator.runtime.store import LOCK_FILE, Store
from tests.runtime.goldens import FEEDS, answer, cut, picture

ONNX = [(item.id, found.name) for item in read_lock(LOCK_FILE).embedded for found in item.files if found.inputs]

# (model, file, output) -> (position in the flattened output, value), measured with ONNX Runtime 1.32 on x86-64
GOLDEN = {
    ("efficientnet_lite0", "efficientnet_lite0.onnx", "logits"): (906, 7.95248),
    ("efficientnet_lite0", "efficientnet_lite0.onnx", "embedding"): (71, 5.86493),
    ("distillmos", "distillmos.onnx", "mos"): (0, 2.03934),
    ("dnsmos", "sig_bak_ovr.onnx", "Identity:0"): (2, 1.43579),
    ("dnsmos", "model_v8.onnx", "Identity:0"): (0, 2.32455),
    ("plcmos", "plcmos_v2.onnx", "plcmos"): (0, 4.06252),
    ("silero_vad", "silero_vad.onnx", "output"): (0, 0.0033195),
    ("resemblyzer", "resemblyzer.onnx", "embedding"): (11, 0.257881),
    ("blazeface", "short_range.onnx", "scores"): (727, -0.469525),
    ("blazeface", "full_range.onnx", "scores"): (504, -0.532632),
    ("blazeface", "face_mesh.onnx", "presence"): (0, -7.33151),
    ("blazeface", "pnet.onnx", "probability"): (191, 0.999959),
    ("blazeface", "rnet.onnx", "probability"): (0, 0.993478),
    ("blazeface", "onet.onnx", "probability"): (0, 0.996929),
    ("stlpips", "stlpips.onnx", "distance"): (0, 0.00285491),
}


def test_every_network_has_a_golden_input() -> None:
    assert set(FEEDS) == set(ONNX)


@pytest.mark.parametrize(("model", "file"), ONNX)
def test_a_network_takes_and_gives_what_the_lock_says(models: Store, model: str, file: str) -> None:
    wanted = models.lock[model].file(file)
    feeds, found = FEEDS[model, file](), answer(models, model, file)
    for tensor in (*wanted.inputs, *wanted.outputs):
        array = {**feeds, **found}[tensor.name]
        assert array.dtype == tensor.dtype, tensor.name
        sizes = [(have, want) for have, want in zip(array.shape, tensor.shape, strict=True) if isinstance(want, int)]
        assert all(have == want for have, want in sizes), tensor.name


@pytest.mark.parametrize(("model", "file", "output"), GOLDEN)
def test_golden_values(models: SessionSource, model: str, file: str, output: str) -> None:
    position, value = GOLDEN[model, file, output]
    assert answer(models, model, file)[output].flat[position] == pytest.approx(value, rel=2e-3, abs=1e-5)


def test_the_cut_is_where_the_picture_changes(models: SessionSource) -> None:
    single = answer(models, "transnetv2", "transnetv2.onnx")["single"][0, :, 0]
    assert single.argmax() == 49
    assert 1 / (1 + np.exp(-single[49])) == pytest.approx(0.4519, abs=2e-3)
    still = models.session("transnetv2", "transnetv2.onnx").run(
        {"frames": np.repeat(cut()["frames"][:, :1], 100, axis=1)}
    )
    assert (still["single"][0, 5:95, 0] < single[49]).all()


def test_a_moved_picture_is_interpolated_better_than_by_blending(models: SessionSource) -> None:
    first, real, second = (np.roll(picture(96, 160), shift, axis=3) for shift in (0, 2, 4))
    middle = models.session("rife", "rife.onnx").run({"first": first, "second": second})["middle"]
    inner: tuple[slice | int, ...] = (0, slice(None), slice(8, -8), slice(16, -16))
    assert _error(middle, real, inner) < 0.5 * _error((first + second) / 2, real, inner)


def test_interpolation_takes_any_size_that_divides_by_32(models: SessionSource) -> None:
    session = models.session("rife", "rife.onnx")
    for height, width in ((64, 96), (160, 96)):
        found = session.run({"first": picture(height, width), "second": picture(height, width)})["middle"]
        assert found.shape == (1, 3, height, width)
        assert np.abs(found - picture(height, width)).max() < 0.05


def test_the_distance_is_zero_for_equal_pictures_and_grows_with_noise(models: SessionSource) -> None:
    clean = 2 * picture(256, 256) - 1
    noise = np.random.default_rng(0).normal(size=clean.shape).astype(np.float32)
    second = np.concatenate([np.clip(clean + level * noise, -1, 1) for level in (0, 0.05, 0.2, 0.5)])
    first = np.repeat(clean, 4, axis=0)
    distance = models.session("stlpips", "stlpips.onnx").run({"first": first, "second": second})["distance"]
    assert distance[0] == pytest.approx(0, abs=1e-7)
    assert (np.diff(distance) > 0.01).all()


def test_rows_of_a_batch_do_not_influence_each_other(models: SessionSource) -> None:
    batch = np.concatenate([2 * picture(224, 224, step) - 1 for step in (3.0, 9.0, 30.0)])
    session = models.session("efficientnet_lite0", "efficientnet_lite0.onnx")
    together = session.run({"pixels": batch})["embedding"]
    alone = np.concatenate([session.run({"pixels": row[None]})["embedding"] for row in batch])
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-5)


def test_a_speaker_embedding_has_length_one(models: SessionSource) -> None:
    embedding = answer(models, "resemblyzer", "resemblyzer.onnx")["embedding"]
    assert np.linalg.norm(embedding) == pytest.approx(1, abs=1e-5)
    assert (embedding >= 0).all()


def _error(found: Array, real: Array, inner: tuple[slice | int, ...]) -> float:
    return float(np.abs(found[inner] - real[inner]).mean())


def test_the_quantised_network_gives_its_golden_class(models: SessionSource) -> None:
    scores = answer(models, "yamnet", "model.onnx")["class_scores"][0]
    assert abs(int(scores[498]) - 189) <= 1  # one step of eight bits: integer kernels differ between processors
    assert int(scores.max()) - int(scores[498]) <= 1
