"""A device of host memory and a TensorRT of Python, to run the code that binds addresses without a GPU.

`FakeTrt` speaks the part of the interface that sessions use. Its context reads and writes real memory through the
addresses that it was given, only when it is executed, and refuses what the real one refuses: shapes outside the
profile, execution with an address missing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from evaluator.runtime.device import Buffer
from evaluator.runtime.engine_cache import Gpu
from evaluator.runtime.session import Array


class HostDevice:
    """The `Device` protocol on the CPU."""

    kind = "cpu"
    stream = 77
    gpu = Gpu("host", "0.0", "none")

    def __init__(self) -> None:
        self.made: list[Array] = []

    def current(self) -> AbstractContextManager[object]:
        return nullcontext()

    def keep(self, tensor: object) -> Array:
        return np.array(np.from_dlpack(tensor))  # type: ignore[call-overload, arg-type]

    def upload(self, array: Array) -> Buffer:
        return self._buffer(np.array(array, order="C"))

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Buffer:
        return self._buffer(np.full(tuple(shape), 85, dtype))  # not zero: an output nobody wrote must be seen

    def adopt(self, tensor: object) -> Buffer:
        return self._buffer(np.from_dlpack(tensor))  # type: ignore[call-overload, arg-type]

    def download(self, buffer: Buffer) -> Array:
        return np.array(buffer.owner)

    def _buffer(self, array: Array) -> Buffer:
        self.made.append(array)
        return Buffer(array.ctypes.data, array.shape, array.dtype, array)


@dataclass
class Tensor:
    """One input or output of a fake engine; -1 where any size is accepted."""

    shape: tuple[int, ...]
    dtype: type = np.float32
    is_input: bool = True
    most: int = 8


Function = Callable[[Mapping[str, Array]], Mapping[str, Array]]


@dataclass
class FakeEngine:
    """An engine that computes a Python function."""

    tensors: Mapping[str, Tensor]
    function: Function
    calls: list[str] = field(default_factory=list)

    @property
    def num_io_tensors(self) -> int:
        return len(self.tensors)

    def get_tensor_name(self, index: int) -> str:
        return list(self.tensors)[index]

    def get_tensor_mode(self, name: str) -> str:
        return "input" if self.tensors[name].is_input else "output"

    def get_tensor_dtype(self, name: str) -> type:
        return self.tensors[name].dtype

    def get_tensor_shape(self, name: str) -> tuple[int, ...]:
        return self.tensors[name].shape

    def create_execution_context(self) -> FakeContext:
        return FakeContext(self)


class FakeContext:
    """Executes by address."""

    def __init__(self, engine: FakeEngine) -> None:
        self.engine = engine
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.addresses: dict[str, int] = {}

    def set_input_shape(self, name: str, shape: tuple[int, ...]) -> bool:
        self.engine.calls.append(f"shape {name}")
        own = self.engine.tensors[name]
        fits = len(shape) == len(own.shape) and all(
            size == want or (want == -1 and 1 <= size <= own.most) for size, want in zip(shape, own.shape, strict=True)
        )
        if fits:
            self.shapes[name] = tuple(shape)
        return fits

    def get_tensor_shape(self, name: str) -> tuple[int, ...]:
        batch = next(iter(self.shapes.values()))[0]
        return tuple(batch if size == -1 else size for size in self.engine.tensors[name].shape)

    def set_tensor_address(self, name: str, address: int) -> bool:
        self.engine.calls.append(f"address {name}")
        self.addresses[name] = address
        return address != 0

    def execute_async_v3(self, stream: int) -> bool:
        self.engine.calls.append(f"execute {stream}")
        if self.addresses.keys() != self.engine.tensors.keys():
            return False
        given = {name: self._view(name, shape) for name, shape in self.shapes.items()}
        for name, value in self.engine.function(given).items():
            self._view(name, self.get_tensor_shape(name))[...] = value
        return True

    def _view(self, name: str, shape: tuple[int, ...]) -> Array:
        dtype = np.dtype(self.engine.tensors[name].dtype)
        size = int(np.prod(shape)) * dtype.itemsize
        memory = (ctypes.c_char * size).from_address(self.addresses[name])
        return np.frombuffer(memory, dtype).reshape(shape)


def fake_trt(engines: Mapping[bytes, FakeEngine]) -> Any:
    """A `tensorrt` module that deserialises these plans."""

    class Runtime:
        def __init__(self, log: object) -> None:
            self.log = log

        def deserialize_cuda_engine(self, plan: bytes) -> FakeEngine | None:
            return engines.get(plan)

    class Logger:
        WARNING = 2

        def __init__(self, level: int) -> None:
            self.level = level

    return SimpleNamespace(
        __name__="fake_trt",
        __version__="1.0",
        Runtime=Runtime,
        Logger=Logger,
        TensorIOMode=SimpleNamespace(INPUT="input", OUTPUT="output"),
        nptype=lambda dtype: dtype,
    )
