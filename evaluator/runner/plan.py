"""From cases to jobs: which metric of which case, from which nodes, and the fingerprint that makes it resumable.

The plan is pure bookkeeping over digests; it opens no media and runs no model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluator.metrics.base import Metric
from evaluator.runner.graph import Graph, Missing, Node
from evaluator.schema import Case, ModelRef, digest

ROLES = ("video", "source")


@dataclass(frozen=True, slots=True)
class Job:
    """One line of scores.jsonl to be: one metric of one case."""

    case: Case
    metric: Metric
    media: Mapping[str, str]  # role -> SHA-256 of the file, for the roles that the case fills
    models: tuple[ModelRef, ...]
    fingerprint: str

    @property
    def key(self) -> tuple[str, str]:
        """(case id, metric id)."""
        return self.case.id, self.metric.id


@dataclass(frozen=True, slots=True)
class _Template:
    """What is equal for a metric in every case that fills the same roles."""

    digest: str
    models: tuple[ModelRef, ...]
    roles: tuple[str, ...]  # that the metric really looks at


class Planner:
    """Makes jobs. `model_ref` gives identity and digest of the model behind an expert."""

    def __init__(self, graph: Graph, model_ref: Callable[[str], ModelRef], profile: str, media_version: int) -> None:
        self.graph = graph
        self.profile = profile
        self._model_ref = model_ref
        self._media_version = media_version
        self._templates: dict[tuple[str, str, tuple[str, ...]], _Template] = {}

    def job(self, case: Case, metric: Metric, media: Mapping[str, str]) -> Job:
        """The job of one metric of one case, given the digests of the case's files."""
        template = self._template(case.suite, metric, tuple(media))
        bound = "".join(f"\n{role}={media[role]}" for role in template.roles)
        fingerprint = hashlib.sha256(f"{template.digest}{bound}".encode()).hexdigest()
        return Job(case, metric, media, template.models, fingerprint)

    def nodes(self, job: Job) -> dict[str, Node | Missing]:
        """The inputs of a job's `compute`, by name."""
        return {name: self.graph.bind(need, job.media) for name, need in job.metric.needs.items()}

    def _template(self, suite: str, metric: Metric, roles: tuple[str, ...]) -> _Template:
        key = (suite, metric.id, roles)
        if key not in self._templates:
            self._templates[key] = self._make_template(suite, metric, roles)
        return self._templates[key]

    def _make_template(self, suite: str, metric: Metric, roles: tuple[str, ...]) -> _Template:
        """Bind the metric to the role names themselves: what comes out holds for any files in those roles."""
        named = {role: role for role in roles}
        inputs = {name: self.graph.bind(need, named) for name, need in metric.needs.items()}
        nodes = [below for node in inputs.values() if isinstance(node, Node) for below in self.graph.closure(node)]
        used = sorted({node.expert for node in nodes if node.expert})
        models = tuple(self._model_ref(expert) for expert in used)
        facts = {
            "suite": suite,
            "metric": [metric.id, metric.version],
            "profile": self.profile,
            "media": self._media_version,
            "inputs": {name: self.graph.describe_input(node) for name, node in inputs.items()},
            "models": models,
        }
        looked_at = {name for node in nodes for name in node.files}
        return _Template(digest(facts), models, tuple(role for role in roles if role in looked_at))


def by_source(cases: Sequence[Case]) -> list[list[Case]]:
    """Cases in groups that share a source clip (or, without one, the clip itself), in order of first appearance."""
    groups: dict[Path, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.source or case.video, []).append(case)
    return list(groups.values())


def shard(cases: Sequence[Case], index: int, count: int) -> list[Case]:
    """Part `index` (counted from 1) of `count`: whole source groups, dealt out in turn, in manifest order."""
    mine = {case.id for group in by_source(cases)[index - 1 :: count] for case in group}
    return [case for case in cases if case.id in mine]


def media_of(case: Case) -> Iterator[tuple[str, Path]]:
    """(role, path) of every file that a case names for metrics."""
    for role in ROLES:
        path = case.media(role)
        if path is not None:
            yield role, path
