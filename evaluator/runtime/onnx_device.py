"""ONNX Runtime on device memory: inputs and outputs are bound by address, on the stream of the device.

The fallback for networks that TensorRT cannot take. The same code runs with the CPU as its device, which is how it is
tested. The library falls back to the CPU by itself and says nothing; here that is an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.errors import EngineError
from evaluator.runtime import traffic
from evaluator.runtime.device import Buffer, Device, bound, checked
from evaluator.runtime.onnx import UNSAFE, not_run, not_taken
from evaluator.runtime.session import Array

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

PROVIDERS = {"cuda": "CUDAExecutionProvider", "cpu": "CPUExecutionProvider"}
_TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(uint8)": np.uint8,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
}


class BoundOnnxSession:
    """One ONNX file on one device."""

    def __init__(self, path: Path, device: Device) -> None:
        """Raises EngineError if ONNX Runtime does not take the file there, or gives another provider."""
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # a provider that is not there is reported below, once
        wanted = PROVIDERS[device.kind]
        settings = {"user_compute_stream": str(device.stream)} if device.kind == "cuda" else {}
        self.file, self._device = path.name, device
        try:
            self._session = ort.InferenceSession(
                str(path), options, providers=[(wanted, settings)], disabled_optimizers=UNSAFE
            )
        except Exception as error:  # it speaks against this device; on the CPU it is found out what is wrong
            raise EngineError(str(not_taken(path, error))) from error
        self.provider: str = self._session.get_providers()[0]
        if self.provider != wanted:
            raise EngineError(f"{path.name}: asked ONNX Runtime for {wanted}, obtained {self.provider}")
        self.inputs: Mapping[str, tuple[Sequence[int | str | None], str]] = {
            item.name: (item.shape, item.type) for item in self._session.get_inputs()
        }
        self._outputs = {item.name: item for item in self._session.get_outputs()}
        self.outputs: Sequence[str] = list(self._outputs)

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Arrays of the host or of the device in, of the host out. Raises ExpertError if an output is not finite."""
        buffers = {name: bound(self._device, array, self._dtype(name)) for name, array in feeds.items()}
        binding = self._bound(buffers)
        for name in self.outputs:
            binding.bind_output(name, "cpu")
        self._run(binding, buffers)
        found = dict(zip(self.outputs, binding.copy_outputs_to_cpu(), strict=True))
        traffic.came_down(sum(value.nbytes for value in found.values()))
        return checked(self.file, found)

    def leave(self, feeds: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
        """Run once; the named outputs, of these shapes, as tensors. Raises ExpertError if one is not finite."""
        buffers = {name: bound(self._device, array, self._dtype(name)) for name, array in feeds.items()}
        found = {name: buffer.owner for name, buffer in self.run_on_device(buffers, shapes).items()}
        return checked(self.file, found)

    def run_on_device(self, feeds: Mapping[str, Buffer], shapes: Mapping[str, Sequence[int]]) -> dict[str, Buffer]:
        """Device buffers in and out, for outputs whose shapes the caller knows."""
        binding = self._bound(feeds)
        found = {name: self._device.empty(shapes[name], np.dtype(_TYPES[self._outputs[name].type])) for name in shapes}
        for name, buffer in found.items():
            binding.bind_output(name, self._device.kind, 0, buffer.dtype.type, list(buffer.shape), buffer.address)
        self._run(binding, feeds)
        return found

    def _run(self, binding: Any, feeds: Mapping[str, Buffer]) -> None:
        """Raises NetworkError if the library cannot run the network on these inputs."""
        try:
            self._session.run_with_iobinding(binding)
        except Exception as error:  # the library's errors have no base of their own
            raise not_run(self.file, self.inputs, feeds, error) from error

    def _dtype(self, name: str) -> np.dtype[Any]:
        if name not in self.inputs:
            raise EngineError(f"{self.file}: no input {name}; there are {', '.join(self.inputs)}")
        return np.dtype(_TYPES[self.inputs[name][1]])

    def _bound(self, feeds: Mapping[str, Buffer]) -> Any:
        binding = self._session.io_binding()
        for name, buffer in feeds.items():
            binding.bind_input(name, self._device.kind, 0, buffer.dtype.type, list(buffer.shape), buffer.address)
        return binding
