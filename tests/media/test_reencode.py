"""A clip through H.264 and AAC: what changes, what does not, and how far ahead the coding looks."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.errors import MediaError
from evaluator.media import reencode
from evaluator.media.reencode import LOOKAHEAD, reencoded
from evaluator.media.types import I16, U8

FPS, RATE = 25, 16_000


def moving(count: int, height: int = 64, width: int = 96) -> U8:
    """A texture that moves, with a hard cut in the middle."""
    rng = np.random.default_rng(0)
    texture = np.repeat(np.repeat(rng.integers(0, 256, (height // 8 + 1, width // 2, 3)), 8, 0), 8, 1).astype(np.uint8)
    rows = [texture[:height, 2 * k % 200 : 2 * k % 200 + width] for k in range(count)]
    return np.stack([row if k < count // 2 else 255 - row for k, row in enumerate(rows)])


def tone(seconds: float) -> I16:
    time = np.arange(int(seconds * RATE)) / RATE
    return (8000 * np.sin(2 * np.pi * 440 * time)).astype(np.int16)


def test_pictures_lose_detail_and_sound_keeps_its_time() -> None:
    frames, samples = moving(50), tone(2.0)
    seen, heard = reencoded(frames, samples, FPS, RATE)
    assert seen.shape == frames.shape
    assert 0.5 < np.abs(seen.astype(int) - frames).mean() < 20
    assert len(samples) <= len(heard) < len(samples) + 2048  # its last packet is filled up
    assert np.corrcoef(heard[4000:20_000], samples[4000:20_000])[0, 1] > 0.999  # not a packet late


def test_it_is_the_same_each_time() -> None:
    first, again = (reencoded(moving(30), tone(1.0), FPS, RATE) for _ in range(2))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])


def test_frames_beyond_the_lookahead_change_nothing() -> None:
    """So five seconds and the lookahead are enough of a clip of any length."""
    frames = moving(40 + LOOKAHEAD + 60)
    whole, _ = reencoded(frames, tone(0.0), FPS, RATE)
    enough, _ = reencoded(frames[: 40 + LOOKAHEAD], tone(0.0), FPS, RATE)
    np.testing.assert_array_equal(whole[:40], enough[:40])
    other = frames.copy()
    other[60:] = 0
    assert (reencoded(other, tone(0.0), FPS, RATE)[0][:40] != whole[:40]).any()


def test_odd_sides_lose_a_line_and_no_sound_is_none() -> None:
    seen, heard = reencoded(moving(6, 65, 91), tone(0.0), FPS, RATE)
    assert (seen.shape, len(heard)) == ((6, 64, 90, 3), 0)


def test_a_build_without_the_encoder_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reencode, "PICTURES", "no_such_encoder")
    with pytest.raises(MediaError) as caught:
        reencoded(moving(2), tone(0.0), FPS, RATE)
    assert caught.value.code == "unsupported_codec"
