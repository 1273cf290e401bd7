"""Records: what they refuse, and that bytes and records convert into each other without loss."""

from __future__ import annotations

import math

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.schema import (
    ModelRef,
    Reason,
    Score,
    Status,
    Tier,
    View,
    decode_score,
    digest,
    encode,
    rounded,
)


def score(**changes: object) -> Score:
    fields: dict[str, object] = {
        "case": "a",
        "suite": "core",
        "system": "s",
        "metric": "ssim",
        "value": 0.5,
        "status": Status.OK,
        "reason": None,
        "raw": 0.25,
        "details": {"frames": 10},
        "models": (ModelRef("m", "0" * 64, Tier.EMBEDDED, "M"),),
        "profile": "paper",
        "fingerprint": "f" * 64,
    }
    return Score(**{**fields, **changes})  # type: ignore[arg-type]


def test_a_score_survives_its_bytes() -> None:
    record = score()
    assert decode_score(encode(record)) == record


def test_a_skip_survives_its_bytes() -> None:
    record = score(value=None, raw=None, status=Status.SKIPPED, reason=Reason("not_applicable", "no sound"), models=())
    assert decode_score(encode(record)) == record


def test_the_line_starts_with_its_schema_and_ends_with_a_newline() -> None:
    line = encode(score())
    assert line.startswith(b'{"schema":1,"case":"a"')
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"value": None},
        {"value": math.nan},
        {"value": math.inf},
        {"status": Status.FAILED},
        {"status": Status.SKIPPED, "value": None},
        {"reason": Reason("x", "y")},
    ],
)
def test_a_value_exists_exactly_when_the_status_is_ok(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="a/ssim"):
        score(**changes)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_no_number_that_json_lacks_is_written(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        encode(score(details={"deep": [value]}))


def test_numpy_scalars_become_plain_numbers() -> None:
    tree = orjson.loads(encode(score(details={"a": np.float32(0.5), "b": np.int64(3), "c": np.bool_(True)})))
    assert tree["details"] == {"a": 0.5, "b": 3, "c": True}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_rounding_keeps_seven_digits_and_is_stable(value: float) -> None:
    once = rounded(value)
    assert rounded(once) == once
    assert once == pytest.approx(value, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b'{"schema":1}', b"null", encode(score())[:-20]])
def test_a_broken_line_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match="not a score record"):
        decode_score(line)


def test_another_schema_is_refused() -> None:
    line = encode(score()).replace(b'"schema":1', b'"schema":99')
    with pytest.raises(ValueError, match="schema 99"):
        decode_score(line)


def test_digest_ignores_the_order_of_keys_and_nothing_else() -> None:
    assert digest({"a": 1, "b": View()}) == digest({"b": View(), "a": 1})
    assert digest(View(height=1)) != digest(View(height=2))
    assert digest(1.0000000001) != digest(1.0)
