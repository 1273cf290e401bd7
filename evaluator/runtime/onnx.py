"""ONNX Runtime behind the Session protocol: one thread, no spinning, no telemetry, and the provider that was asked for.

Telemetry: from version 1.29 the library resolves a vendor host and writes a device id unless `ORT_DISABLE_TELEMETRY` is
set before it is imported. It is set here, in the only module that imports the library.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.errors import ExpertError, NetworkError, PrerequisiteError
from evaluator.runtime.arrays import Array, to_host

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

CPU = "CPUExecutionProvider"
INSTEAD = "export the model again by its contract in models.lock.json, or take the file out of the models folder"
"""What to do about a network that the library does not take."""
REASON = 150
"""Characters from either end of what the library says that are repeated."""
Signature = tuple[Sequence[int | str | None], str]
"""(shape, element type) of an input or an output."""
UNSAFE = ("MatmulTransposeFusion",)
"""Rearrangements that ONNX Runtime must not try. This one turns Transpose, Cast, MatMul, the last two of which it may
itself have put into a float16 file, into nodes over which the next one, into blocked channels, ends the process with a
segmentation fault (microsoft/onnxruntime#28392, still in 1.32). No number of an embedded model depends on it.
"""


def session_options() -> Any:
    """Fresh options of a session on the CPU.

    One intra-op thread: the same sums in the same order whatever the machine does; workers, not kernels, use the cores.
    """
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False  # an arena per model keeps its peak for ever: 1.3 GB against 0.6 GB
    options.log_severity_level = 3
    return options


def inference_session(path: Path, options: Any, provider: str = CPU) -> Any:
    """The library's own session. A file of any precision may be refused, but must not end the process: see UNSAFE.

    Raises NetworkError for a file that the library does not take.
    """
    import onnxruntime as ort

    try:
        return ort.InferenceSession(str(path), options, providers=[provider], disabled_optimizers=UNSAFE)
    except Exception as error:  # the library's errors have no base of their own
        raise not_taken(path, error) from error


def not_taken(path: Path, error: Exception) -> NetworkError:
    """What is said of a file that the library does not open."""
    import onnxruntime as ort

    said = _said(error).replace(str(path), path.name)
    expected = f"expected an ONNX file that ONNX Runtime {ort.__version__} can run"
    return NetworkError(f"{path.name}: {expected}, it says: {said}; {INSTEAD}")


def not_run(file: str, inputs: Mapping[str, Signature], feeds: Mapping[str, Any], error: Exception) -> NetworkError:
    """What is said of a network that does not run on what it was given, which its inputs seemed to allow."""
    expected = ", ".join(f"{name} {_sizes(shape)}" for name, (shape, _) in inputs.items())
    given = ", ".join(f"{name} {_sizes(array.shape)}" for name, array in feeds.items())
    return NetworkError(f"{file}: takes {expected}, cannot run on {given}; it says: {_said(error)}; {INSTEAD}")


def _sizes(shape: Sequence[int | str | None]) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def _said(error: Exception) -> str:
    """The library's words, in one line of a bounded length: in the middle of a long one are signatures of its own."""
    words = " ".join(str(error).split())
    return words if len(words) <= 2 * REASON else f"{words[:REASON]} ... {words[-REASON:]}"


class OnnxSession:
    """One ONNX file on the CPU."""

    def __init__(self, path: Path, provider: str = CPU) -> None:
        """Raises NetworkError for a file that the library does not take, PrerequisiteError for another provider."""
        self.file = path.name
        self._session = inference_session(path, session_options(), provider)
        self.provider: str = self._session.get_providers()[0]
        if self.provider != provider:  # the library falls back to the CPU and says nothing
            raise PrerequisiteError(f"{path.name}: asked ONNX Runtime for {provider}, obtained {self.provider}")
        self.inputs: Mapping[str, Signature] = {
            item.name: (item.shape, item.type) for item in self._session.get_inputs()
        }
        self.output_types: Mapping[str, Signature] = {
            item.name: (item.shape, item.type) for item in self._session.get_outputs()
        }
        self.outputs: Sequence[str] = list(self.output_types)

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run once. Raises ExpertError if an output is not finite, NetworkError if the library cannot run it."""
        given = {name: to_host(array) for name, array in feeds.items()}
        try:
            computed = self._session.run(None, given)
        except Exception as error:  # the library's errors have no base of their own
            raise not_run(self.file, self.inputs, given, error) from error
        found = dict(zip(self.outputs, computed, strict=True))
        for name, value in found.items():
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                raise ExpertError(f"{self.file}: output {name} is not finite")
        return found
