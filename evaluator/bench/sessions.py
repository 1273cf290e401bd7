"""What the networks alone cost: every call of a run is counted, then one of each kind is repeated on ready tensors.

A kind is a network with one set of input shapes. Multiplications are counted from the shapes that ONNX Runtime reports
for the unoptimised graph of that same call, so the work is the published network's, however it was run.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from evaluator.runtime.onnx import OnnxSession, inference_session, session_options
from evaluator.runtime.session import Array, Session

REPEATS = 3
Shapes = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(slots=True)
class Calls:
    """The calls of one kind: how many, their CPU seconds in the run, and the tensors of the first."""

    path: Path
    session: Session
    feeds: Mapping[str, Array]
    count: int = 0
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """Model and file."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def items(self) -> int:
        """Rows of the first input that were computed in all calls."""
        shape = next(iter(self.feeds.values())).shape
        return self.count * (shape[0] if shape else 1)

    def ready(self, repeats: int = REPEATS) -> float:
        """CPU seconds of all calls, had each taken what a repetition on the ready tensors takes (median).

        Never more than they took in the run: when the machine gets slower meanwhile, a limit must not look nearer.
        """
        repeated = statistics.median(_timed(self.session, self.feeds) for _ in range(repeats))
        return min(self.seconds, self.count * repeated)

    def gflop(self) -> float:
        """Floating-point operations of all calls in units of 10^9; two per multiplication of a weight or a product."""
        return self.count * 2 * multiplications(self.path, self.feeds) / 1e9


@dataclass(slots=True)
class Ledger:
    """All calls of a run. `open` is the opener to give to a store; safe for several threads."""

    calls: dict[tuple[Path, Shapes], Calls] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, path: Path) -> Session:
        """A session that writes its calls down here."""
        return _Counted(OnnxSession(path), path, self)

    def add(self, path: Path, session: Session, feeds: Mapping[str, Array], seconds: float) -> None:
        """Write down one call."""
        kind = (path, tuple((name, value.shape) for name, value in feeds.items()))
        with self._lock:
            if kind not in self.calls:
                self.calls[kind] = Calls(path, session, {name: value.copy() for name, value in feeds.items()})
            self.calls[kind].count += 1
            self.calls[kind].seconds += seconds


class _Counted:
    """A session whose calls are counted."""

    def __init__(self, session: OnnxSession, path: Path, ledger: Ledger) -> None:
        self._session, self._path, self._ledger = session, path, ledger
        self.provider = session.provider
        self.inputs, self.outputs, self.output_types = session.inputs, session.outputs, session.output_types

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """As the session does."""
        start = time.thread_time()
        found = self._session.run(feeds)
        self._ledger.add(self._path, self._session, feeds, time.thread_time() - start)
        return found


def _timed(session: Session, feeds: Mapping[str, Array]) -> float:
    start = time.thread_time()
    session.run(feeds)
    return time.thread_time() - start


# ---------------------------------------------------------------------------------------------- multiplications


def multiplications(path: Path, feeds: Mapping[str, Array]) -> float:
    """Multiplications in the convolutions, matrix products and LSTMs of one call."""
    return sum(_of_node(node["args"]) for node in _trace(path, feeds))


def _trace(path: Path, feeds: Mapping[str, Array]) -> list[dict[str, Any]]:
    """One event per operator that ran in one call of the unoptimised network, with its shapes."""
    import onnxruntime as ort

    options = session_options()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_prepacking", "1")  # a packed weight has no shape to report
    options.enable_profiling = True
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = f"{folder}/trace"
        session = inference_session(path, options)
        session.run(None, dict(feeds))
        events = orjson.loads(Path(session.end_profiling()).read_bytes())
    return [event for event in events if event["cat"] == "Node" and event["name"].endswith("_kernel_time")]


def _of_node(facts: Mapping[str, Any]) -> float:
    """Multiplications of one operator; 0 for one that does arithmetic per element only."""
    inputs, outputs = _shapes(facts["input_type_shape"]), _shapes(facts["output_type_shape"])
    operator = facts["op_name"]
    if operator == "Conv":
        return math.prod(outputs[0]) * math.prod(inputs[1][1:])
    if operator == "ConvTranspose":
        return math.prod(inputs[0]) * math.prod(inputs[1][1:])
    if operator in {"MatMul", "Gemm"}:
        return math.prod(outputs[0]) * math.prod(inputs[0]) / math.prod(_rows(inputs[0], outputs[0], operator))
    if operator == "LSTM":  # per time step and row: input and recurrent weights
        steps, rows, _ = inputs[0]
        return steps * rows * (math.prod(inputs[1]) + math.prod(inputs[2]))
    return 0.0


def _shapes(listed: Iterable[Mapping[str, list[int]]]) -> list[list[int]]:
    return [shape for item in listed for shape in item.values()]


def _rows(left: list[int], product: list[int], operator: str) -> list[int]:
    """The axes of the left factor that the product keeps: all but the one that is summed over."""
    if operator == "Gemm" and left[0] != product[0]:  # stored the other way round
        return left[1:]
    return left[:-1]
