"""What has to be computed, once each: needs of metrics become nodes of a graph, keyed by content.

A node is a request bound to media digests instead of roles: the same request on the same bytes is the same node,
whichever case, system or role it came from. This module computes nothing and opens nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from evaluator.experts.base import Expert, StreamingExpert
from evaluator.metrics.gates import GATES
from evaluator.schema import AudioView, ClipNeed, ExpertNeed, Need, View


@dataclass(frozen=True, slots=True)
class Node:
    """One thing to compute. `media` pairs each role that the request names with the digest of its file."""

    want: View | AudioView | ExpertNeed | None  # None: the facts of the clip
    media: tuple[tuple[str, str], ...]
    expert: str = ""

    @property
    def files(self) -> frozenset[str]:
        """Digests of the files that it looks at."""
        return frozenset(digest for _, digest in self.media)


@dataclass(frozen=True, slots=True)
class Missing:
    """A need that cannot become a node, and the record that says why."""

    code: str
    message: str


Experts = Callable[[str], Expert | Missing]
"""Capability -> the expert that serves it in this run, or why there is none."""


def bind(need: Need, media: Mapping[str, str], experts: Experts) -> Node | Missing:
    """The node of one need, given which file plays which role."""
    roles = need.roles if isinstance(need, ExpertNeed) else (need.role,)
    for role in roles:
        if role not in media:
            return Missing("not_applicable", f"the case names no {role} clip")
    if isinstance(need, ExpertNeed):
        expert = experts(need.capability)
        if isinstance(expert, Missing):
            return expert
        return _expert_node(need, tuple(media[role] for role in roles), expert)
    want = None if isinstance(need, ClipNeed) else need.view
    return Node(want, (("video", media[need.role]),))


def _expert_node(need: ExpertNeed, files: tuple[str, ...], expert: Expert) -> Node:
    roles = need.roles if len(need.roles) > 1 else ("video",)  # a lone clip has no role of its own
    return Node(replace(need, roles=roles), tuple(zip(roles, files, strict=True)), expert.id)


REMEMBERED = 50_000
"""Nodes whose inputs are kept in memory, so that a manifest of any length needs the same."""

Children = dict[str, Node | Missing]
"""What one node is computed from, by name."""


class Graph:
    """Nodes of a run with their inputs, found by following `Expert.needs` and the gates of needs."""

    def __init__(self, experts: Experts, by_id: Callable[[str], Expert]) -> None:
        self._experts = experts
        self._by_id = by_id
        self._below: dict[Node, tuple[Children, Children]] = {}

    def bind(self, need: Need, media: Mapping[str, str]) -> Node | Missing:
        """The node of a need, given which file plays which role."""
        return bind(need, media, self._experts)

    def inputs(self, node: Node) -> Children:
        """What `node` is computed from, by the names that its expert gave."""
        return self._found(node)[1]

    def conditions(self, node: Node) -> Children:
        """What the gate of `node` looks at, by the names that the gate gave; empty if it has none."""
        return self._found(node)[0]

    def _found(self, node: Node) -> tuple[Children, Children]:
        """(conditions, inputs)"""
        found = self._below.get(node)
        if found is None:
            found = self._find(node)
            if len(self._below) >= REMEMBERED:
                self._below.clear()
            self._below[node] = found
        return found

    def _find(self, node: Node) -> tuple[Children, Children]:
        if not isinstance(node.want, ExpertNeed):
            return {}, {}
        expert = self._by_id(node.expert)
        if node.want.when and (isinstance(expert, StreamingExpert) or len(node.media) > 1):
            raise ValueError(f"{node.want}: no gate is known while frames pass, or for two clips at once")
        gate = GATES[node.want.when].needs if node.want.when else {}
        return self._bound(gate, node), self._bound(expert.needs(node.want), node)

    def _bound(self, needs: Mapping[str, Need], node: Node) -> Children:
        return {name: bind(need, dict(node.media), self._experts) for name, need in needs.items()}

    def closure(self, node: Node) -> list[Node]:
        """`node` and everything below it, inputs before users, each once."""
        order: dict[Node, None] = {}
        for child in (*self.conditions(node).values(), *self.inputs(node).values()):
            if isinstance(child, Node):
                order.update(dict.fromkeys(self.closure(child)))
        order[node] = None
        return list(order)

    def resident(self, nodes: Iterable[Node]) -> set[Node]:
        """Views among the inputs of `nodes` that an expert can take in device memory."""
        experts = [node for node in nodes if node.expert and self._by_id(node.expert).on_device]
        inputs = (child for node in experts for child in self.inputs(node).values())
        return {child for child in inputs if isinstance(child, Node) and isinstance(child.want, View)}

    def describe(self, node: Node) -> object:
        """How `node` is computed, as a plain tree: views, samplings, options, expert versions, and files by name."""
        expert = self._by_id(node.expert) if node.expert else None
        watched = expert.view(node.want) if isinstance(expert, StreamingExpert) else None  # type: ignore[arg-type]
        conditions = {name: self.describe_input(child) for name, child in self.conditions(node).items()}
        return {
            "want": node.want,
            "media": node.media,
            "expert": [expert.id, expert.version] if expert else None,
            "watched": watched,
            "inputs": {name: self.describe_input(child) for name, child in self.inputs(node).items()},
            **({"conditions": conditions} if conditions else {}),
        }

    def describe_input(self, child: Node | Missing) -> object:
        """The same for an input that may be missing."""
        return self.describe(child) if isinstance(child, Node) else {"missing": child.code}
