"""What the networks alone cost: every call of a run is counted, then one of each kind is repeated on ready tensors.

A kind is a network with one set of input shapes. On a CPU the time is the thread's, on a GPU the wall's: its sessions
return when their numbers are there. Multiplications are counted from the shapes that ONNX Runtime reports
for the unoptimised graph of that same call, so the work is the published network's, however it was run.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from evaluator.runtime.arrays import is_host
from evaluator.runtime.backends import Fallback, Network, Opens
from evaluator.runtime.contract import DescribesOutputs
from evaluator.runtime.onnx import OnnxSession, inference_session, session_options
from evaluator.runtime.session import Array, OnDevice, Session

REPEATS = 3
Clock = Callable[[], float]
Call = Callable[[Mapping[str, Array]], object]
Shapes = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(slots=True)
class Calls:
    """The calls of one kind: how many, their seconds in the run, the tensors of the first, and how it was made."""

    path: Path
    call: Call
    feeds: Mapping[str, Array]
    clock: Clock
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
        """Seconds of all calls, had each taken what a repetition on the ready tensors takes (median).

        Never more than they took in the run: when the machine gets slower meanwhile, a limit must not look nearer.
        """
        repeated = statistics.median(self._timed() for _ in range(repeats))
        return min(self.seconds, self.count * repeated)

    def gflop(self) -> float:
        """Floating-point operations of all calls in units of 10^9; two per multiplication of a weight or a product."""
        return self.count * 2 * multiplications(self.path, self.feeds) / 1e9

    def _timed(self) -> float:
        start = self.clock()
        self.call(self.feeds)
        return self.clock() - start


@dataclass(slots=True)
class Ledger:
    """All calls of a run. `open` is the opener to give to a store; safe for several threads."""

    clock: Clock = time.thread_time
    calls: dict[tuple[Path, Shapes], Calls] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, path: Path) -> Session:
        """A session on the CPU that writes its calls down here."""
        return self.counted(OnnxSession(path), path)

    def counted(self, session: Session, path: Path) -> Session:
        """Any session, its calls written down here."""
        return (_CountedOnDevice if isinstance(session, OnDevice) else _Counted)(session, path, self)

    def timed(self, path: Path, feeds: Mapping[str, Array], call: Call) -> Any:
        """Make a call and write it down."""
        start = self.clock()
        found = call(feeds)
        self._add(path, feeds, call, self.clock() - start)
        return found

    def _add(self, path: Path, feeds: Mapping[str, Array], call: Call, seconds: float) -> None:
        kind = (path, tuple((name, tuple(value.shape)) for name, value in feeds.items()))
        with self._lock:
            if kind not in self.calls:
                self.calls[kind] = Calls(path, call, {name: _copy(value) for name, value in feeds.items()}, self.clock)
            self.calls[kind].count += 1
            self.calls[kind].seconds += seconds


def _copy(array: Any) -> Any:
    return array.copy() if is_host(array) else array.clone()


class _Counted:
    """A session whose calls are counted."""

    def __init__(self, session: Any, path: Path, ledger: Ledger) -> None:
        self._session, self._path, self._ledger = session, path, ledger
        self.provider: str = session.provider
        self.inputs, self.outputs = session.inputs, session.outputs
        if isinstance(session, DescribesOutputs):
            self.output_types = session.output_types

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """As the session does."""
        found: dict[str, Array] = self._ledger.timed(self._path, feeds, self._session.run)
        return found


class _CountedOnDevice(_Counted):
    """One that can leave its outputs on its device."""

    def leave(self, feeds: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
        """As the session does."""
        call = partial(self._session.leave, shapes=shapes)
        found: dict[str, Any] = self._ledger.timed(self._path, feeds, call)
        return found


@dataclass(slots=True)
class CountedBackends:
    """The backends of a device, the calls of their sessions written down."""

    backends: Opens
    ledger: Ledger

    @property
    def fallbacks(self) -> list[Fallback]:
        """As the backends tell."""
        return self.backends.fallbacks

    def open(self, network: Network) -> Session:
        """As the backends do."""
        return self.ledger.counted(self.backends.open(network), network.path)


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
