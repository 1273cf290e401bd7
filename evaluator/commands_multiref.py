"""What `evaluator generate multiref` does: one checklist per sample of MultiRef-Compass, written by a judge.

Files are `<sample>_checklist.json` in the output folder, what was refused lies under `rejected/` with the reasons. A
manifest made with `--set checklists=DIR` takes them in. The way from cases to documents is `commands_generate`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from evaluator import errors
from evaluator.commands import load, say, write_json
from evaluator.commands_generate import ask, keep, told
from evaluator.runner.judging import JudgeChoice, judging
from evaluator.runner.run import LOG
from evaluator.runner.telemetry import Telemetry
from evaluator.runner.writer import locked
from evaluator.runtime.store import Store
from evaluator.suites.ave_compass.generate import Generator
from evaluator.suites.multiref_compass import SUITE
from evaluator.suites.multiref_compass.data import of
from evaluator.suites.multiref_compass.generate import generator

KIND = "checklist"


def checklists(given: Mapping[str, Any]) -> int:
    """Make one checklist per sample. Exit 3 if any was refused or could not be made."""
    choice = JudgeChoice(given["judge_url"], given["judge_model"], given["judge_replay"], given["judge_tolerance"])
    if not choice.chosen:
        raise errors.UsageError("generate asks a judge: give --judge-url, --judge-model or --judge-replay")
    manifest = load(given["manifest"], given["media_root"])
    samples = {of(case).sample: case for case in reversed(manifest.cases) if case.suite == SUITE.id}
    cases = [replace(case, id=name) for name, case in reversed(samples.items())][: given["limit"]]
    if not cases:
        raise errors.UsageError(
            f"{manifest.path}: no case of the suite {SUITE.id}, whose checklists are generated here"
        )
    out = given["out"]
    with ExitStack() as stack:
        stack.enter_context(locked(out))
        bench = stack.enter_context(judging(choice, out))
        telemetry = Telemetry(out / LOG)
        stack.callback(telemetry.close)
        store = Store.open(given["models"])
        scores = ask(cases, Generator(KIND, generator(given["tries"])), store, bench, telemetry, given["workers"])
    made = [keep(case, scores[case.id], KIND, out) for case in cases]
    if given["as_json"]:
        write_json(made)
    else:
        say("\n".join(told(made, out)))
    return errors.EXIT_OK if all(one.status == "accepted" for one in made) else errors.EXIT_FAILED_CASES
