"""The order of a benchmark: make the clips, measure, hold against the targets.

Prints progress through a callback; everything found is in the returned tree.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import evaluator
from evaluator.bench import asking, core, decoders, gpu, machine, race, scale, starts
from evaluator.bench.board import Board
from evaluator.bench.workload import BRIEF, LONG, QUICK, SHORT, TINY, ClipSet, edits, loaded
from evaluator.errors import EvaluatorError
from evaluator.runner.equipment import equipment
from evaluator.runner.header import revision
from evaluator.runtime.digests import cache_folder, sha256_file

QUICK_CASES = 200
"""Cases of the resume measurement when in a hurry."""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What a person may choose. `clips` is the folder of the synthetic set, made there if it is not."""

    clips: Path | None = None
    models: Path | None = None
    race: bool = False
    quick: bool = False
    device: str = "cpu"  # or "gpu": the figures of a GPU in place of the CPU's
    judge_url: str = ""


def bench(options: BenchOptions, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure this machine. Raises ModelMissing if the embedded models are not prepared, EngineError without a GPU,
    and UsageError or JudgeUnusableError without the judge that was named.
    """
    tools = equipment(options.device)
    if options.judge_url:
        asking.meet(options.judge_url)
    folder = options.clips or cache_folder() / "bench"
    say(f"clips in {folder}")
    clips = ClipSet(folder, QUICK if options.quick else SHORT)
    paths = clips.paths
    seen = machine.look()
    board = Board(facts={"evaluator": evaluator.__version__, "revision": revision(), "versions": machine.versions()})
    board.facts |= {"machine": asdict(seen), "loaded": seen.loaded, "quick": options.quick}
    board.facts["clips"] = {path.name: sha256_file(path) for path in paths}
    with tempfile.TemporaryDirectory(prefix="evaluator-bench-") as name:
        scratch = Path(name)
        if options.device == "gpu":
            say("the whole suite on the GPU, twice; then decoding and networks alone")
            gpu.measure(board, scratch / "gpu", paths, gpu.Subject(tools, options.models))
        else:
            _on_cpu(board, options, clips, scratch, say)
        if options.judge_url:
            say("the judge")
            _of_judge(board, paths, scratch, options.judge_url)
    return board.tree()


def _of_judge(board: Board, paths: list[Path], scratch: Path, url: str) -> None:
    """G6. A judge that fails by now takes no other figure with it."""
    try:
        asking.measure(board, scratch, paths, url)
    except EvaluatorError as error:
        board.put("G6", None, f"could not be measured: {error}")


def _on_cpu(board: Board, options: BenchOptions, clips: ClipSet, scratch: Path, say: Callable[[str], None]) -> None:
    """S1 to S10, the stages, the networks, the decoders, and the race if it was asked for."""
    paths, models, root = clips.paths, options.models, clips.folder
    more = ["--models", str(models)] if models else []
    say("the whole suite, one worker")
    core.measure(board, loaded(edits(paths), scratch / "core.jsonl", root), models, scratch / "core", paths)
    say("decoders")
    board.facts["decoders"] = decoders.compare(paths)
    say("start and resume")
    cases = QUICK_CASES if options.quick else starts.CASES
    starts.measure(board, scratch, clips.path(BRIEF), clips.path(TINY), more, cases)
    if not options.quick:
        say("all cores, memory, identity")
        scale.parallel(board, scratch, paths, more, board.facts["loaded"])
        scale.memory(board, scratch, clips.path(LONG), more)
        scale.identity(board, scratch, [clips.path(recipe) for recipe in QUICK], more)
    if options.race:
        say("the race")
        running = paths[:2]
        race.measure(board, scratch, running, more)
        race.limit(board, loaded(edits(running), scratch / "limit.jsonl", root), models, scratch / "limit")
