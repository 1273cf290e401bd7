"""One run from a loaded manifest to its files: select, plan, resume, score, write, account.

The only module that knows the order of these steps. It prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import evaluator.media
from evaluator.errors import OutputError, PrerequisiteError
from evaluator.manifest import Manifest
from evaluator.runner import header as run_header
from evaluator.runner import prom
from evaluator.runner.engine import Engine, Work
from evaluator.runner.equipment import Equipment, equipment
from evaluator.runner.experts import ExpertPool
from evaluator.runner.graph import Graph
from evaluator.runner.header import RunHeader, RunStatus
from evaluator.runner.judging import NO_JUDGE, Bench, judging
from evaluator.runner.options import RunOptions
from evaluator.runner.plan import Job, Planner, by_source, media_of
from evaluator.runner.selection import asked_models, check_choices, chosen_metrics, prepared, select
from evaluator.runner.telemetry import Progress, Telemetry
from evaluator.runner.writer import SCORES, Key, Record, ScoreWriter, locked, read_records, write_in_order
from evaluator.runtime.digests import Stamp, stamp
from evaluator.runtime.store import Store
from evaluator.schema import Case, Score, Status, to_tree

if TYPE_CHECKING:
    from evaluator.runner.on_ray import RayEngine

LOG = "log.jsonl"


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run left behind."""

    status: RunStatus
    scores: tuple[Score, ...]  # in manifest order
    reused: int  # of them, found finished
    jobs: tuple[Job, ...]  # all jobs of the selection, in manifest order


@dataclass(frozen=True, slots=True)
class Plan:
    """All jobs of a selection, in manifest order, and everything that is needed to do them."""

    jobs: tuple[Job, ...]
    paths: Mapping[str, Path]
    stamps: Mapping[str, Stamp]
    store: Store
    pool: ExpertPool
    planner: Planner
    equipment: Equipment
    elsewhere: dict[str, str] = field(default_factory=dict)  # `ExpertPool.backends` of other processes, as they tell


def run(manifest: Manifest, store: Store, options: RunOptions, tools: Equipment | None = None) -> RunResult:
    """Score a manifest. Raises UsageError, OutputError or PrerequisiteError; one clip's trouble becomes a record.

    `tools` are taken in place of those of `options.device`. KeyboardInterrupt passes through once everything that was
    finished is on disk.
    """
    if options.engine == "ray":
        from evaluator.runner.on_ray import installed

        installed()
    cases = prepared(select(manifest.cases, options), manifest.cases)
    check_choices(cases, options, manifest.cases)
    if options.dry_run:
        return RunResult(RunStatus.SUCCESS, (), 0, make_plan(cases, store, options, tools=tools).jobs)
    with ExitStack() as stack:
        stack.enter_context(locked(options.out))
        shown = asked_models(cases, options)
        bench = stack.enter_context(judging(options.judge.needed(shown), options.out, shown))
        plan = make_plan(cases, store, options, bench, tools)
        telemetry = Telemetry(options.out / LOG)
        stack.callback(telemetry.close)
        done = finished(options, plan.jobs)
        header = _header(manifest, store, options, plan)
        header.write(options.out)
        return _score(plan, done, options, header, telemetry)


def make_plan(
    cases: Sequence[Case],
    store: Store,
    options: RunOptions,
    bench: Bench = NO_JUDGE,
    tools: Equipment | None = None,
    pool: ExpertPool | None = None,
) -> Plan:
    """All jobs of the selection. Hashes each file once (cached) and resolves each capability once per `pool`."""
    tools = tools or equipment(options.device)
    if tools.backends is not None:
        store.use(tools.backends)
    pool = pool or ExpertPool(store, options.require_reference)
    graph = Graph(pool.serve, pool.by_id)
    packages, stand_ins = {**run_header.packages(), **tools.identity}, not options.require_reference
    planner = Planner(
        graph, pool.model_ref, options.profile, evaluator.media.VERSION, bench, packages, stand_ins=stand_ins
    )
    jobs: list[Job] = []
    paths: dict[str, Path] = {}
    stamps: dict[str, Stamp] = {}
    progress = Progress(len(cases), quiet=options.quiet, what="cases read")
    with closing(progress), store.digests.together():
        for case in cases:
            media = {role: media_digest(store, path, f"{case.id} {role}") for role, path in media_of(case)}
            for role, path in media_of(case):
                if media[role] not in paths and (seen := stamp(path)) is not None:
                    stamps[media[role]] = seen
                paths.setdefault(media[role], path)
            chosen = chosen_metrics(case, options.metrics, options.profile)
            jobs += [planner.job(case, metric, media) for metric in chosen]
            progress.advance()
    return Plan(tuple(jobs), paths, stamps, store, pool, planner, tools)


def media_digest(store: Store, path: Path, use: str) -> str:
    """SHA-256 of a clip. One that cannot be read is named by its use instead; opening it will say what is wrong."""
    try:
        return store.digests.sha256(path)
    except PrerequisiteError:
        return f"unreadable {use}"


def finished(options: RunOptions, jobs: Iterable[Job]) -> dict[Key, Record]:
    """Records of an earlier run that still hold: same fingerprint, and not failed (a failure may have been ours)."""
    path = options.out / SCORES
    if options.fresh:
        path.unlink(missing_ok=True)
        return {}
    found = read_records(path)
    wanted = {job.key: job for job in jobs}
    strangers = sorted({key[0] for key in found if key not in wanted})
    if strangers:
        raise OutputError(
            f"{path}: holds scores that this selection does not ask for ({len(strangers)} cases, first "
            f"{strangers[0]!r}); choose another --out to keep them, or --fresh to drop them"
        )
    return {
        key: record.labelled(wanted[key].case.system)
        for key, record in found.items()
        if record.score.fingerprint == wanted[key].fingerprint and record.score.status is not Status.FAILED
    }


def _score(
    plan: Plan, done: dict[Key, Record], options: RunOptions, header: RunHeader, telemetry: Telemetry
) -> RunResult:
    """Run what is left and close the books, whatever happens."""
    reused = len(done)
    status = RunStatus.FAILED
    try:
        _run_jobs(plan, done, options, telemetry)
        status = RunStatus.PARTIAL if any(r.score.status is Status.FAILED for r in done.values()) else RunStatus.SUCCESS
    except KeyboardInterrupt:
        status = RunStatus.CANCELLED
        raise
    finally:
        order = [job.key for job in plan.jobs]
        write_in_order(options.out / SCORES, order, done)
        backends = {**plan.elsewhere, **plan.pool.backends()}
        scores = [record.score for record in list(done.values())]
        ended = header.ended_as(status, scores, telemetry.facts())
        down = tuple(plan.equipment.fallbacks)
        ended = replace(ended, backends=backends, fallbacks=down, judge_calls=plan.planner.bench.account())
        ended.write(options.out)
        prom.write(options.out, ended, scores)
    return RunResult(status, tuple(done[key].score for key in order), reused, plan.jobs)


def _run_jobs(plan: Plan, done: dict[Key, Record], options: RunOptions, telemetry: Telemetry) -> None:
    work, total = _work(plan.jobs, done)
    progress = Progress(total, total - len(work), options.quiet)
    engine = _engine(plan, options, telemetry)
    with ScoreWriter(options.out / SCORES) as writer:

        def deliver(item: Work, scores: list[Score]) -> None:
            records = [Record.of(score) for score in scores]
            writer.append(records)
            done.update({record.score.key: record for record in records})
            progress.advance(sum(score.status is Status.FAILED for score in scores))

        try:
            engine.run(work, options.workers, deliver)
        finally:
            progress.close()


def _engine(plan: Plan, options: RunOptions, telemetry: Telemetry) -> Engine | RayEngine:
    if options.engine == "ray":
        from evaluator.runner.on_ray import RayEngine

        return RayEngine(plan, options, telemetry)
    return Engine(plan.planner, plan.pool.by_id, plan.paths, telemetry, plan.stamps, plan.equipment)


def _work(jobs: Sequence[Job], done: Mapping[Key, Record]) -> tuple[list[Work], int]:
    """(cases with jobs to do, in an order that keeps shared sources together; number of all cases)."""
    todo: dict[str, list[Job]] = {}
    cases: dict[str, Case] = {}
    for job in jobs:
        cases[job.case.id] = job.case
        if job.key not in done:
            todo.setdefault(job.case.id, []).append(job)
    order = [case.id for group in by_source(list(cases.values())) for case in group]
    return [Work(case, tuple(todo[case])) for case in order if case in todo], len(cases)


def _header(manifest: Manifest, store: Store, options: RunOptions, plan: Plan) -> RunHeader:
    named = tuple(dict.fromkeys(job.case.suite for job in plan.jobs))
    metrics = {job.metric.id: job.metric for job in plan.jobs}
    return RunHeader(
        status=RunStatus.STARTED,
        arguments=run_header.given_arguments(),
        options=_resolved(options),
        manifest={"path": manifest.path, "sha256": manifest.digest, "cases": len(manifest.cases)},
        lock_sha256=store.lock_sha256,
        shard="{}/{}".format(*options.shard),
        suites=named,
        profile=options.profile,
        metrics=tuple(run_header.card(metric) for metric in metrics.values()),
        models=tuple(plan.pool.model_ref(expert) for expert in plan.pool.used),
        unavailable=plan.pool.unavailable,
        decoder=plan.equipment.decoder,
        backends={},
        device=plan.equipment.device,
        driver=plan.equipment.driver,
        judge=plan.planner.bench.verdict,
        seeds={},
        started=run_header.now(),
        cores=run_header.cores(),
        revision=run_header.revision(),
        packages=run_header.packages(),
    )


def _resolved(options: RunOptions) -> dict[str, Any]:
    """The options that can matter to somebody who repeats the run."""
    hidden = {"quiet", "dry_run"}
    return {name: value for name, value in to_tree(options).items() if name not in hidden}
