"""Which of three runs a network on a device: a TensorRT engine, ONNX Runtime on the device, ONNX Runtime on the CPU.

An engine is used only if its answers to a stored batch agree with ONNX Runtime's on the CPU, and only for the shapes
that it was built for. Every step down is kept as a `Fallback` with its reason, for the header of the run: it is never
silent. Without a device there is only the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Protocol

import numpy as np

from evaluator.errors import EngineError, ExpertError
from evaluator.runtime.device import Device
from evaluator.runtime.digests import sha256_file
from evaluator.runtime.engine_build import Profile, build_engine
from evaluator.runtime.engine_cache import EngineCache, EngineKey
from evaluator.runtime.engine_fold import OnnxMissing
from evaluator.runtime.engine_reach import WithinReach
from evaluator.runtime.onnx import OnnxSession
from evaluator.runtime.onnx_device import BoundOnnxSession
from evaluator.runtime.session import Array, Session
from evaluator.runtime.tensorrt import PROVIDER, NoRoom, TensorRtSession


@dataclass(frozen=True, slots=True)
class Network:
    """An ONNX file, the shapes that it is used with, and the inputs that an engine must answer like the CPU."""

    path: Path
    profile: Profile
    probe: Mapping[str, Array]
    cosine: float  # least cosine between flattened outputs
    max_abs: float  # greatest difference of any number
    always: Mapping[str, Array] = field(default_factory=dict)  # inputs that hold one number in every call


@dataclass(frozen=True, slots=True)
class Fallback:
    """A network that was not run by what comes first, or not in every call, and why."""

    file: str
    wanted: str
    reason: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """How near two answers to one batch are, output by output; the worst of all counts."""

    cosine: float
    max_abs: float
    relative: float  # the difference as a fraction of the largest number of its output


def agreement(found: Mapping[str, Array], wanted: Mapping[str, Array]) -> Agreement:
    """Compare two answers. Raises ExpertError for other names or shapes."""
    if found.keys() != wanted.keys() or any(found[name].shape != wanted[name].shape for name in wanted):
        raise ExpertError("the answers differ in names or shapes")
    pairs = [(found[name].astype(np.float64).ravel(), wanted[name].astype(np.float64).ravel()) for name in wanted]
    apart = [(_largest(one - other), _largest(other)) for one, other in pairs]
    return Agreement(
        min(_cosine(one, other) for one, other in pairs),
        max(difference for difference, _ in apart),
        max(difference / largest if largest else difference for difference, largest in apart),
    )


def _largest(array: Array) -> float:
    return float(np.abs(array).max(initial=0.0))


def _cosine(one: Array, other: Array) -> float:
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / size if size else float(np.array_equal(one, other))


HALF = (0.999, 5e-2)
"""Least cosine, and greatest difference as a fraction of the largest number, of an engine that computes in float16."""


def _compared(network: Network, engine: Session) -> Agreement:
    """How near an engine is to the CPU. Raises EngineError if one of them gives what cannot be compared."""
    left = {name: array for name, array in network.probe.items() if name not in network.always}
    try:
        return agreement(engine.run(left), OnnxSession(network.path).run(network.probe))
    except ExpertError as error:  # it speaks against the engine; the next session may be right
        raise EngineError(f"{network.path.name}: the engine cannot be compared with the CPU: {error}") from error


def _require(network: Network, found: Agreement, half: bool) -> None:
    """Raise EngineError if an engine is too far from the CPU."""
    cosine, most = HALF if half else (network.cosine, network.max_abs)
    apart, unit = (found.relative, " of the largest number") if half else (found.max_abs, "")
    if not (found.cosine >= cosine and apart <= most):
        raise EngineError(
            f"{network.path.name}: the engine disagrees with ONNX Runtime on the CPU: cosine {found.cosine:.6f} "
            f"(at least {cosine}), largest difference {apart:.3g}{unit} (at most {most:.3g})"
        )


class Opens(Protocol):
    """What opens networks on a device, and tells what it could not do."""

    @property
    def fallbacks(self) -> list[Fallback]:
        """Every step down so far."""

    def open(self, network: Network) -> Session:
        """A session of a network, the best that there is."""


Step = Callable[[Network, Device], Session]
ON_DEVICE = "ONNX Runtime on the device"


def _bound(network: Network, device: Device) -> Session:
    return BoundOnnxSession(network.path, device)


class Backends:
    """Opens networks on one device. `trt` is None where TensorRT is not installed."""

    def __init__(self, device: Device | None, trt: ModuleType | None, cache: EngineCache) -> None:
        self._device, self._trt, self._cache = device, trt, cache
        self.fallbacks: list[Fallback] = []

    def open(self, network: Network) -> Session:
        """The best session that there is. Raises NetworkError for a file that not even the CPU can run."""
        if self._device is None:
            return OnnxSession(network.path)
        return self._first(network, self._device, [(PROVIDER, self._within_reach), (ON_DEVICE, _bound)])

    def _first(self, network: Network, device: Device, steps: list[tuple[str, Step]]) -> Session:
        """The first session that can be had. What could not is noted."""
        for name, attempt in steps:
            try:
                return attempt(network, device)
            except EngineError as error:
                self._note(network, name, str(error))
        return OnnxSession(network.path)

    def _note(self, network: Network, wanted: str, reason: str) -> None:
        self.fallbacks.append(Fallback(network.path.name, wanted, reason))

    def _within_reach(self, network: Network, device: Device) -> Session:
        """The engine, with ONNX Runtime behind it for calls that it was not built for."""
        return WithinReach(
            self._tensorrt(network, device),
            network.profile,
            network.always,
            lambda: self._first(network, device, [(ON_DEVICE, _bound)]),
            lambda reason: self._note(network, PROVIDER, reason),
        )

    def _tensorrt(self, network: Network, device: Device) -> TensorRtSession:
        """The cached engine, or a new one that passes its comparison. Raises EngineError; a refusal is remembered."""
        trt = self._trt
        if trt is None:
            raise EngineError("TensorRT is not installed")
        version = f"{trt.__name__} {trt.__version__}"
        always = tuple((name, int(value.item())) for name, value in sorted(network.always.items()))
        key = EngineKey(sha256_file(network.path), version, device.gpu, network.profile, always=always)
        kept = self._cache.find(key)
        if kept is not None and kept.plan is not None:
            return TensorRtSession(trt, kept.plan, device, network.path.name)
        if kept is not None:
            raise EngineError(str(kept.record["refused"]))
        try:
            return self._new_engine(trt, network, device, key)
        except (OnnxMissing, NoRoom):  # not for ever: it may be installed tomorrow, and memory comes free
            raise
        except EngineError as error:
            self._cache.refuse(key, str(error))
            raise

    def _new_engine(self, trt: ModuleType, network: Network, device: Device, key: EngineKey) -> TensorRtSession:
        timings = self._cache.timings(key)
        built = build_engine(trt, network.path, network.profile, timings, always=network.always)
        session = TensorRtSession(trt, built.plan, device, network.path.name)
        found = _compared(network, session)
        _require(network, found, built.half)
        self._cache.keep(key, built, {**asdict(found), "against": "ONNX Runtime CPU"})
        return session
