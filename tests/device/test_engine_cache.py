"""Which engine is found again, and which never is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.runtime.engine_build import Built, ShapeRange
from evaluator.runtime.engine_cache import EngineCache, EngineKey, Gpu

KEY = EngineKey(
    "ab" * 32, "tensorrt 11.4", Gpu("H200", "9.0", "580.159"), {"x": ShapeRange((1, 3), (8, 3), (32, 3))}, ("no-tf32",)
)
COMPARISON = {"cosine": 1.0, "max_abs": 1e-5}


@pytest.fixture
def cache(tmp_path: Path) -> EngineCache:
    return EngineCache(tmp_path / "engines")


def test_an_engine_is_found_with_what_was_known_when_it_was_accepted(cache: EngineCache) -> None:
    assert cache.find(KEY) is None
    cache.keep(KEY, Built(b"plan", b"timings", ("a warning",), ("axes of squeezes",)), COMPARISON)
    kept = EngineCache(cache.folder).find(KEY)
    assert kept is not None
    assert kept.plan == b"plan"
    assert kept.record["comparison"] == COMPARISON
    assert kept.record["notes"] == ["a warning"]
    assert kept.record["rewrites"] == ["axes of squeezes"]


@pytest.mark.parametrize(
    "other",
    [
        replace(KEY, onnx_sha256="cd" * 32),
        replace(KEY, tensorrt="tensorrt 11.5"),
        replace(KEY, gpu=replace(KEY.gpu, name="H100")),
        replace(KEY, gpu=replace(KEY.gpu, capability="12.0")),
        replace(KEY, gpu=replace(KEY.gpu, driver="590.1")),
        replace(KEY, profile={"x": ShapeRange((1, 3), (8, 3), (64, 3))}),
        replace(KEY, flags=()),
        replace(KEY, always=(("sr", 8000),)),
        replace(KEY, rewrites=KEY.rewrites + 1),
    ],
    ids=["file", "TensorRT", "GPU", "capability", "driver", "shapes", "flags", "built in", "rewrites"],
)
def test_anything_that_an_engine_depends_on_makes_another_one(cache: EngineCache, other: EngineKey) -> None:
    cache.keep(KEY, Built(b"plan", b""), COMPARISON)
    assert other.id != KEY.id
    assert cache.find(other) is None


def test_a_refused_engine_is_not_tried_again(cache: EngineCache) -> None:
    cache.refuse(KEY, "node 3 (Loop): not supported")
    kept = cache.find(KEY)
    assert kept is not None
    assert (kept.plan, kept.record["refused"]) == (None, "node 3 (Loop): not supported")


@pytest.mark.parametrize("harm", ["changed plan", "no plan", "torn record", "record of another key"])
def test_what_is_not_as_it_was_kept_is_built_again(cache: EngineCache, harm: str) -> None:
    cache.keep(KEY, Built(b"plan", b""), COMPARISON)
    plan, record = cache.folder / f"{KEY.id}.plan", cache.folder / f"{KEY.id}.json"
    if harm == "changed plan":
        plan.write_bytes(b"plam")
    elif harm == "no plan":
        plan.unlink()
    elif harm == "torn record":
        record.write_bytes(record.read_bytes()[:-30])
    else:
        record.write_text(record.read_text().replace("580.159", "580.160"))
    assert cache.find(KEY) is None


def test_timings_are_shared_by_the_engines_of_one_machine_only(cache: EngineCache) -> None:
    cache.keep(KEY, Built(b"plan", b"timings"), COMPARISON)
    assert cache.timings(replace(KEY, onnx_sha256="cd" * 32)) == b"timings"
    assert cache.timings(replace(KEY, gpu=replace(KEY.gpu, driver="590.1"))) == b""
