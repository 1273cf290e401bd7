"""Memory and one stream of a GPU, as little as running an engine needs. torch holds the memory; loaded on first use.

`Device` is the protocol; a test gives a device of host memory. Buffers are raw addresses with a shape and a type: what
TensorRT and ONNX Runtime bind, and what a DLPack tensor of a decoder already is. Knows nothing about networks.

Everything is ordered by one stream: a decoder is given its handle, a worker thread computes inside of `current()`, and
what is read on the host has waited for it. Memory that torch handed out on the stream is used again only in its order.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evaluator.errors import EngineError, ExpertError
from evaluator.runtime import traffic
from evaluator.runtime.arrays import is_finite, is_host
from evaluator.runtime.engine_cache import Gpu
from evaluator.runtime.session import Array


@dataclass(frozen=True, slots=True)
class Buffer:
    """Device memory. `owner` keeps it alive: whoever drops it must have waited for the stream."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    owner: object


class Device(Protocol):
    """One GPU and the stream that everything is ordered by."""

    @property
    def gpu(self) -> Gpu:
        """Which device."""

    @property
    def kind(self) -> str:
        """Its name for ONNX Runtime: "cuda", or "cpu" in tests."""

    @property
    def stream(self) -> int:
        """Handle of the stream."""

    def current(self) -> AbstractContextManager[object]:
        """Inside, what this thread does with tensors is ordered by the stream."""

    def upload(self, array: Array) -> Buffer:
        """A copy of host memory, ordered on the stream."""

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Buffer:
        """Memory that nobody has written yet."""

    def adopt(self, tensor: object) -> Buffer:
        """The memory of a DLPack tensor that lives on this device, without a copy."""

    def keep(self, tensor: object) -> Any:
        """A tensor of our own with the numbers of another library's, which may then use its memory again."""

    def download(self, buffer: Buffer) -> Array:
        """A copy in host memory, once everything before it on the stream is done."""


class CudaDevice:
    """A CUDA device through torch. One instance per worker thread: it owns a stream."""

    kind = "cuda"

    def __init__(self, index: int = 0) -> None:
        """Raises EngineError if torch or a CUDA device is not there."""
        self._torch = _torch()
        if not self._torch.cuda.is_available():
            raise EngineError("no CUDA device: torch sees none (driver, `--gpus all`?)")
        self._device = self._torch.device("cuda", index)
        self._stream = self._torch.cuda.Stream(self._device)
        major, minor = self._torch.cuda.get_device_capability(index)
        name = self._torch.cuda.get_device_name(index)
        self.gpu = Gpu(name, f"{major}.{minor}", driver())

    @property
    def stream(self) -> int:
        """Handle of the stream."""
        return int(self._stream.cuda_stream)

    def current(self) -> AbstractContextManager[object]:
        """Inside, what this thread does with tensors is ordered by the stream."""
        context: AbstractContextManager[object] = self._torch.cuda.stream(self._stream)
        return context

    def upload(self, array: Array) -> Buffer:
        """A copy of host memory, ordered on the stream."""
        with self.current():
            return self._buffer(self._torch.from_numpy(np.ascontiguousarray(array)).to(self._device))

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Buffer:
        """Memory that nobody has written yet."""
        kind = self._torch.from_numpy(np.empty(0, dtype)).dtype
        with self.current():
            return self._buffer(self._torch.empty(tuple(shape), dtype=kind, device=self._device))

    def adopt(self, tensor: object) -> Buffer:
        """The memory of a DLPack tensor on this device, without a copy. Raises EngineError if it lies elsewhere."""
        found = self._torch.from_dlpack(tensor)
        if found.device != self._device or not found.is_contiguous():
            raise EngineError(f"a tensor on {found.device} cannot be used on {self._device} without a copy")
        return self._buffer(found)

    def keep(self, tensor: object) -> Any:
        """A tensor of our own with the numbers of another library's, which may then use its memory again."""
        with self.current():
            own = self._torch.from_dlpack(tensor).clone()
        self._stream.synchronize()  # a decoder need not free its memory in the order of our stream
        return own

    def download(self, buffer: Buffer) -> Array:
        """A copy in host memory, once everything before it on the stream is done."""
        self._stream.synchronize()
        found: Array = buffer.owner.cpu().numpy()  # type: ignore[attr-defined]
        return found

    def _buffer(self, tensor: Any) -> Buffer:
        dtype = self._torch.empty(0, dtype=tensor.dtype).numpy().dtype
        return Buffer(int(tensor.data_ptr()), tuple(tensor.shape), dtype, tensor)


def bound(device: Device, array: Array, dtype: np.dtype[Any]) -> Buffer:
    """One input of a network in device memory: where it lies if it is there, else a copy, counted as traffic.

    An array of another type or layout is made what the network reads, on its side. Raises EngineError for another GPU.
    """
    if not is_host(array):
        return device.adopt(_typed(array, dtype))
    host = np.ascontiguousarray(array, dtype)
    traffic.went_up(host.nbytes)
    return device.upload(host)


def checked(file: str, outputs: dict[str, Any]) -> dict[str, Any]:
    """The same outputs. Raises ExpertError if one holds NaN or infinity, wherever it lies."""
    for name, value in outputs.items():
        if not is_finite(value):
            raise ExpertError(f"{file}: output {name} is not finite")
    return outputs


def _typed(tensor: Any, dtype: np.dtype[Any]) -> Any:
    """A tensor of this type, contiguous; itself if it is that."""
    wanted = {"float32": "float", "float16": "half", "uint8": "byte", "int64": "long", "bool": "bool"}[dtype.name]
    return getattr(tensor, wanted)().contiguous()


def driver() -> str:
    """Version of the NVIDIA driver, as the kernel module tells it. Raises EngineError if there is none."""
    try:
        with open("/sys/module/nvidia/version", encoding="ascii") as file:
            return file.read().strip()
    except OSError as error:
        raise EngineError(f"no NVIDIA driver: {error}") from error


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise EngineError("torch is needed for a GPU and is not installed here; use the image's gpu target") from error
