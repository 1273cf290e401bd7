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
from evaluator.bench import core, decoders, machine, race, scale, starts
from evaluator.bench.board import Board
from evaluator.bench.workload import BRIEF, LONG, QUICK, SHORT, SUITE, TINY, ClipSet, edits, write_manifest
from evaluator.manifest import Manifest, Suites, read
from evaluator.runner.header import revision
from evaluator.runtime.digests import cache_folder, sha256_file
from evaluator.suites import suites

QUICK_CASES = 200
"""Cases of the resume measurement when in a hurry."""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What a person may choose. `clips` is the folder of the synthetic set, made there if it is not."""

    clips: Path | None = None
    models: Path | None = None
    race: bool = False
    quick: bool = False


def bench(options: BenchOptions, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure this machine. Raises ModelMissing if the embedded models are not prepared."""
    folder = options.clips or cache_folder() / "bench"
    say(f"clips in {folder}")
    clips = ClipSet(folder, QUICK if options.quick else SHORT)
    paths = clips.paths
    seen = machine.look()
    board = Board(facts={"evaluator": evaluator.__version__, "revision": revision(), "versions": machine.versions()})
    board.facts |= {"machine": asdict(seen), "loaded": seen.loaded, "quick": options.quick}
    board.facts["clips"] = {path.name: sha256_file(path) for path in paths}
    more = ["--models", str(options.models)] if options.models else []
    with tempfile.TemporaryDirectory(prefix="evaluator-bench-") as name:
        scratch = Path(name)
        manifest = _manifest(paths, scratch / "core.jsonl")
        say("the whole suite, one worker")
        core.measure(board, manifest, options.models, scratch / "core", paths)
        say("decoders")
        board.facts["decoders"] = decoders.compare(paths)
        say("start and resume")
        cases = QUICK_CASES if options.quick else starts.CASES
        starts.measure(board, scratch, clips.path(BRIEF), clips.path(TINY), more, cases)
        if not options.quick:
            say("all cores, memory, identity")
            scale.parallel(board, scratch, paths, more, seen.loaded)
            scale.memory(board, scratch, clips.path(LONG), more)
            scale.identity(board, scratch, [clips.path(recipe) for recipe in QUICK], more)
        if options.race:
            say("the race")
            running = paths[:2]
            race.measure(board, scratch, running, more)
            race.limit(board, _manifest(running, scratch / "limit.jsonl"), options.models, scratch / "limit")
    return board.tree()


def _manifest(clips: list[Path], path: Path) -> Manifest:
    known: Suites = {SUITE: suites()[SUITE].data}
    return read(write_manifest(edits(clips), path), clips[0].parent, suites=known)
