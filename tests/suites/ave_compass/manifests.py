"""Manifests of made-up cases for tests of runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

LINE = {
    "suite": "ave_compass",
    "video": "edited.mp4",
    "source": "source.mp4",
    "system": "model",
    "prompt": "Let it rain.",
}


def write_manifest(folder: Path, cases: Iterable[Mapping[str, Any]]) -> Path:
    """`cases.jsonl`, each line completed with the usual clips."""
    path = folder / "cases.jsonl"
    path.write_text("".join(json.dumps({**LINE, **case}) + "\n" for case in cases), encoding="utf-8")
    return path
