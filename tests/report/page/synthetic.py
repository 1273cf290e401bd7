"""A run of any size without media or models: plausible values, skips, failures, strata and details."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from evaluator.schema import ModelRef, Reason, Score, Status, Tier, encode
from tests.report.runs import manifest, run

SYSTEMS = ("aurora", "boreal", "cirrus", "delta", "echo")
CATEGORIES = ("style", "object", "sound", "motion")
DIFFICULTIES = ("easy", "medium", "hard")
MODEL = ModelRef("net", "a" * 64, Tier.REFERENCE)
STAND_IN = ModelRef("small_net", "b" * 64, Tier.EMBEDDED, "Large Net")
METRICS: dict[str, tuple[str, tuple[float | None, float | None]]] = {
    "ssim": ("higher", (0.0, 1.0)),
    "lpips": ("lower", (0.0, 1.0)),
    "smoothness": ("higher", (0.0, 1.0)),
    "speech": ("higher", (1.0, 5.0)),
    "loudness": ("none", (None, None)),
    "shots": ("none", (1.0, None)),
    "sync": ("lower", (0.0, None)),
    "aesthetic": ("higher", (1.0, 10.0)),
}


def cards() -> list[dict[str, object]]:
    return [
        {
            "id": name,
            "version": 1,
            "title": name,
            "summary": f"About {name}.",
            "direction": direction,
            "range": list(bounds),
            "unit": "",
            "paper": "p",
        }
        for name, (direction, bounds) in METRICS.items()
    ]


def scores(cases: int) -> Iterator[Score]:
    """One record per case and metric; the systems take turns on the same sources."""
    dice = random.Random(1)  # noqa: S311
    for index in range(cases):
        case, system = f"{index // len(SYSTEMS):05d}/{SYSTEMS[index % len(SYSTEMS)]}", SYSTEMS[index % len(SYSTEMS)]
        for metric in METRICS:
            yield _score(case, system, metric, dice)


def _score(case: str, system: str, metric: str, dice: random.Random) -> Score:
    fields = {"case": case, "suite": "core", "system": system, "metric": metric, "profile": "paper"}
    models = (STAND_IN if metric == "lpips" else MODEL,)
    lot = dice.random()
    status, reason = Status.OK, None
    if metric == "speech" and lot < 0.3:
        status, reason = Status.SKIPPED, Reason("not_applicable", "No speech in the clip.")
    elif lot < 0.002:
        status, reason = Status.FAILED, Reason("corrupt", "The file ends early.")
    value = dice.betavariate(3 + SYSTEMS.index(system), 2) if status is Status.OK else None
    details = {"per_pair": [round(dice.random(), 6) for _ in range(10)], "frames": 10}
    return Score(
        **fields,
        value=value,
        status=status,
        reason=reason,
        raw=value,
        details=details,
        models=models,
        fingerprint="f" * 64,
    )


def write_run(folder: Path, cases: int) -> Path:
    """The output folder, with its manifest beside it."""
    made = list(scores(cases))
    ids = dict.fromkeys((item.case, item.system) for item in made)
    lines = [
        {
            "id": case,
            "system": system,
            "source": f"src/{place // len(SYSTEMS)}.mp4",
            "prompt": f"Edit number {place}: make it rain.",
            "category": CATEGORIES[place % len(CATEGORIES)],
            "labels": {"difficulty": DIFFICULTIES[place // 7 % len(DIFFICULTIES)]},
        }
        for place, (case, system) in enumerate(ids)
    ]
    given = manifest(folder.with_suffix(".jsonl"), lines)
    folder.mkdir()
    (folder / "scores.jsonl").write_bytes(b"".join(map(encode, made)))
    return _header(folder, given, len(lines))


def _header(folder: Path, given: Path, cases: int) -> Path:
    """run.json as `tests.report.runs` makes it, with our cards, over the records that are there."""
    kept = (folder / "scores.jsonl").read_bytes()
    run(folder, [], given, metrics=cards(), counts={"ok": 1, "skipped": 0, "failed": 0})
    (folder / "scores.jsonl").write_bytes(kept)
    header = json.loads((folder / "run.json").read_text())
    header["manifest"]["cases"] = cases
    (folder / "run.json").write_text(json.dumps(header))
    return folder
