"""Normalisation and unit vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import ExpertError
from evaluator.experts.pixels import IMAGENET, SYMMETRIC, UNIT, Normalisation, normalise, sampling_of, unit_rows
from evaluator.schema import ALL_FRAMES, ExpertNeed


@pytest.mark.parametrize("how", [UNIT, SYMMETRIC, IMAGENET])
def test_every_grey_level_is_normalised_as_the_formula_says(how: Normalisation) -> None:
    levels = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1).repeat(3, axis=3)
    expected = (levels / 255 - np.array(how.mean)) / np.array(how.std)
    found = normalise(levels, how)
    assert found.dtype == np.float32
    assert found.flags.c_contiguous
    np.testing.assert_allclose(found, expected.transpose(0, 3, 1, 2), atol=1e-6)


def test_axes_go_to_channels_first() -> None:
    frames = np.random.default_rng(0).integers(0, 256, (2, 4, 5, 3), dtype=np.uint8)
    assert np.round(normalise(frames, UNIT)[1, 2, 3, 4] * 255) == frames[1, 3, 4, 2]


@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 1e6))
def test_rows_get_length_one_whatever_their_scale(seed: int, scale: float) -> None:
    vectors = (np.random.default_rng(seed).standard_normal((3, 17)) * scale).astype(np.float32)
    unit = unit_rows(vectors)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(unit, unit_rows(vectors * np.float32(2)), atol=1e-6)


def test_a_zero_vector_has_no_direction() -> None:
    with pytest.raises(ExpertError, match="length zero"):
        unit_rows(np.zeros((1, 4), np.float32))


def test_a_request_without_frames_is_a_mistake() -> None:
    assert sampling_of(ExpertNeed("image_embedding", sampling=ALL_FRAMES)) == ALL_FRAMES
    with pytest.raises(ValueError, match="image_embedding"):
        sampling_of(ExpertNeed("image_embedding"))
