"""From the four folders in which AVE-Compass is published to manifest lines (spec 1.2 to 1.7, 13).

    videos/<source>   edit_instructions/<stem>.json   checklists/<stem>_checklist.json   edited_videos/<stem>.mp4

A case is its instruction file, and its id the file's stem as it is. Whatever is wrong with a case is told, leaves the
case out, and hides nothing of another. A case whose edited clip is missing has no line either, for there is nothing to
open; every line carries the counts (`data.layout`), so that the boards can say how many cases a mean lacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evaluator.errors import MediaError, UsageError
from evaluator.manifest.model import CaseLine
from evaluator.manifest.places import real
from evaluator.manifest.problems import explained, nearest, quoted, shown
from evaluator.media.probe import probe
from evaluator.suites.ave_compass import checklist as checklist_v2
from evaluator.suites.ave_compass.branches import BRANCHES, Branch, branch_of
from evaluator.suites.ave_compass.data import AveData, Layout
from evaluator.suites.ave_compass.instruction import Instruction, read_json
from evaluator.suites.ave_compass.layout_options import SUITE_ID, Options
from evaluator.suites.ave_compass.taxonomy import CASES, duration_bin, labels_of, unlike_published
from evaluator.suites.base import Imported

VIDEOS, INSTRUCTIONS, CHECKLISTS = "videos", "edit_instructions", "checklists"


@dataclass(slots=True)
class Found:
    """One case as far as it could be read."""

    stem: str
    line: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    branch: Branch | None = None
    no_output: bool = False

    def wrong(self, place: str, name: str, expected: str, found: str, remedy: str = "") -> None:
        """Note one problem."""
        after = f"; {remedy}" if remedy else ""
        self.problems.append(f"{shown(place)}: {shown(name)}: expected {expected}, found {found}{after}")


def importer(root: Path, system: str, settings: Mapping[str, str]) -> Imported:
    """Manifest lines of one system. Raises UsageError for unknown options or a root without instructions."""
    options = Options.of(settings)
    if not (root / INSTRUCTIONS).is_dir():
        raise UsageError(
            f"{root}: expected the folders {', '.join((VIDEOS, INSTRUCTIONS, CHECKLISTS, options.edited))}"
        )
    cases = [_case(path, root, system, options) for path in sorted((root / INSTRUCTIONS).glob("*.json"))]
    counts = Layout(
        instructions=len(cases),
        missing_output=dict(Counter(case.branch for case in cases if case.no_output and case.branch)),
        unusable=sum(bool(case.problems) and not (case.no_output and case.branch) for case in cases),
    )
    kept = [case for case in cases if not case.problems]
    for case in kept:
        case.line["data"]["layout"] = counts.model_dump()
    problems = [problem for case in cases for problem in case.problems]
    return Imported(tuple(case.line for case in kept), (*problems, *_strays(root, cases, options), *_totals(cases)))


def _case(path: Path, root: Path, system: str, options: Options) -> Found:
    """Everything that can be said about one case; its line counts only if there is no problem."""
    case = Found(path.stem)
    place = f"{INSTRUCTIONS}/{path.name}"
    tree = read_json(path)
    if not isinstance(tree, Mapping):
        case.wrong(place, "(file)", "a JSON object", tree if isinstance(tree, str) else quoted(tree))
        return case
    instruction = Instruction.of(tree, path.stem)
    checklist = _checklist(case, root, instruction.prompt)
    case.branch = _branch(case, place, instruction, checklist, options)
    source = _source(case, place, instruction, root)
    if not instruction.prompt:
        case.wrong(place, "instruction.prompt_en", "the edit instruction", "nothing")
    output = _output(case, root, options)
    case.line = {
        "id": f"{path.stem}/{system}" if options.ids == "system" and system else path.stem,
        "suite": SUITE_ID,
        "video": output,
        "system": system,
        "source": f"{VIDEOS}/{instruction.video}",
        "prompt": instruction.prompt,
        "category": case.branch or "",
        "checklist": f"{CHECKLISTS}/{path.stem}_checklist.json",
        "labels": _labels(tree, instruction, source),
        "data": _data(instruction, system, options),
        "meta": {"notes": list(_notes(instruction, checklist, source))},
    }
    _validate(case, place)
    return case


def _checklist(case: Found, root: Path, prompt: str) -> Mapping[str, Any]:
    """The checklist, or an empty one; whatever makes it unusable is noted."""
    name = f"{CHECKLISTS}/{case.stem}_checklist.json"
    tree = read_json(root / name)
    if not isinstance(tree, Mapping):
        case.wrong(name, "(file)", "a JSON object", tree if isinstance(tree, str) else quoted(tree))
        return {}
    for finding in checklist_v2.read(tree, prompt)[1]:
        case.wrong(name, finding.place or "(file)", "a checklist_v2 that can be judged", finding.message)
    return tree


def _branch(
    case: Found, place: str, instruction: Instruction, checklist: Mapping[str, Any], options: Options
) -> Branch | None:
    """The branch of the instruction, or of the checklist where the instruction names none; the two must agree."""
    written = checklist.get("edit_category")
    there = branch_of(written) if isinstance(written, str) else None
    if not instruction.branch_label.strip():
        here = there or options.unknown_branch
    else:
        here = branch_of(instruction.branch_label) or options.unknown_branch
    if here is None:
        label = quoted(instruction.branch_label) if instruction.branch_label else "none"
        near = nearest(instruction.branch_label, BRANCHES) or f"or give --set unknown_branch={BRANCHES[0]}"
        case.wrong(place, "instruction.category", f"a branch ({', '.join(BRANCHES)}) or an operation code", label, near)
    elif there is not None and there != here and not options.allow_branch_mismatch:
        case.wrong(
            place, "instruction.category", f"the branch of its checklist ({there})", here,
            "correct one of them, or give --set allow_branch_mismatch=yes",
        )  # fmt: skip
    return here


def _source(case: Found, place: str, instruction: Instruction, root: Path) -> Path | None:
    """The source clip, which must lie in its folder."""
    if not instruction.video:
        case.wrong(place, "video", "the name of a file in videos/", "nothing")
        return None
    folder = real(root / VIDEOS)
    path = real(folder / instruction.video)
    if not path.is_relative_to(folder) or not path.is_file():
        case.wrong(place, "video", "the name of a file in videos/", quoted(instruction.video), _beside(path, folder))
        return None
    return path


def _output(case: Found, root: Path, options: Options) -> str:
    """The edited clip, relative to the root."""
    name = f"{options.edited}/{case.stem}.mp4"
    if not (root / name).is_file():
        case.no_output = True
        case.wrong(name, "(file)", "the edited clip", "nothing", _beside(root / name, root / options.edited))
    return name


def _beside(path: Path, folder: Path) -> str:
    """A file of the folder that may have been meant."""
    return nearest(path.name, [item.name for item in folder.iterdir()]) if folder.is_dir() else ""


def _labels(tree: Mapping[str, Any], instruction: Instruction, source: Path | None) -> dict[str, str]:
    labels = labels_of(tree)
    if instruction.operation:
        labels["operation"] = instruction.operation
    seconds = _seconds(source)
    bin_of = duration_bin(seconds) if seconds is not None else None
    return {**labels, "duration": bin_of} if bin_of else labels


def _seconds(source: Path | None) -> float | None:
    """Length of the pictures of the source; None for a clip that cannot be read, which the run will report."""
    try:
        video = probe(source).video if source is not None else None
    except MediaError:
        return None
    return video.duration if video is not None else None


def _data(instruction: Instruction, system: str, options: Options) -> dict[str, Any]:
    data = {
        "operation": instruction.operation,
        "instruction_id": instruction.id,
        "case_name": instruction.task,
        "compat_id": instruction.compat_id(system),
        "vram_bytes": options.vram_bytes,
    }
    named = {name: value for name, value in data.items() if value not in {None, ""}}
    return {**named, "branch_label": instruction.branch_label}  # empty too: the reference takes that for joint


def _notes(instruction: Instruction, checklist: Mapping[str, Any], source: Path | None) -> Iterator[str]:
    """What a reader should know and what stops nothing."""
    other = checklist.get("edit_prompt")
    if isinstance(other, str) and " ".join(other.split()) != " ".join(instruction.prompt.split()):
        yield "the checklist's edit_prompt differs from the instruction's prompt"
    if source is not None and _seconds(source) is None:
        yield "the source could not be measured: no duration stratum"


def _validate(case: Found, place: str) -> None:
    """What the manifest reader would refuse."""
    for schema, tree, prefix in ((CaseLine, case.line, ()), (AveData, case.line["data"], ("data",))):
        try:
            schema.model_validate(tree)
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_context=False):
                problem = explained({**detail, "loc": (*prefix, *detail["loc"])}, 1, schema.model_fields)
                case.wrong(place, problem.field, problem.expected, problem.found, problem.remedy)


def _strays(root: Path, cases: list[Found], options: Options) -> Iterator[str]:
    """Edited clips that no instruction asks for, where a clip that one asks for is missing: perhaps a misspelt name."""
    folder = root / options.edited
    known = {f"{case.stem}.mp4" for case in cases}
    if folder.is_dir() and any(case.no_output for case in cases):
        for name in sorted(path.name for path in folder.iterdir() if path.name not in known):
            yield f"{options.edited}/{shown(name)}: (file): expected the stem of an instruction and .mp4, found neither"


def _totals(cases: list[Found]) -> Iterator[str]:
    """Where the labels of the whole published set do not add up as published."""
    if len(cases) == CASES:
        for axis, expected, found in unlike_published([case.line.get("labels", {}) for case in cases]):
            yield f"{INSTRUCTIONS}: labels.{axis}: expected {expected} over {CASES} cases, found {found}"
