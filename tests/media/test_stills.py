"""Still pictures are clips of one frame: the references of a generated clip go through the same door as clips."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluator.media.probe import probe
from evaluator.schema import Sampling, View
from tests.experts.pictures import view_of


def drawn() -> Image.Image:
    y, x = np.mgrid[:60, :80]
    return Image.fromarray(np.stack([x * 3, y * 4, x + y], axis=2).astype(np.uint8))


@pytest.mark.parametrize(("name", "tolerance"), [("a.png", 0), ("a.jpg", 12), ("a.webp", 0)])
def test_a_picture_has_one_frame_with_its_colours(tmp_path: Path, name: str, tolerance: int) -> None:
    path = tmp_path / name
    drawn().save(path, **({"lossless": True} if name.endswith("webp") else {"quality": 95}))
    info = probe(path)
    assert info.video is not None
    assert (info.video.width, info.video.height, info.video.frames, info.audio) == (80, 60, 1, None)
    frames = view_of(path, View(Sampling("linspace", (16,))))
    assert frames.index.tolist() == [0]
    difference = np.abs(frames.data[0].astype(int) - np.asarray(drawn(), int))
    assert difference.max() <= tolerance


def test_its_name_does_not_matter_and_a_sequence_is_not_followed(tmp_path: Path) -> None:
    """FFmpeg reads `img_001.jpg` as the first of a sequence when it goes by the name."""
    for name in ("img_001.jpg", "img_002.jpg", "photo.mp4"):
        drawn().save(tmp_path / name, format="jpeg")
    for name in ("img_001.jpg", "photo.mp4"):
        video = probe(tmp_path / name).video
        assert video is not None
        assert video.frames == 1
