"""From cases to jobs: which metric of which case, from which nodes, and the fingerprint that makes it resumable.

The plan is pure bookkeeping over digests; it opens no media and runs no model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluator.errors import ModelMissing
from evaluator.judge.prompts import load
from evaluator.judge.route import endpoint
from evaluator.judge.types import Modality
from evaluator.metrics.base import Judged, Metric
from evaluator.runner.graph import Graph, Missing, Node
from evaluator.runner.judging import NO_JUDGE, Bench
from evaluator.schema import Case, ExpertNeed, ModelRef, Need, digest, to_tree

Needs = Mapping[str, Need]


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

    metric: Metric  # held, so that no other object gets its id
    digest: str
    models: tuple[ModelRef, ...]
    roles: tuple[str, ...]  # that the metric really looks at


class Planner:
    """Makes jobs. `model_ref` gives identity and digest of the model behind an expert."""

    def __init__(
        self,
        graph: Graph,
        model_ref: Callable[[str], ModelRef],
        profile: str,
        media_version: int,
        bench: Bench = NO_JUDGE,
        packages: Mapping[str, str] | None = None,
        stand_ins: bool = True,
    ) -> None:
        self.graph = graph
        self.profile = profile
        self.bench = bench
        self._packages = packages or {}
        self._stand_ins = stand_ins
        self._model_ref = model_ref
        self._media_version = media_version
        self._templates: dict[tuple[str, int, tuple[str, ...], tuple[tuple[str, Need], ...]], _Template] = {}

    def job(self, case: Case, metric: Metric, media: Mapping[str, str]) -> Job:
        """The job of one metric of one case, given the digests of the case's files.

        Raises ModelMissing where only another metric could stand in and stand-ins are not wanted.
        """
        metric = self._servable(case, metric, media)
        template = self._template(case, metric, tuple(media))
        bound = "".join(f"\n{role}={media[role]}" for role in template.roles)
        if reads := self._reads(metric):
            bound += f"\ncase={digest({name: _said(case, name) for name in reads})}"
        fingerprint = hashlib.sha256(f"{template.digest}{bound}".encode()).hexdigest()
        return Job(case, metric, media, template.models, fingerprint)

    def _servable(self, case: Case, metric: Metric, media: Mapping[str, str]) -> Metric:
        """The metric, or what is measured in its place without a judge or because no model serves one of its needs."""
        if metric.unjudged is not None and metric.judged and not self.bench.serves(metric.judged.model):
            metric = metric.unjudged
        if metric.instead is None:
            return metric
        inputs = self._inputs(metric, metric.needs_for(case), media)
        lacking = [node.message for node in inputs.values() if isinstance(node, Missing) and node.code == "unavailable"]
        if lacking and not self._stand_ins:
            raise ModelMissing(f"{metric.id}: {lacking[0]}, and a reference model is required")
        return metric.instead if lacking else metric

    def nodes(self, job: Job) -> dict[str, Node | Missing]:
        """The inputs of a job's `compute`, by name. Without a judge, a judged metric needs no evidence either."""
        return self._inputs(job.metric, job.metric.needs_for(job.case), job.media)

    def _reads(self, metric: Metric) -> tuple[str, ...]:
        """Fields of the case that can change this metric's value. References count by what is said of them."""
        asked = metric.judged.reads if metric.judged and self.bench.serves(metric.judged.model) else ()
        return tuple(dict.fromkeys([*asked, *metric.reads]))

    def _inputs(self, metric: Metric, needs: Needs, media: Mapping[str, str]) -> dict[str, Node | Missing]:
        if metric.judged and not self.bench.serves(metric.judged.model):
            return {"judge": nobody(metric.judged.model, self.bench)}
        spared = metric.judged.for_deaf if metric.judged and self._hears(metric.judged.model) else frozenset()
        return {name: self.graph.bind(need, media) for name, need in needs.items() if name not in spared}

    def _hears(self, model: str) -> bool:
        """Whether one judge perceives pictures and sound together, so that nothing has to stand in for sound."""
        judges = self.bench.askable(model)
        return endpoint(frozenset({Modality.TEXT, Modality.VIDEO, Modality.AUDIO}), judges) is not None

    def _template(self, case: Case, metric: Metric, roles: tuple[str, ...]) -> _Template:
        of_case = tuple(metric.needs_of(case).items()) if metric.needs_of else ()
        key = (case.suite, id(metric), roles, of_case)  # a metric's own needs are many words to hash for every job
        if key not in self._templates:
            self._templates[key] = self._make_template(case.suite, metric, metric.needs_for(case), roles)
        return self._templates[key]

    def _make_template(self, suite: str, metric: Metric, needs: Needs, roles: tuple[str, ...]) -> _Template:
        """Bind the metric to the role names themselves: what comes out holds for any files in those roles."""
        named = {role: role for role in roles}
        inputs = self._inputs(metric, needs, named)
        nodes = [below for node in inputs.values() if isinstance(node, Node) for below in self.graph.closure(node)]
        models = self._models(metric, nodes)
        served = metric.judged is not None and self.bench.serves(metric.judged.model)
        judge = self._judge_facts(metric.judged) if metric.judged and served else None
        if metric.judged and served:
            models = (*models, self.bench.reference(metric.judged.model))
        facts = {
            "suite": suite,
            "metric": [metric.id, metric.version],
            "profile": self.profile,
            "media": self._media_version,
            "packages": self._packages,
            "inputs": {name: self.graph.describe_input(node) for name, node in inputs.items()},
            "models": models,
            **({"judge": judge} if judge is not None else {}),
        }
        looked_at = {name for node in nodes for name in node.files}
        return _Template(metric, digest(facts), models, tuple(role for role in roles if role in looked_at))

    def _models(self, metric: Metric, nodes: Iterable[Node]) -> tuple[ModelRef, ...]:
        """Every model below a metric; one that fills another model's place in this metric says so."""
        found: dict[str, ModelRef] = {}
        for node in nodes:
            if isinstance(node.want, ExpertNeed):
                published = metric.stands_in_for.get(node.want.capability)
                model = self._model_ref(node.expert)
                found[node.expert] = replace(model, stands_in_for=published) if published else model
        return tuple(found[expert] for expert in sorted(found))

    def _judge_facts(self, judged: Judged) -> object:
        """Everything about the asking that can change an answer: who is asked, in which words."""
        prompts = {name: load(name).sha256 for name in judged.prompts}
        asked = sorted(self.bench.askable(judged.model).items())
        judges = {name: {**to_tree(one), "modalities": sorted(one.modalities)} for name, one in asked}
        return {"judges": judges, "prompts": prompts}


def _said(case: Case, name: str) -> object:
    """Content of a field of a case. A reference is what is said of it: where its file lies says nothing."""
    tree = to_tree(getattr(case, name))
    return [{**item, "path": ""} for item in tree] if name == "references" else tree


NOBODY = Missing("no_judge", "no judge was given: --judge-url, --judge-model or --judge-replay")


def nobody(model: str, bench: Bench) -> Missing:
    """Why nobody is asked: there is no judge, or the question belongs to another network."""
    if not model:
        return NOBODY
    here = ", ".join(sorted(judge.model for judge in bench.judges.values()))
    found = f"and the judge is {here}" if here else "and no judge was given"
    return Missing("no_judge", f"only {model} may answer this, {found}; name its server with --judge-for {model}=URL")


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
    for role in case.roles:
        path = case.media(role)
        if path is not None:
            yield role, path
