"""S4: the same scores by the usual flow (`rival`) and by ours, in CPU seconds of whole processes.

Only metrics that have a value for every case run, on both sides. If one of the rival's scores is not ours within
TOLERANCE, the race is void. Ours runs before and after the rival, so that a machine that slows down favours nobody.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from evaluator.bench.board import Board
from evaluator.bench.core import instrumented
from evaluator.bench.machine import ONE_THREAD
from evaluator.bench.process import evaluator_command, run
from evaluator.bench.workload import SUITE, Line, edits, write_manifest
from evaluator.manifest import Manifest
from evaluator.runner.writer import SCORES, Key, read_scores
from evaluator.schema import ExpertNeed, Score, Status
from evaluator.suites import suites

INTERPOLATION = "frame_interpolation"
TOLERANCE = 0.02
"""Of the larger of 1 and the score: OpenCV converts colours by other roundings than FFmpeg does."""


def measure(board: Board, folder: Path, clips: Sequence[Path], options: Sequence[str]) -> None:
    """S4 with and without the interpolation expert."""
    cases = edits(clips)
    manifest = write_manifest(cases, folder / "race.jsonl")
    race = _Race(folder, cases, manifest, clips[0].parent, options)
    ours = race.scores()
    metrics = _with_values(ours)
    first = race.ours(metrics), race.ours(_light(metrics))
    rival, theirs, starts = race.rival(metrics)
    second = race.ours(metrics), race.ours(_light(metrics))
    wrong = _differences(ours, theirs)
    whole, light = ((a + b) / 2 for a, b in zip(first, second, strict=True))
    light_rival = sum(cost for (_, metric), cost in rival.items() if metric in _light(metrics))
    for name, theirs_cpu, ours_cpu in (("S4", light_rival, light), ("S4 all", sum(rival.values()), whole)):
        note = f"{theirs_cpu:.1f} / {ours_cpu:.1f} CPU s, {len(cases)} cases"
        board.put(name, *((None, f"void: {wrong}") if wrong else (theirs_cpu / ours_cpu, note)))
    board.facts["race"] = {
        "cases": len(cases),
        "light": _light(metrics),
        "processes": len(rival),
        "rival_starts": starts,
        "rival": _by_metric(rival),
        "ours": {"all": whole, "without interpolation": light},
    }


class _Race:
    """Both sides over one manifest."""

    def __init__(self, folder: Path, cases: Sequence[Line], manifest: Path, root: Path, options: Sequence[str]) -> None:
        self._folder, self._cases, self._root = folder, cases, root
        self._command = evaluator_command("--manifest", manifest, "--media-root", root, "-q", "--no-report", *options)

    def scores(self) -> Mapping[Key, Score]:
        """Our scores of every metric; the clips are in the page cache afterwards."""
        out = self._folder / "race"
        run([*self._command, "--out", str(out), "--fresh"])
        return read_scores(out / SCORES)

    def ours(self, metrics: Sequence[str]) -> float:
        """CPU seconds of one of our processes for all cases."""
        out = self._folder / "race-ours"
        return run([*self._command, "--out", str(out), "--fresh", "--metrics", ",".join(metrics)]).cpu

    def rival(self, metrics: Sequence[str]) -> tuple[dict[Key, float], dict[Key, float | None], float]:
        """CPU seconds and score per case and metric, one process each; CPU seconds until those were ready to start."""
        cost, scores, starts = {}, {}, 0.0
        target = self._folder / "rival.json"
        for case in self._cases:
            clips = [f"{role}={self._root / case[role]}" for role in ("video", "source") if role in case]
            for metric in _applicable(metrics, case):
                command = [sys.executable, "-m", "evaluator.bench.rival", metric, str(target), *clips]
                cost[case["id"], metric] = run(command, ONE_THREAD).cpu
                told = orjson.loads(target.read_bytes())
                scores[case["id"], metric] = told["value"]
                starts += told["start"]
        return cost, scores, starts


def _with_values(scores: Mapping[Key, Score]) -> list[str]:
    """Metrics that never failed to give a value where the case has what they look at."""
    asked = dict.fromkeys(metric for _, metric in scores)
    odd = {metric for (_, metric), score in scores.items() if score.status is not Status.OK and not _no_source(score)}
    return [metric for metric in asked if metric not in odd]


def _no_source(score: Score) -> bool:
    return score.reason is not None and score.reason.message == "the case names no source clip"


def _applicable(metrics: Sequence[str], case: Line) -> list[str]:
    """Metrics that look at no clip which the case lacks."""
    known = {metric.id: metric for metric in suites()[SUITE].metrics}
    return [name for name in metrics if "source" in case or not _looks_at_source(known[name].needs.values())]


def _looks_at_source(needs: object) -> bool:
    return any("source" in (need.roles if isinstance(need, ExpertNeed) else (need.role,)) for need in needs)  # type: ignore[attr-defined]


def _light(metrics: Sequence[str]) -> list[str]:
    """All but those of the interpolation expert."""
    known = {metric.id: metric for metric in suites()[SUITE].metrics}
    heavy = {
        name
        for name in metrics
        if any(isinstance(need, ExpertNeed) and need.capability == INTERPOLATION for need in known[name].needs.values())
    }
    return [name for name in metrics if name not in heavy]


def _differences(ours: Mapping[Key, Score], theirs: Mapping[Key, float | None]) -> str:
    """Scores on which the sides disagree, in words; empty if there is none."""
    found = []
    for key, value in theirs.items():
        own = ours[key].value
        if value is None or own is None or abs(value - own) > TOLERANCE * max(1.0, abs(own)):
            found.append(f"{key[1]} of {key[0]} is {own} here and {value} there")
    return "; ".join(found)


def _by_metric(cost: Mapping[Key, float]) -> dict[str, float]:
    total: dict[str, float] = {}
    for (_, metric), seconds in cost.items():
        total[metric] = total.get(metric, 0.0) + seconds
    return total


def limit(board: Board, manifest: Manifest, models: Path | None, out: Path) -> None:
    """How far S4 could go: the rival against our networks alone on ready tensors, were everything else free."""
    race = board.facts["race"]
    networks = sum(call.ready() for call in instrumented(manifest, models, out, race["light"]).calls)
    race["networks without interpolation"] = networks
    figure = board.figures["S4"]
    if figure.value is None:
        return
    rival = figure.value * race["ours"]["without interpolation"]
    most = f"the networks alone take {networks:.1f}, so {rival / networks:.1f} is the limit"
    board.put("S4", figure.value, f"{figure.note}; {most}")
