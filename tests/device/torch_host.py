"""The device of a GPU with host memory in its place: the code of `CudaDevice`, on tensors of the CPU."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace

import torch

from evaluator.runtime.device import CudaDevice
from evaluator.runtime.engine_cache import Gpu

STREAM = 77


class TorchHost(CudaDevice):
    """Remembers how often somebody waited for the stream."""

    kind = "cpu"

    def __init__(self) -> None:
        self._torch = torch
        self._device = torch.device("cpu")
        self.waits = 0
        self._stream = SimpleNamespace(cuda_stream=STREAM, synchronize=self._wait)
        self.gpu = Gpu("host", "0.0", "none")

    def current(self) -> AbstractContextManager[object]:
        return nullcontext()

    def _wait(self) -> None:
        self.waits += 1
