"""Records: what they refuse, and that bytes and records convert into each other without loss."""

from __future__ import annotations

import json
import math

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
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


FIELDS: dict[str, object] = orjson.loads(encode(score()))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FOREIGN = JSON | st.sampled_from([[{"id": 1}], [{"id": {}, "sha256": "", "tier": "embedded"}], {"code": 1}, "ok"])


@pytest.mark.parametrize("field", sorted(FIELDS))
@settings(max_examples=40, deadline=None)
@given(value=FOREIGN)
def test_a_foreign_value_in_any_field_is_refused_or_is_of_the_right_kind(field: str, value: object) -> None:
    """Whoever reads records relies on their kinds: a list for a case id would only fail where it is looked up."""
    line = json.dumps({**FIELDS, field: value}).encode()
    try:
        found = decode_score(line)
    except ValueError:
        return
    words = [found.case, found.suite, found.system, found.metric, found.profile, found.fingerprint]
    words += [word for model in found.models for word in (model.id, model.sha256, model.stands_in_for)]
    assert all(isinstance(word, str) for word in words)
    assert isinstance(found.details, dict)
    assert all(number is None or type(number) in {int, float} for number in (found.value, found.raw))
    assert decode_score(encode(found)).key == found.key


def test_another_schema_is_refused() -> None:
    line = encode(score()).replace(b'"schema":1', b'"schema":99')
    with pytest.raises(ValueError, match="schema 99"):
        decode_score(line)


def test_digest_ignores_the_order_of_keys_and_nothing_else() -> None:
    assert digest({"a": 1, "b": View()}) == digest({"b": View(), "a": 1})
    assert digest(View(height=1)) != digest(View(height=2))
    assert digest(1.0000000001) != digest(1.0)
