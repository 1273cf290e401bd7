"""What `evaluator cutcraft ...` does: the example, the displacement test, sensitivity, what samples cost.

Works on manifests and finished runs by their files; knows the suite, no clip.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from evaluator import errors
from evaluator.commands import load, say
from evaluator.manifest import Manifest
from evaluator.report.boards import printed
from evaluator.runner.header import read_header
from evaluator.runner.writer import SCORES, read_records
from evaluator.runtime.files import write_atomic
from evaluator.runtime.store import ROOT
from evaluator.schema import Score
from evaluator.suites.board import Board
from evaluator.suites.cutcraft import counters, displacement, example, sensitivity
from evaluator.suites.cutcraft.lab.run import demo_shots
from evaluator.suites.cutcraft.lab.run import main as lab_main

MANIFESTS = ROOT / "manifests"


def make_example() -> int:
    """Make the clip of the worked example out of the demo clips, and its manifest."""
    target = example.write(MANIFESTS, demo_shots(MANIFESTS / "demo"))
    say(f"{target}: one clip of three shots; evaluator --manifest {target} --out DIR")
    return errors.EXIT_OK


def displace(manifest: Path, shift: int, out: Path) -> int:
    """Write the manifest in which every clip has the script of the clip `shift` further on."""
    lines = [orjson.loads(line) for line in manifest.read_bytes().splitlines() if line.strip()]
    foreign = sorted({str(line.get("suite")) for line in lines} - {"cutcraft"})
    if foreign:
        raise errors.UsageError(f"{manifest}: expected lines of cutcraft, found {', '.join(foreign)}")
    made = displacement.displaced(lines, shift)
    write_atomic(out, b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in made))
    say(f"{out}: {len(made)} clips with the script {shift} further on (use --media-root {manifest.parent})")
    return errors.EXIT_OK


def compare_displaced(
    run: Path, displaced_run: Path, manifest: Path, displaced_manifest: Path, media_root: Path | None
) -> int:
    """Print what changed with other scripts."""
    own = load(manifest, media_root)
    other = load(displaced_manifest, media_root or manifest.parent)
    there, back = _scores(run, own), _scores(displaced_run, other)
    return _show(displacement.board(own.cases, there, other.cases, back))


def vary(run: Path, manifest: Path, media_root: Path | None) -> int:
    """Print the ranking of systems under other choices."""
    given = load(manifest, media_root)
    return _show(sensitivity.board(given.cases, _scores(run, given)))


def count(run: Path) -> int:
    """Print what a sample cost."""
    found = [record.score for record in read_records(run / SCORES).values() if record.score.suite == "cutcraft"]
    if not found:
        raise errors.UsageError(f"{run}: no records of cutcraft")
    return _show(counters.board(found, read_header(run)))


def lab(arguments: Sequence[str]) -> int:
    """The transition lab, which has options of its own."""
    return lab_main(arguments)


def _show(board: Board) -> int:
    print(printed(board))
    return errors.EXIT_OK


def _scores(run: Path, manifest: Manifest) -> list[Score]:
    header = read_header(run)
    if header is None or header["manifest"]["sha256"] != manifest.digest:
        raise errors.UsageError(f"{run}: not a run of {manifest.path}")
    return [record.score for record in read_records(run / SCORES).values() if record.score.suite == "cutcraft"]
