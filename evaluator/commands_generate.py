"""What `evaluator generate` and `evaluator check --checklists` do: documents of a protocol, made and looked at.

A generated document is accepted only if it keeps every rule that is an error; one that does not goes back to the judge
with its problems, `--tries` times in all. Every answer that was refused stays beside the document, with the reasons,
under `rejected/`, where nothing reads it. A case whose last question nobody answered keeps the files that it had.
Questions go through a ledger in the output folder: the same command goes on where it stopped and writes the same bytes.
Knows suites only by the tables below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

import evaluator.media
from evaluator import errors
from evaluator.commands import load, say, write_json
from evaluator.manifest import Manifest, Suites, read
from evaluator.manifest.reading import document
from evaluator.runner import header
from evaluator.runner.engine import Engine, Work
from evaluator.runner.experts import ExpertPool
from evaluator.runner.graph import Graph
from evaluator.runner.judging import Bench, JudgeChoice, judging
from evaluator.runner.plan import Job, Planner
from evaluator.runner.run import LOG, media_digest
from evaluator.runner.telemetry import Telemetry
from evaluator.runner.writer import locked
from evaluator.runtime.files import write_atomic
from evaluator.runtime.store import Store
from evaluator.schema import Case, Score, Status
from evaluator.suites import suites
from evaluator.suites.ave_compass import checklist_rules
from evaluator.suites.ave_compass.captions import text_of
from evaluator.suites.ave_compass.checklist import Finding, tree_of
from evaluator.suites.ave_compass.generate import CAPTION, Generator, generators
from evaluator.suites.ave_compass.layout_options import SUITE_ID
from evaluator.suites.records import document_name

REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Made:
    """What became of one case: the file that was written, if any, and why it was not accepted."""

    case: str
    status: str  # "accepted", "rejected", or that of the record: "skipped", "failed"
    file: Path | None
    findings: tuple[str, ...]


def generate(kind: str, given: Mapping[str, Any]) -> int:
    """Make one document per case. Exit 3 if any was refused or could not be made."""
    choice = JudgeChoice(given["judge_url"], given["judge_model"], given["judge_replay"], given["judge_tolerance"])
    if not choice.chosen:
        raise errors.UsageError("generate asks a judge: give --judge-url, --judge-model or --judge-replay")
    manifest = load(given["manifest"], given["media_root"])
    out, cases = given["out"], [case for case in manifest.cases if case.suite == SUITE_ID][: given["limit"]]
    if not cases:
        raise errors.UsageError(f"{manifest.path}: no case of the suite {SUITE_ID}, whose documents are generated here")
    if kind == "checklist":
        cases = [with_caption(case, given["captions"] or out) for case in cases]
    with ExitStack() as stack:
        stack.enter_context(locked(out))
        bench = stack.enter_context(judging(choice, out))
        telemetry = Telemetry(out / LOG)
        stack.callback(telemetry.close)
        scores = ask(
            cases, generators(given["tries"])[kind], Store.open(given["models"]), bench, telemetry, given["workers"]
        )
    made = [keep(case, scores[case.id], kind, out) for case in cases]
    if given["as_json"]:
        write_json(made)
    else:
        say("\n".join(told(made, out)))
    return errors.EXIT_OK if all(one.status == "accepted" for one in made) else errors.EXIT_FAILED_CASES


def ask(
    cases: Sequence[Case], generator: Generator, store: Store, bench: Bench, telemetry: Telemetry, workers: int | None
) -> dict[str, Score]:
    """Case -> the record of its generator, through the runner's own engine."""
    pool = ExpertPool(store, require_reference=False)
    graph = Graph(pool.serve, pool.by_id)
    planner = Planner(graph, pool.model_ref, "paper", evaluator.media.VERSION, bench, header.packages())
    jobs, paths = plan(cases, generator, planner, store)
    found: dict[str, Score] = {}

    def deliver(_: Work, scores: list[Score]) -> None:
        found.update({score.case: score for score in scores})

    engine = Engine(planner, pool.by_id, paths, telemetry)
    engine.run([Work(job.case.id, (job,)) for job in jobs], workers or header.cores(), deliver)
    return found


def plan(
    cases: Iterable[Case], generator: Generator, planner: Planner, store: Store
) -> tuple[list[Job], dict[str, Path]]:
    """(one job per case, digest -> file of every source). Nothing but the source is looked at."""
    jobs: list[Job] = []
    paths: dict[str, Path] = {}
    for case in cases:
        media = {"source": media_digest(store, case.source, f"{case.id} source")} if case.source is not None else {}
        if case.source is not None:
            paths.setdefault(media["source"], case.source)
        jobs.append(planner.job(case, generator.metric, media))
    return jobs, paths


# ---------------------------------------------------------------------------------------------------------- files


def with_caption(case: Case, folder: Path) -> Case:
    """The case with the caption that `generate caption` left for it, if there is one. Raises UsageError."""
    path = folder / document_name(case.id, CAPTION)
    if not path.is_file():
        return case
    tree = document(0, str(path), path.read_bytes())
    if not isinstance(tree, dict):
        raise errors.UsageError(f"{path}: expected a caption; make it anew with `evaluator generate caption`")
    return replace(case, meta={**case.meta, CAPTION: text_of(tree)})


def keep(case: Case, score: Score, kind: str, out: Path) -> Made:
    """Write what was accepted, if anything, and every answer that was refused on the way, with its reasons."""
    if score.status is not Status.OK:
        reason = score.reason
        return Made(case.id, str(score.status), None, (f"{reason.code}: {reason.message}",) if reason else ())
    good, bad = out / document_name(case.id, kind), out / REJECTED / document_name(case.id, kind)
    for path in (good, bad):
        path.unlink(missing_ok=True)
    findings = tuple(score.details["findings"])
    if refused := score.details["rejected"]:
        bad.parent.mkdir(parents=True, exist_ok=True)
        _write(bad, {"rejected": refused})
    if score.value:
        _write(good, score.details["document"])
        return Made(case.id, "accepted", good, findings)
    return Made(case.id, "rejected", bad, findings)


def _write(path: Path, tree: Any) -> None:
    write_atomic(path, orjson.dumps(tree, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def told(made: Sequence[Made], out: Path) -> list[str]:
    """Lines for people."""
    lines = [
        f"{one.status:<9} {one.case}{''.join(f'{chr(10)}    {finding}' for finding in one.findings)}" for one in made
    ]
    accepted = sum(one.status == "accepted" for one in made)
    return [*lines, f"{out}: {accepted} of {len(made)} accepted"]


# ------------------------------------------------------------------------------------------------------- checking

RULES: Mapping[str, Callable[[Case], Iterable[Finding]]] = {
    SUITE_ID: lambda case: checklist_rules.findings(tree_of(case), case.prompt) if case.checklist is not None else (),
}
"""Suite -> what its rules say about the checklist of a case."""


def check_checklists(manifest: Path, media_root: Path | None, as_json: bool) -> int:
    """Every finding about every checklist of a manifest, errors and warnings. Exit 2 if there is an error."""
    known: Suites = {name: suite.data for name, suite in suites().items()}
    found = _findings(read(manifest, media_root, suites=known))
    wrong = sum(finding.level == "E" for _, findings in found for finding in findings)
    if as_json:
        write_json([{"case": case, "findings": findings} for case, findings in found])
    else:
        lines = [f"{case}: {finding.shown()}" for case, findings in found for finding in findings]
        total = sum(len(findings) for _, findings in found)
        say("\n".join([*lines, f"{len(found)} checklists: {wrong} errors, {total - wrong} warnings"]))
    return errors.EXIT_USAGE if wrong else errors.EXIT_OK


def _findings(manifest: Manifest) -> list[tuple[str, list[Finding]]]:
    """(case, findings) of every case whose suite has rules and that has a checklist."""
    cases = [case for case in manifest.cases if case.suite in RULES and case.checklist is not None]
    return [(case.id, list(RULES[case.suite](case))) for case in cases]
