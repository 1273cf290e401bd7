"""Which of three runs a network on a device: a TensorRT engine, ONNX Runtime on the device, ONNX Runtime on the CPU.

An engine is used only if its answers to a stored batch agree with ONNX Runtime's on the CPU. Every step down is kept as
a `Fallback` with its reason, for the header of the run: it is never silent. Without a device there is only the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

from evaluator.errors import EngineError, ExpertError
from evaluator.runtime.device import Device
from evaluator.runtime.digests import sha256_file
from evaluator.runtime.engine_build import Profile, build_engine
from evaluator.runtime.engine_cache import EngineCache, EngineKey
from evaluator.runtime.onnx import OnnxSession
from evaluator.runtime.onnx_device import BoundOnnxSession
from evaluator.runtime.session import Array, Session
from evaluator.runtime.tensorrt import PROVIDER, TensorRtSession


@dataclass(frozen=True, slots=True)
class Network:
    """An ONNX file, the shapes that it is used with, and the inputs that an engine must answer like the CPU."""

    path: Path
    profile: Profile
    probe: Mapping[str, Array]
    cosine: float  # least cosine between flattened outputs
    max_abs: float  # greatest difference of any number


@dataclass(frozen=True, slots=True)
class Fallback:
    """A network that was not run by what comes first, and why."""

    file: str
    wanted: str
    reason: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """How near two answers to one batch are, output by output; the worst of all counts."""

    cosine: float
    max_abs: float


def agreement(found: Mapping[str, Array], wanted: Mapping[str, Array]) -> Agreement:
    """Compare two answers. Raises ExpertError for other names or shapes."""
    if found.keys() != wanted.keys() or any(found[name].shape != wanted[name].shape for name in wanted):
        raise ExpertError("the answers differ in names or shapes")
    pairs = [(found[name].astype(np.float64).ravel(), wanted[name].astype(np.float64).ravel()) for name in wanted]
    return Agreement(
        min(_cosine(one, other) for one, other in pairs),
        max(float(np.abs(one - other).max(initial=0.0)) for one, other in pairs),
    )


def _cosine(one: Array, other: Array) -> float:
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / size if size else float(np.array_equal(one, other))


class Backends:
    """Opens networks on one device. `trt` is None where TensorRT is not installed."""

    def __init__(self, device: Device | None, trt: ModuleType | None, cache: EngineCache) -> None:
        self._device, self._trt, self._cache = device, trt, cache
        self.fallbacks: list[Fallback] = []

    def open(self, network: Network) -> Session:
        """The best session that there is. Raises what ONNX Runtime raises for a file that even the CPU cannot run."""
        if self._device is None:
            return OnnxSession(network.path)
        steps: list[tuple[str, Callable[[Network, Device], Session]]] = [
            (PROVIDER, self._tensorrt),
            ("ONNX Runtime on the device", lambda one, device: BoundOnnxSession(one.path, device)),
        ]
        for name, attempt in steps:
            try:
                return attempt(network, self._device)
            except EngineError as error:
                self.fallbacks.append(Fallback(network.path.name, name, str(error)))
        return OnnxSession(network.path)

    def _tensorrt(self, network: Network, device: Device) -> Session:
        """The cached engine, or a new one that passes its comparison. Raises EngineError; a refusal is remembered."""
        trt = self._trt
        if trt is None:
            raise EngineError("TensorRT is not installed")
        version = f"{trt.__name__} {trt.__version__}"
        key = EngineKey(sha256_file(network.path), version, device.gpu, network.profile)
        kept = self._cache.find(key)
        if kept is not None and kept.plan is not None:
            return TensorRtSession(trt, kept.plan, device, network.path.name)
        if kept is not None:
            raise EngineError(str(kept.record["refused"]))
        try:
            return self._new_engine(trt, network, device, key)
        except EngineError as error:
            self._cache.refuse(key, str(error))
            raise

    def _new_engine(self, trt: ModuleType, network: Network, device: Device, key: EngineKey) -> Session:
        built = build_engine(trt, network.path, network.profile, self._cache.timings(key))
        session = TensorRtSession(trt, built.plan, device, network.path.name)
        found = agreement(session.run(network.probe), OnnxSession(network.path).run(network.probe))
        if found.cosine < network.cosine or found.max_abs > network.max_abs:
            raise EngineError(
                f"{network.path.name}: the engine disagrees with ONNX Runtime on the CPU: cosine {found.cosine:.6f} "
                f"(at least {network.cosine}), largest difference {found.max_abs:.3g} (at most {network.max_abs:.3g})"
            )
        self._cache.keep(key, built, {**asdict(found), "against": "ONNX Runtime CPU"})
        return session
