"""What a run computes with: the CPU alone, or a GPU with engines, device memory and its decoder.

    --device cpu    PyAV and ONNX Runtime on the CPU; the default, and the only thing that imports nothing more
    --device gpu    DALI and TensorRT where they are installed; every step down is in the run's header

A run on a GPU has other fingerprints than one on the CPU: its numbers may differ in the last digits. Knows no metric.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.errors import EngineError
from evaluator.media.decode import Decoded, decode_each
from evaluator.media.decode_dali import DaliSource
from evaluator.media.decode_device import decode_each_on
from evaluator.media.reading import Reading
from evaluator.media.types import ClipInfo, FrameTap
from evaluator.runtime.backends import Backends, Fallback, Opens
from evaluator.runtime.device import CudaDevice, Device
from evaluator.runtime.digests import cache_folder
from evaluator.runtime.engine_cache import EngineCache
from evaluator.schema import AudioView, View

Decode = Callable[
    [Path | Reading, ClipInfo, Sequence[tuple[View, FrameTap]], Sequence[AudioView]],
    Decoded,
]


@dataclass(frozen=True, slots=True)
class Equipment:
    """A device as the runner uses it."""

    device: str = "cpu"
    driver: str | None = None
    decoder: str = "pyav"
    decode: Decode = decode_each
    backends: Opens | None = None
    identity: dict[str, str] = field(default_factory=dict)  # what tells its numbers from another device's
    ordered: Callable[[], AbstractContextManager[object]] = nullcontext  # every worker thread is inside of one
    steps_down: list[Fallback] = field(default_factory=list)  # beside those of `backends`

    @property
    def fallbacks(self) -> list[Fallback]:
        """Everything that was not run by what comes first, and why."""
        return [*self.steps_down, *(self.backends.fallbacks if self.backends else ())]


CPU = Equipment()


def equipment(name: str) -> Equipment:
    """The equipment of `--device`. Raises EngineError (exit 4) for a GPU that is not there."""
    if name == "cpu":
        return CPU
    return on_gpu(CudaDevice(), _optional("tensorrt"), EngineCache(cache_folder() / "engines"))


def on_gpu(device: Device, trt: Any, cache: EngineCache) -> Equipment:
    """A GPU with whatever of TensorRT and DALI is installed."""
    down: list[Fallback] = []
    decoder, decoding = "dali", _dali(device)
    if _optional("nvidia.dali") is None:
        down.append(Fallback("every clip", "DALI", "DALI is not installed; PyAV decodes"))
        decoder, decoding = "pyav", decode_each
    rewriter = _optional("onnx")  # without it some networks have no engine, and other last digits
    return Equipment(
        device="gpu",
        driver=device.gpu.driver,
        decoder=decoder,
        decode=decoding,
        backends=Backends(device, trt, cache),
        identity={
            "device": device.gpu.name,
            "tensorrt": f"{trt.__name__} {trt.__version__}" if trt else "none",
            "onnx": rewriter.__version__ if trt and rewriter else "none",
            "decoder": decoder,
        },
        ordered=device.current,
        steps_down=down,
    )


def _dali(device: Device) -> Decode:
    """A decoder per worker thread: a DALI context has threads and a stream of its own."""
    own = threading.local()

    def decoding(
        file: Path | Reading, info: ClipInfo, taps: Sequence[tuple[View, FrameTap]], audio: Sequence[AudioView]
    ) -> Decoded:
        if not hasattr(own, "source"):
            own.source = DaliSource("gpu", stream=device.stream, keep=device.keep)
        return decode_each_on(own.source, file, info, taps, audio)

    return decoding


def _optional(name: str) -> Any:
    """A library, or None where it is not installed. One that is installed and broken is an error, not an absence."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None
    except (ImportError, OSError) as error:
        raise EngineError(f"{name} is installed and cannot be loaded: {error}") from error
