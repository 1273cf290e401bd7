"""One media file, once: probe it, decode it in one pass for everybody, run the experts that look at it alone.

The result is a dictionary from node to value; a value that could not be made is an `Absent`. Nothing here knows cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from evaluator.experts.base import Expert, StreamingExpert
from evaluator.media.decode import CollectTap
from evaluator.media.probe import probe
from evaluator.media.reading import Reading
from evaluator.media.types import ClipInfo, FrameChunk, Frames, FrameTap
from evaluator.metrics.gates import GATES
from evaluator.runner.equipment import CPU, Equipment
from evaluator.runner.graph import Graph, Missing, Node
from evaluator.runner.outcome import Absent, attempt, skipped
from evaluator.runner.telemetry import Telemetry
from evaluator.runtime.arrays import is_host, to_host
from evaluator.runtime.traffic import handed_out
from evaluator.schema import AudioView, ExpertNeed, Reason, Status, View

Values = dict[Node, Any]
MakeTap = Callable[[ClipInfo], FrameTap]


class GuardedTap:
    """A tap whose failure stays its own: the pass goes on for the others. Its time is charged to its expert."""

    def __init__(
        self,
        make: MakeTap,
        clip: ClipInfo,
        telemetry: Telemetry,
        stage: str,
        on_device: bool = False,
        account: str = "",
    ) -> None:
        self.on_device = on_device
        self.account = account or stage
        self._make = make
        self._telemetry = telemetry
        self._stage = stage
        self._tap: FrameTap | Absent
        self.restart(clip)

    def restart(self, clip: ClipInfo) -> None:
        """Begin again: decoding found other frames than the packet table promised."""
        self._tap = attempt(lambda: self._make(clip))

    def push(self, chunk: FrameChunk) -> None:
        """Pass a chunk on, unless the tap has failed."""
        tap = self._tap
        if isinstance(tap, Absent):
            return
        with self._telemetry.stage(self._stage):
            failure = attempt(lambda: tap.push(chunk))
        if isinstance(failure, Absent):
            self._tap = failure

    def close(self) -> object:
        """What the tap made, or why it made nothing."""
        tap = self._tap
        if isinstance(tap, Absent):
            return tap
        with self._telemetry.stage(self._stage):
            return attempt(tap.close)


class MediaUnit:
    """Computes all nodes that look at one file."""

    def __init__(
        self, graph: Graph, by_id: Callable[[str], Expert], telemetry: Telemetry, equipment: Equipment = CPU
    ) -> None:
        self._decoder = equipment.decode
        self._graph = graph
        self._by_id = by_id
        self._telemetry = telemetry

    def compute(self, path: Path, nodes: Sequence[Node], resident: AbstractSet[Node] = frozenset()) -> Values:
        """Values of `nodes` (inputs before users). A file that cannot be read makes every value absent.

        Pictures of the views in `resident` stay on the device if the decoder can leave them there.
        """
        self._telemetry.count("files_opened")
        with Reading(path) as file:
            with self._telemetry.stage("probe"):
                info = attempt(lambda: probe(file))
            if isinstance(info, Absent):
                return dict.fromkeys(nodes, placeless(info, path))
            if info.video is not None and info.video.indexed_by == "decode":
                self._telemetry.count("index_passes")  # the packet table could not be trusted: counted by decoding
            values = self._decode(file, info, nodes, resident)
        for node in nodes:
            if node not in values:
                values[node] = self.run(node, values)
        return {node: placeless(value, path) for node, value in values.items()}

    def run(self, node: Node, values: Mapping[Node, Any]) -> Any:
        """Run the expert of a node on values that exist already, unless its gate is shut."""
        want, expert = node.want, self._by_id(node.expert)
        assert isinstance(want, ExpertNeed)  # noqa: S101  (only experts are left once a file is decoded)
        shut = self._shut(node, want.when, values) if want.when else None
        inputs = shut or _given(self._graph.inputs(node), values)
        if isinstance(inputs, Absent):
            return inputs
        with self._telemetry.stage(f"expert/{node.expert}"):
            if expert.on_device:
                for frames in filter(_lies_on_device, inputs.values()):
                    handed_out(len(frames.data), on_device=True)
            else:
                inputs = {name: hosted(value) for name, value in inputs.items()}
            return attempt(partial(expert.run, want, inputs))

    def _shut(self, node: Node, gate: str, values: Mapping[Node, Any]) -> Absent | None:
        """Why the gate of a node is shut for this clip; None if it is open."""
        seen = _given(self._graph.conditions(node), values)
        found = seen if isinstance(seen, Absent) else attempt(partial(GATES[gate].require, **seen))
        return found if isinstance(found, Absent) else None

    def _decode(self, file: Reading, info: ClipInfo, nodes: Sequence[Node], resident: AbstractSet[Node]) -> Values:
        """One pass: pictures, sounds and the facts of the clip."""
        values: Values = {}
        watching = [node for node in nodes if self._watches(node)]
        sounds = {node: node.want for node in nodes if isinstance(node.want, AudioView)}
        for kind, code, message in info.damaged:  # the other stream's scores must not suffer
            damage = Absent(Status.FAILED, Reason(code, message))
            values |= dict.fromkeys(watching if kind == "video" else list(sounds), damage)
        watching = [node for node in watching if node not in values]
        sounds = {node: view for node, view in sounds.items() if node not in values}
        if info.video is None:
            values |= dict.fromkeys(watching, _no_stream("video"))
            watching = []
        if info.audio is None:
            silent = [node for node, view in sounds.items() if view.missing == "skip"]
            values |= dict.fromkeys(silent, _no_stream("audio"))
            sounds = {node: view for node, view in sounds.items() if node not in values}
        found = attempt(lambda: self._pass(file, info, watching, sounds, resident))
        if isinstance(found, Absent):
            values |= dict.fromkeys([*watching, *sounds], found)
        else:
            values |= found[0]
            info = found[1]
        return values | {node: info for node in nodes if node.want is None}

    def _pass(
        self,
        file: Reading,
        info: ClipInfo,
        watching: Sequence[Node],
        sounds: Mapping[Node, AudioView],
        resident: AbstractSet[Node],
    ) -> tuple[Values, ClipInfo]:
        """Decode for every node that watches or listens; the facts of the clip as decoding found them."""
        if not watching and not sounds:
            return {}, info
        taps = {node: self._tap(node, info, node in resident) for node in watching}
        with self._telemetry.stage("decode"):
            audio, report = self._decoder(file, info, list(taps.values()), list(dict.fromkeys(sounds.values())))
        self._telemetry.count("decode_passes", report.passes)
        self._telemetry.count("frames_decoded", report.frames_decoded)
        self._telemetry.count("frames_converted", report.frames_converted)
        for note in report.notes:
            self._telemetry.event("decode_note", "warning", file=file.path, note=note)
        lost = {view: _why(error) for view, error in report.lost.items()}
        pictures = {node: lost[view] if view in lost else tap.close() for node, (view, tap) in taps.items()}
        heard = {node: lost[view] if view in lost else audio[view] for node, view in sounds.items()}
        return {**pictures, **heard}, report.clip or info

    def _tap(self, node: Node, info: ClipInfo, resident: bool) -> tuple[View, GuardedTap]:
        view, make = self._watch(node)
        if node.expert:
            stays = self._by_id(node.expert).on_device
            return view, GuardedTap(make, info, self._telemetry, f"expert/{node.expert}", stays)
        account = f"view/{view.fit} {view.width}x{view.height} {view.colour}"
        return view, GuardedTap(make, info, self._telemetry, "collect", resident, account)

    def _watches(self, node: Node) -> bool:
        streaming = bool(node.expert) and isinstance(self._by_id(node.expert), StreamingExpert)
        return streaming or isinstance(node.want, View)

    def _watch(self, node: Node) -> tuple[View, MakeTap]:
        """The view to decode for a node, and how to make its tap."""
        if isinstance(node.want, View):
            return node.want, CollectTap
        expert, want = self._by_id(node.expert), node.want
        assert isinstance(expert, StreamingExpert)  # noqa: S101  (`_watches` said so)
        assert isinstance(want, ExpertNeed)  # noqa: S101
        return expert.view(want), lambda info: expert.tap(want, info)


def _given(children: Mapping[str, Node | Missing], values: Mapping[Node, Any]) -> dict[str, Any] | Absent:
    """The values of what a node is computed from, by name; or the first that is not there."""
    given: dict[str, Any] = {}
    for name, child in children.items():
        value = values[child] if isinstance(child, Node) else skipped(child)
        if isinstance(value, Absent):
            return value
        given[name] = value
    return given


def hosted(value: Any) -> Any:
    """The same value for somebody who reads pictures on the host."""
    return replace(value, data=to_host(value.data)) if _lies_on_device(value) else value


def _lies_on_device(value: Any) -> bool:
    return isinstance(value, Frames) and not is_host(value.data)


def placeless(value: Any, path: Path) -> Any:
    """The same value; a message names the file without its folder: records must not depend on where it lies."""
    if not isinstance(value, Absent):
        return value
    reason = Reason(value.reason.code, value.reason.message.replace(str(path), path.name))
    return Absent(value.status, reason, value.trace)


def _why(error: Exception) -> Absent:
    """A failure that decoding kept, as a value. A prerequisite that is missing is raised."""

    def fail() -> Absent:
        raise error

    return attempt(fail)


def _no_stream(kind: str) -> Absent:
    return Absent(Status.SKIPPED, Reason("not_applicable", f"the clip has no {kind} stream"))
