"""Engines that were built here and what they proved, DALI's frames against the CPU's, and which models' pictures stay
in device memory, where there is a GPU.

Nothing is loaded on a machine without one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evaluator import experts
from evaluator.doctor.codecs import KINDS, Kind, write
from evaluator.doctor.finding import Finding, Level
from evaluator.errors import EngineError, MediaError
from evaluator.experts.base import Expert
from evaluator.media.decode import CollectTap, decode
from evaluator.media.decode_dali import DaliSource
from evaluator.media.decode_device import decode_on
from evaluator.media.probe import probe
from evaluator.media.source_route import not_for_dali
from evaluator.runtime.engine_cache import EngineCache
from evaluator.schema import Fit, View

SECTION = "device path"
NEAR = 40.0
"""dB between scaled frames of two decoders that agree."""
SMALL = View(fit=Fit.SQUASH, height=48, width=96)


def findings(cache: EngineCache, folder: Path, device: str) -> Iterator[Finding]:
    """Engines of the cache; and, for `device` "gpu" (or "cpu" in tests), every kind of clip through DALI."""
    for record in cache.records():
        yield _engine(record)
    yield _residents()
    try:
        source = DaliSource(device)
    except EngineError as error:
        yield Finding(SECTION, "DALI", Level.NOTE, str(error))
        return
    for place, kind in enumerate(KINDS):
        yield _clip(source, kind, folder / f"{place}.{kind.suffix}")


def resident_experts() -> list[type[Expert]]:
    """The experts that take pictures where the decoder has left them, by id."""
    modules = (
        importlib.import_module(f"{experts.__name__}.{one.name}") for one in pkgutil.iter_modules(experts.__path__)
    )
    kinds = (getattr(module, "EXPERT", None) for module in modules)
    return sorted((kind for kind in kinds if kind is not None and kind.on_device), key=lambda kind: kind.id)


def _residents() -> Finding:
    named = ", ".join(kind.id for kind in resident_experts())
    found = f"stay in device memory for {named}; every other model, every metric and the judge read them on the host"
    return Finding(SECTION, "pictures from DALI", Level.NOTE, found)


def _engine(record: object) -> Finding:
    assert isinstance(record, dict)  # noqa: S101  (the cache writes objects)
    name = f"engine {record['key']['onnx_sha256'][:12]}"
    if "refused" in record:
        return Finding(SECTION, name, Level.NOTE, f"refused: {record['refused']}")
    proof = record["comparison"]
    found = f"{record['key']['gpu']['name']}, cosine {proof['cosine']:.6f}, largest difference {proof['max_abs']:.2g}"
    rewrites = record.get("rewrites", ())  # records of earlier versions have none
    rewritten = f"; rewritten: {', '.join(rewrites)}" if rewrites else ""
    return Finding(SECTION, name, Level.OK, found + rewritten)


def _clip(source: DaliSource, kind: Kind, path: Path) -> Finding:
    """One clip both ways: count, times, and how near the pixels are."""
    write(kind, path)
    info = probe(path)
    if reason := not_for_dali(info, source.device):
        return Finding(SECTION, kind.name, Level.NOTE, f"decoded by PyAV: {reason}")
    here, there = CollectTap(info), CollectTap(info)
    decode(path, info, [(SMALL, here)], [])
    try:
        _, report = decode_on(source, path, info, [(SMALL, there)], [])
    except MediaError as error:
        return Finding(SECTION, kind.name, Level.MISSING, str(error), "--device cpu decodes it")
    one, other = here.close(), there.close()
    if not (np.array_equal(one.index, other.index) and np.array_equal(one.time, other.time)):
        return Finding(SECTION, kind.name, Level.MISSING, "other frames than the CPU's", "--device cpu decodes it")
    apart = float(((one.data.astype(np.float64) - other.data) ** 2).mean())
    near = 10 * np.log10(255**2 / max(apart, 1e-9))
    level = Level.OK if near >= NEAR else Level.MISSING
    return Finding(SECTION, kind.name, level, f"{report.notes[0]}, {near:.1f} dB from the CPU's frames")
