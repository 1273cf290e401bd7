"""Folding linear layers: the same map as running them, and the published figures of the aesthetic head."""

from __future__ import annotations

import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from export.fold import fold

WIDTHS = (1152, 1024, 128, 64, 16, 1)


def test_the_fold_is_the_chain() -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.standard_normal((b, a)), rng.standard_normal(b)) for a, b in ((5, 7), (7, 4), (4, 2))]
    x = rng.standard_normal(5)
    expected = x
    for weight, bias in layers:
        expected = weight @ expected + bias
    weight, bias = fold(layers)
    np.testing.assert_allclose(weight @ x + bias, expected, atol=1e-12)


def published_layers(path: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """The head's tensors: bfloat16, one after the other in one storage of the archive."""
    with zipfile.ZipFile(path) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/data/0")]
        bits = np.frombuffer(archive.read(name), "<u2").astype(np.uint32) << 16
    values, layers, start = bits.view(np.float32), [], 0
    for width, out in pairwise(WIDTHS):
        weight = values[start : start + width * out].reshape(out, width)
        layers.append((weight, values[start + width * out : start + width * out + out]))
        start += width * out + out
    return layers


def test_the_aesthetic_head_is_one_affine_map(shared: Path) -> None:
    """AVE-Compass 12.8, and the sequential evaluation in float32 to 2e-7 of the features' scale."""
    layers = published_layers(shared / "data" / "weights" / "aesthetic_predictor_v2_5.pth")
    weight, bias = fold(layers)
    assert weight.shape == (1, 1152)
    assert np.linalg.norm(weight) == pytest.approx(25.4523, abs=5e-5)
    assert bias[0] == pytest.approx(1.9390, abs=5e-5)
    features = np.random.default_rng(1).standard_normal((20, 1152)).astype(np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    sequential = features
    for matrix, shift in layers:
        sequential = sequential @ matrix.T + shift
    np.testing.assert_allclose(features @ weight.T + bias, sequential, atol=5e-6)
