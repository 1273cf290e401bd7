"""Calls of networks are counted, and multiplications are those on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from evaluator.bench.rival import PlainSession
from evaluator.bench.sessions import Ledger, multiplications
from evaluator.runtime.onnx import UNSAFE, OnnxSession
from evaluator.runtime.store import Store


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
def counted(models: Store, ledger: Ledger) -> Store:
    return Store(models.lock, models.folder, models.mounted, models.digests, opener=ledger.open)


def network(models: Store, model: str, file: str) -> Path:
    return models.path(model, file)


def test_calls_of_one_shape_are_one_kind(counted: Store, ledger: Ledger) -> None:
    session = counted.session("blazeface", "short_range.onnx")
    for rows in (1, 1, 2):
        session.run({"pixels": np.zeros((rows, 3, 128, 128), np.float32)})
    kinds = sorted((call.count, call.items) for call in ledger.calls.values())
    assert kinds == [(1, 2), (2, 2)]
    assert all(call.ready(1) > 0 and call.seconds > 0 for call in ledger.calls.values())


def test_every_session_of_the_benchmark_is_opened_as_in_a_run(models: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread, and without what ONNX Runtime must not try: the networks of all sides are the same programs."""
    opened: list[tuple[int, tuple[str, ...]]] = []
    real = ort.InferenceSession

    def watched(path: str, options: ort.SessionOptions, **how: Any) -> ort.InferenceSession:
        opened.append((options.intra_op_num_threads, how["disabled_optimizers"]))
        return real(path, options, **how)

    monkeypatch.setattr(ort, "InferenceSession", watched)
    path = network(models, "blazeface", "short_range.onnx")
    pixels = {"pixels": np.full((1, 3, 128, 128), 0.25, np.float32)}
    ours, usual = OnnxSession(path).run(pixels), PlainSession(path).run(pixels)
    multiplications(path, pixels)
    assert opened == 3 * [(1, UNSAFE)]
    assert all(np.array_equal(ours[name], usual[name]) for name in ours)


def test_multiplications_grow_with_rows(models: Store) -> None:
    path = network(models, "blazeface", "short_range.onnx")
    one, three = (multiplications(path, {"pixels": np.zeros((n, 3, 128, 128), np.float32)}) for n in (1, 3))
    assert three == 3 * one


def test_efficientnet_lite0_has_its_published_cost(models: Store) -> None:
    """407 million multiplications for one picture of 224 x 224 (the authors' table)."""
    path = network(models, "efficientnet_lite0", "efficientnet_lite0.onnx")
    found = multiplications(path, {"pixels": np.zeros((1, 3, 224, 224), np.float32)})
    assert found == pytest.approx(407e6, rel=0.06)


def test_a_recurrent_network_is_counted_by_hand(models: Store) -> None:
    """Three LSTM layers of 256 units over 160 steps of 40 mel bands, and one matrix."""
    path = network(models, "resemblyzer", "resemblyzer.onnx")
    found = multiplications(path, {"mels": np.zeros((1, 160, 40), np.float32)})
    assert found == 160 * 4 * 256 * ((40 + 256) + 2 * (256 + 256)) + 256 * 256
