"""A built engine behind the Session protocol: addresses are bound, the work goes onto one stream, nothing is copied.

The `tensorrt` module is an argument, as for building. Knows devices only by the `Device` protocol; a test runs the same
code against a context that checks what is called in which order.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from evaluator.errors import EngineError
from evaluator.runtime import traffic
from evaluator.runtime.device import Buffer, Device, bound, checked
from evaluator.runtime.session import Array

PROVIDER = "TensorRT"


class NoRoom(EngineError):
    """Nothing is said against an engine: the device has no memory left for it now."""


class TensorRtSession:
    """One engine on one device. Threads take turns: an execution context has one set of addresses."""

    provider = PROVIDER

    def __init__(self, trt: ModuleType, plan: bytes, device: Device, file: str) -> None:
        """Raises EngineError for a plan of another TensorRT or GPU, and NoRoom where memory is short."""
        self.file, self._trt, self._device = file, trt, device
        self._log = trt.Logger(trt.Logger.WARNING)
        self._runtime = trt.Runtime(self._log)
        self._engine = self._runtime.deserialize_cuda_engine(plan)
        if self._engine is None:
            raise EngineError(f"{file}: the engine does not fit this TensorRT or this GPU")
        self._context = self._engine.create_execution_context()
        if self._context is None:
            raise NoRoom(f"{file}: no memory for an execution context")
        self._turn = threading.Lock()
        names = [self._engine.get_tensor_name(index) for index in range(self._engine.num_io_tensors)]
        given = [self._engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT for name in names]
        self._dtypes: dict[str, np.dtype[Any]] = {
            name: np.dtype(trt.nptype(self._engine.get_tensor_dtype(name))) for name in names
        }
        self.inputs: Mapping[str, tuple[Sequence[int | str | None], str]] = {
            name: (self._shape(name), self._dtypes[name].name)
            for name, is_input in zip(names, given, strict=True)
            if is_input
        }
        self.outputs: Sequence[str] = [name for name, is_input in zip(names, given, strict=True) if not is_input]

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Arrays of the host or of the device in, of the host out. Raises ExpertError if an output is not finite."""
        buffers = {name: bound(self._device, array, self._dtype(name)) for name, array in feeds.items()}
        found = {name: self._device.download(buffer) for name, buffer in self.run_on_device(buffers).items()}
        traffic.came_down(sum(value.nbytes for value in found.values()))
        return checked(self.file, found)

    def leave(self, feeds: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
        """Run once; the named outputs as tensors, whose shapes an engine knows itself. Raises ExpertError if one is
        not finite.
        """
        buffers = {name: bound(self._device, array, self._dtype(name)) for name, array in feeds.items()}
        found = self.run_on_device(buffers)
        return checked(self.file, {name: found[name].owner for name in shapes})

    def run_on_device(self, feeds: Mapping[str, Buffer]) -> dict[str, Buffer]:
        """Device buffers in and out, ordered on the device's stream: keep the inputs until you have waited."""
        if feeds.keys() != self.inputs.keys():
            raise EngineError(f"{self.file}: inputs are {', '.join(self.inputs)}, given {', '.join(feeds)}")
        with self._turn:
            for name, buffer in feeds.items():
                self._bind_input(name, buffer)
            found = {name: self._bind_output(name) for name in self.outputs}
            if not self._context.execute_async_v3(self._device.stream):
                raise EngineError(f"{self.file}: the engine did not run")
        return found

    def _bind_input(self, name: str, buffer: Buffer) -> None:
        if not self._context.set_input_shape(name, buffer.shape):
            raise EngineError(f"{self.file}: {name} of shape {list(buffer.shape)} is outside the engine's profile")
        self._bind(name, buffer)

    def _bind_output(self, name: str) -> Buffer:
        buffer = self._device.empty(tuple(self._context.get_tensor_shape(name)), self._dtypes[name])
        self._bind(name, buffer)
        return buffer

    def _bind(self, name: str, buffer: Buffer) -> None:
        if buffer.dtype != self._dtypes[name]:
            raise EngineError(f"{self.file}: {name} is {self._dtypes[name]} in the engine, given {buffer.dtype}")
        if not self._context.set_tensor_address(name, buffer.address):
            raise EngineError(f"{self.file}: no address could be set for {name}")

    def _dtype(self, name: str) -> np.dtype[Any]:
        if name not in self._dtypes:
            raise EngineError(f"{self.file}: no input {name}; there are {', '.join(self.inputs)}")
        return self._dtypes[name]

    def _shape(self, name: str) -> list[Any]:
        return [None if size == -1 else int(size) for size in self._engine.get_tensor_shape(name)]
