"""What `evaluator manifest` does: the layout in which a benchmark is published becomes a manifest.

Knows suites only by `Suite.importer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson

from evaluator import errors
from evaluator.commands import say
from evaluator.runtime.files import write_atomic
from evaluator.suites import suites


def manifest(name: str, root: Path, system: str, settings: Mapping[str, str], out: Path | None) -> int:
    """Write a manifest to ROOT/SYSTEM.jsonl, or where `out` says. Exit 3 if cases had to be left out."""
    importers = {suite.id: suite.importer for suite in suites().values() if suite.importer}
    chosen = importers.get(name.replace("-", "_"))
    if chosen is None:
        raise errors.UsageError(f"no layout is known for {name!r}; there are {', '.join(importers) or 'none'}")
    made = chosen(root, system, settings)
    target = out or root / f"{system}.jsonl"
    for problem in made.problems:
        say(problem)
    if not made.lines:
        raise errors.UsageError(f"{root}: no case could be made, {len(made.problems)} problems")
    write_atomic(target, b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in made.lines))
    hint = "" if target.parent == root else f" (use --media-root {root})"
    say(f"{target}: {len(made.lines)} cases{hint}, {len(made.problems)} problems")
    return errors.EXIT_FAILED_CASES if made.problems else errors.EXIT_OK
