"""Write into the lock what an export produced: sizes, digests and the digest of the recipe. For maintainers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from evaluator.runtime.digests import sha256_file
from evaluator.runtime.lock import read_lock
from export.build import recipe_digest

_SCALARS = re.compile(r"\[\s+([^\[\]{}]*?)\s+\]")


def relock(lock_file: Path, store: Path) -> list[str]:
    """Refresh every exported file that is in the store. Returns one line per changed entry.

    The file is checked before it replaces the old one. Raises PrerequisiteError if the result is not a lock.
    """
    tree = json.loads(lock_file.read_text(encoding="utf-8"))
    changed = [line for entry in tree["models"] if (line := _refresh(entry, store / entry["id"]))]
    fresh = lock_file.with_suffix(".new")
    fresh.write_text(pretty(tree), encoding="utf-8")
    read_lock(fresh)
    fresh.replace(lock_file)
    return changed


def _refresh(entry: dict[str, Any], folder: Path) -> str:
    if entry.get("export") is None:
        return ""
    before = json.dumps(entry, sort_keys=True)
    entry["export"]["sha256"] = recipe_digest(entry["id"])
    for file in entry["files"]:
        path = folder / file["name"]
        if file["how"] == "exported" and path.is_file():
            file["size"], file["sha256"] = path.stat().st_size, sha256_file(path)
    return "" if json.dumps(entry, sort_keys=True) == before else f"{entry['id']}: refreshed"


def pretty(tree: Any) -> str:
    """JSON with sorted keys, two spaces, and lists of numbers and words on one line."""
    text = json.dumps(tree, indent=2, sort_keys=True, ensure_ascii=False)
    return _SCALARS.sub(lambda match: "[" + re.sub(r"\s*\n\s*", " ", match[1]) + "]", text) + "\n"
