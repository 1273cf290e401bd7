"""Output folders as a run leaves them, with the facts that a test is about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from evaluator.report.aggregate import aggregate, write_summary
from evaluator.schema import ModelRef, Reason, Score, Status, Tier, encode
from tests.test_cli import Cli, cli
from tests.test_schema import score

__all__ = ["MODEL", "OTHER", "STAND_IN", "Cli", "cli", "failed", "manifest", "records", "run"]

MODEL = ModelRef("real", "a" * 64, Tier.REFERENCE)
OTHER = ModelRef("real", "b" * 64, Tier.REFERENCE)
STAND_IN = ModelRef("proxy", "c" * 64, Tier.EMBEDDED, "the real one")
DIRECTIONS = {"ssim": "higher", "lpips": "lower", "loudness": "none"}


def records(values: Mapping[str, float], metric: str = "ssim", **fields: object) -> list[Score]:
    """One record per case."""
    fields = {"models": (MODEL,), "raw": None, "details": {}, **fields}
    return [score(case=case, metric=metric, value=value, **fields) for case, value in values.items()]


def failed(case: str, metric: str = "ssim", **fields: object) -> Score:
    """A record without a value."""
    reason = Reason("corrupt", "the file ends early")
    return score(case=case, metric=metric, value=None, raw=None, status=Status.FAILED, reason=reason, **fields)


def manifest(path: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    """A manifest; suite and video are filled in."""
    path.write_text("".join(json.dumps({"suite": "core", "video": "v.mp4", **line}) + "\n" for line in lines))
    return path


def run(folder: Path, scores: Iterable[Score], given: Path | None = None, **header: object) -> Path:
    """An output folder with run.json, scores.jsonl and summary.json."""
    scores = list(scores)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scores.jsonl").write_bytes(b"".join(map(encode, scores)))
    write_summary(folder, aggregate(scores))
    named = sorted({item.metric for item in scores})
    facts: dict[str, Any] = {
        "schema": 1,
        "status": "success",
        "manifest": {
            "path": str(given or folder / "gone.jsonl"),
            "sha256": sha256(given.read_bytes() if given else b"?").hexdigest(),
            "cases": 1,
        },
        "lock_sha256": "1" * 64,
        "profile": "paper",
        "metrics": [{"id": name, "version": 1, "direction": DIRECTIONS[name], "unit": ""} for name in named],
        "models": [],
        "decoder": "pyav",
        "backends": {},
        "device": "cpu",
        "driver": None,
        "judge": None,
        "seeds": {},
        "started": "2026-01-01T00:00:00+00:00",
        "ended": "2026-01-01T00:01:00+00:00",
        "counts": {},
        "evaluator": "0.1.0",
        "revision": None,
        "python": "3.11.7",
        "machine": "m",
        "packages": {"numpy": "2.3.5"},
    }
    (folder / "run.json").write_text(json.dumps({**facts, **header}))
    return folder
