"""`evaluator manifest covebench ROOT --system NAME`: the published layout becomes a manifest.

    ROOT/checklist.json       the tasks                                 --set checklist=FILE
    ROOT/data/...             the sources that the tasks name           --set source_root=DIR, --set project_root=DIR
    ROOT/NAME/**/<task>.mp4   one system's outputs, named by task       --set edited=DIR

and, where they matter,

    --set missing=reference|wrong  leave questions without an answer out, or count them as wrong, in every profile
    --set exclusions=none|FILE     leave no task out of SSIM, MF and MSM, or other tasks than the published lists do
    --set entities=DIR             grounding phrases for SRC: the benchmark's cache, DIR/<task>/metadata.json
    --set sequential_of=SYSTEM     this system made its edits one after the other; SYSTEM made them in one pass

Paths are relative to ROOT and must lie below it. A task without a source or without an output gets no line and is
named as a problem; it is never scored as a failure. Tasks and outputs are matched before anything is cut off.
Source: CoVEBench 1.1, 1.2.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from evaluator.errors import UsageError
from evaluator.manifest.places import real
from evaluator.manifest.problems import nearest, quoted
from evaluator.suites.base import Imported
from evaluator.suites.covebench import exclusions
from evaluator.suites.covebench.rules import MISSING

SETTINGS = ("checklist", "edited", "entities", "exclusions", "missing", "project_root", "sequential_of", "source_root")
EXTENSIONS = frozenset({".mp4", ".mov", ".mkv", ".avi", ".webm", ".flv", ".m4v"})

_NAMED = (r"task_(\d+)_output$", r"output_id(\d+)$", r"video[_-](\d+)$", r"^(\d+)$")
_NUMBER = re.compile(r"\d+", re.ASCII)


def task_number(stem: str) -> int | None:
    """The task of an output by the name of its file without extension; None if there is no number in it.

    >>> task_number("run2_task_41_output"), task_number("Video-7"), task_number("kiwi2_0012_v3")
    (41, 7, 3)
    """
    for pattern in _NAMED:
        if found := re.search(pattern, stem, re.IGNORECASE | re.ASCII):
            return int(found[1])
    numbers = _NUMBER.findall(stem)
    return int(numbers[-1]) if numbers else None


def source_of(written: str, places: Places) -> Path | None:
    """The source that a task names: the first existing file of those that the reference tries; None if none exists."""
    if not written:
        return None
    path = Path(written)
    tried = [
        *([path] if path.is_absolute() else []),
        places.sources / path,
        places.sources / path.name,
        places.checklist.parent / path,
        places.project / path,
    ]
    return next((candidate for candidate in tried if _is_file(candidate)), None)


def _is_file(path: Path) -> bool:
    """Whether there is such a file; a name that no file system takes is none."""
    try:
        return path.is_file()
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are."""

    root: Path
    checklist: Path
    edited: Path
    sources: Path
    project: Path

    @classmethod
    def of(cls, root: Path, system: str, settings: Mapping[str, str]) -> Places:
        """From settings, relative to the root. UsageError for a folder or file that is not there."""
        if unknown := sorted(settings.keys() - set(SETTINGS)):
            hint = nearest(unknown[0], SETTINGS) or f"there are {', '.join(SETTINGS)}"
            raise UsageError(f"--set {unknown[0]}: covebench has no such setting; {hint}")
        places = cls(
            root=root,
            checklist=root / settings.get("checklist", "checklist.json"),
            edited=root / settings.get("edited", system),
            sources=root / settings.get("source_root", "."),
            project=root / settings.get("project_root", "."),
        )
        if not places.checklist.is_file():
            raise UsageError(f"{places.checklist}: no such file; name the tasks with --set checklist=FILE")
        if not places.edited.is_dir():
            raise UsageError(f"{places.edited}: no such folder; name the outputs with --set edited=DIR")
        return places


@dataclass(slots=True)
class _Left:
    """What got no line, by reason."""

    problems: list[str] = field(default_factory=list)
    without_output: set[int] = field(default_factory=set)
    without_source: set[int] = field(default_factory=set)

    def all(self) -> tuple[str, ...]:
        found = list(self.problems)
        for tasks, lacks in ((self.without_output, "an output"), (self.without_source, "a source")):
            if tasks:
                found.append(
                    f"tasks {exclusions.spans(tasks)}: expected {lacks}, found none; {len(tasks)} tasks are left out"
                )
        return tuple(found)


def importer(root: Path, system: str, settings: Mapping[str, str]) -> Imported:
    """One line per task that has both clips, by task number. UsageError for what keeps everything from being read."""
    places, left = Places.of(root, system, settings), _Left()
    tasks = read_tasks(places.checklist)
    outputs = _outputs(places, left)
    extras = _Extras.of(root, settings)
    for number in sorted(outputs.keys() - tasks.keys()):
        left.problems.append(f"{outputs[number]}: task: expected one of the checklist, found {number}; left out")
    lines = []
    for number in sorted(tasks):
        source = source_of(str(tasks[number].get("videoA_path", "")), places)
        if number not in outputs:
            left.without_output.add(number)
        elif source is None:
            left.without_source.add(number)
        else:
            clips = {"video": _inside(outputs[number], root), "source": _inside(source, root)}
            outside = [name for name, path in clips.items() if path is None]
            if outside:
                left.problems.append(f"task {number}: {outside[0]}: expected a file below {root}, found another place")
                continue
            lines.append(_line(number, tasks[number], system, clips, extras))
    return Imported(tuple(lines), left.all())


def read_tasks(path: Path) -> dict[int, Mapping[str, Any]]:
    """Task number -> task of a checklist file (UTF-8, perhaps with a byte order mark). UsageError for another form."""
    try:
        listed = orjson.loads(path.read_bytes().removeprefix(codecs.BOM_UTF8))
        found = {int(task["id"]): task for task in listed}
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: expected a list of tasks with an id ({type(error).__name__}: {error})") from error
    if len(found) < len(listed):
        raise UsageError(f"{path}: expected each task once, found {len(listed)} tasks with {len(found)} ids")
    for number, task in found.items():
        entries = task.get("category") or []
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise UsageError(f"{path}: task {number}: category: expected a list of objects, found {quoted(entries)}")
    return found


def _outputs(places: Places, left: _Left) -> dict[int, Path]:
    """Task -> output, of all clips below the folder. Two outputs of one task are none: nobody knows which is meant."""
    found: dict[int, list[Path]] = {}
    for path in sorted(places.edited.rglob("*")):
        if path.is_file() and path.suffix.lower() in EXTENSIONS:
            number = task_number(path.stem)
            if number is None:
                left.problems.append(f"{path}: expected a name with the number of a task, found {path.name}; left out")
            else:
                found.setdefault(number, []).append(path)
    for number, paths in found.items():
        if len(paths) > 1:
            left.problems.append(f"task {number}: expected one output, found {', '.join(map(str, paths))}; left out")
    return {number: paths[0] for number, paths in found.items() if len(paths) == 1}


def _inside(path: Path, root: Path) -> str | None:
    """A path relative to the root, as a manifest writes it; None if it leads outside."""
    inside, base = real(path), real(root)
    return inside.relative_to(base).as_posix() if inside.is_relative_to(base) else None


@dataclass(frozen=True, slots=True)
class _Extras:
    """What settings add to `data{}`."""

    lists: exclusions.Lists | None  # None: the published ones, which need no mention
    cache: Path | None
    missing: str
    sequential_of: str

    @classmethod
    def of(cls, root: Path, settings: Mapping[str, str]) -> _Extras:
        lists: exclusions.Lists | None = None
        if (wanted := settings.get("exclusions")) is not None:
            lists = {} if wanted == "none" else exclusions.read(_bytes(root / wanted), wanted)
        cache = root / settings["entities"] if "entities" in settings else None
        if cache is not None and not cache.is_dir():
            raise UsageError(f"{cache}: no such folder; name the cached phrases with --set entities=DIR")
        missing = settings.get("missing", "")
        if missing and missing not in MISSING:
            raise UsageError(f"--set missing={missing}: expected {' or '.join(MISSING)}")
        return cls(lists, cache, missing, settings.get("sequential_of", ""))

    def data(self, number: int) -> Iterator[tuple[str, Any]]:
        if self.lists is not None:
            yield "excluded", sorted(metric for metric, tasks in self.lists.items() if number in tasks)
        if self.cache is not None and (phrases := _phrases(self.cache / str(number) / "metadata.json")) is not None:
            yield "entities", phrases
        if self.missing:
            yield "missing", self.missing
        if self.sequential_of:
            yield "sequential_of", self.sequential_of


def _phrases(path: Path) -> list[str] | None:
    """The phrases of one task: every `description` in `preserved_entities`, as the benchmark's cache has it. None
    without a file.

    Without that key, those of the first list of objects that have one; a task that was skipped has none, which is an
    empty list.
    """
    if not path.is_file():
        return None
    try:
        tree = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{path}: not JSON ({error})") from error
    named = isinstance(tree, dict) and "preserved_entities" in tree
    lists = [tree["preserved_entities"]] if named else [tree, *(tree.values() if isinstance(tree, dict) else ())]
    for entries in lists:
        if (
            isinstance(entries, list)
            and entries
            and all(isinstance(one, dict) and "description" in one for one in entries)
        ):
            return [str(one["description"]) for one in entries]
    return []


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error


def _line(
    number: int, task: Mapping[str, Any], system: str, clips: Mapping[str, str | None], extras: _Extras
) -> dict[str, Any]:
    levels = [[str(entry.get(f"Level {level}") or "") for level in (1, 2, 3)] for entry in task.get("category") or ()]
    return {
        "id": f"{number}/{system}",
        "suite": "covebench",
        "system": system,
        **clips,
        "prompt": task.get("editing_instruction", ""),
        "category": " + ".join(dict.fromkeys(entry[0] for entry in levels if entry[0])),
        "checklist": task.get("evaluation_groups", []),
        "data": {
            "task": number,
            "description": task.get("original_description", ""),
            "categories": levels,
            **dict(extras.data(number)),
        },
    }
