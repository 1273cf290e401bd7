"""`evaluator lab`: make the clips, look at them, print the table.

By default every bridge is heard, and the pictures of every fifth clip are looked at (three of each kind and split),
because shot detection takes nearly all of the time; `--full` looks at all.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import orjson

from evaluator.errors import EXIT_OK, EvaluatorError
from evaluator.media.types import U8
from evaluator.runtime.session import SessionSource
from evaluator.runtime.store import ROOT, Store
from evaluator.schema import to_tree
from evaluator.suites.cutcraft.lab import clip
from evaluator.suites.cutcraft.lab.library import Make, excerpts, make, recorded
from evaluator.suites.cutcraft.lab.measure import measure
from evaluator.suites.cutcraft.lab.own_cuts import FILE, OwnCuts, own_cuts
from evaluator.suites.cutcraft.lab.plan import SPLITS, recipes
from evaluator.suites.cutcraft.lab.recipe import Recipe
from evaluator.suites.cutcraft.lab.shots import every_shot
from evaluator.suites.cutcraft.lab.table import Report, Result, markdown, report, tree

PROFILES = ("compat", "paper")
SEEN_EVERY = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, print; returns the exit code."""
    parser = argparse.ArgumentParser(prog="evaluator lab", description=__doc__)
    parser.add_argument("--split", choices=tuple(SPLITS), action="append", help="only this one (may be given twice)")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other clips")
    parser.add_argument("--full", action="store_true", help="look at the pictures of every clip")
    parser.add_argument("--clips", type=Path, default=ROOT / "manifests" / "demo", help="folder of the demo clips")
    parser.add_argument(
        "--sounds", type=Path, help="join the sounds of the files in this folder instead; pictures as ever"
    )
    parser.add_argument("--keep", type=Path, help="leave the clips of the lab in this folder")
    parser.add_argument("--out", type=Path, help="write lab.json and lab.md into this folder")
    given = parser.parse_args(arguments)
    try:
        own = recorded(given.sounds) if given.sounds else {}
        plan = [recipe for split in given.split or SPLITS for recipe in recipes(split, given.seed, sorted(own))]
        every, store = 1 if given.full else SEEN_EVERY, Store.open()
        results = run(
            plan,
            demo_shots(given.clips),
            store,
            lambda number: number % every == 0,
            given.keep,
            _say,
            excerpts(own) if own else make,
        )
        edited = own_cuts(given.clips, store)
    except EvaluatorError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _show(reports_of(results), edited, given.out)
    return EXIT_OK


def _show(reports: Sequence[Report], edited: Sequence[OwnCuts], out: Path | None) -> None:
    """Print the tables; write them into a folder if there is one."""
    lines = [f"The five cuts of {FILE}, {one.profile}: {one.text}" for one in edited]
    text = "\n".join([markdown(reports), "", *lines, ""])
    print(text)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        found = {"reports": tree(reports), "own_cuts": [to_tree(one) for one in edited]}
        (out / "lab.json").write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2))
        (out / "lab.md").write_text(text, encoding="utf-8")


def demo_shots(folder: Path) -> dict[str, U8]:
    """Every shot of the lab. Raises PrerequisiteError if the demo clips or the wheel are not there."""
    return every_shot(folder, Store.open().folder / "wheels")


def run(
    plan: Sequence[Recipe],
    shots: Mapping[str, U8],
    sessions: SessionSource,
    seen: Callable[[int], bool],
    keep: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
    maker: Make = make,
) -> list[Result]:
    """Make and measure every clip of a plan; those whose number is `seen` with their pictures."""
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for number, recipe in enumerate(plan):
            path = folder / f"{recipe.name}.mp4"
            pictures = clip.pictures(recipe, shots) if seen(number) else None
            clip.write(path, pictures, clip.sound(recipe, maker))
            results.append(Result(recipe, measure(path, sessions, seen(number)), seen(number)))
            if keep is None:
                path.unlink()
            tell(_summary(results[-1], number + 1, len(plan)))
    return results


def reports_of(results: Sequence[Result]) -> list[Report]:
    """One report per split that is there and profile."""
    splits = [split for split in SPLITS if any(one.recipe.split == split for one in results)]
    return [report(results, split, profile) for split in splits for profile in PROFILES]


def _summary(result: Result, number: int, count: int) -> str:
    recipe = result.recipe
    said = "; ".join(f"{name} {one.optical} {one.relation}" for name, one in sorted(result.answers.items()))
    return f"{number}/{count} {recipe.name}: {recipe.kind}, {recipe.relation} {recipe.offset:g} s: {said}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
