"""Share of frames with a face."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.metrics.face_presence import METRIC
from tests.metrics.build import faces, plain


def test_share_and_facts() -> None:
    track = faces([0.1, np.nan, 0.2, 0.1])
    track = replace(track, count=np.array([1, 0, 3, 1]), detector=("blazeface", "", "mtcnn", "blazeface"))
    found = METRIC.compute(faces=track)
    assert found.value == 0.75
    assert found.details["most_faces"] == 3
    assert found.details["detectors"] == {"blazeface": 2, "mtcnn": 1}
    assert found.details["mean_score"] == pytest.approx(0.9)


def test_a_face_without_a_measured_mouth_counts() -> None:
    track = replace(faces([np.nan, np.nan]), count=np.array([1, 0]), score=np.array([0.8, 0.0], np.float32))
    assert METRIC.compute(faces=track).value == 0.5


def test_no_face_is_an_answer_and_no_frame_is_not() -> None:
    found = METRIC.compute(faces=faces([np.nan, np.nan]))
    assert (found.value, found.details["mean_score"]) == (0.0, None)
    with pytest.raises(NotApplicable):
        METRIC.compute(faces=faces([]))


@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_stays_in_range(seen: list[bool]) -> None:
    found = METRIC.compute(faces=faces(np.where(seen, 0.1, np.nan)))
    assert found.value == pytest.approx(sum(seen) / len(seen))
    assert plain(dict(found.details))
