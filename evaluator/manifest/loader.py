"""A manifest file to cases: every line is read, every problem is collected, and only a flawless file gives cases.

Opens no media file: that the files exist is checked here, that they decode is `evaluator.manifest.check`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from evaluator.errors import ManifestError
from evaluator.manifest.model import MAX_PLACE, CaseLine, ReferenceLine
from evaluator.manifest.places import located, real
from evaluator.manifest.problems import Problem, explained, nearest, quoted, shown
from evaluator.manifest.reading import FILE, MAX_LINE, document, lines, parse, unreadable
from evaluator.schema import Case, Reference

Suites = Mapping[str, type[BaseModel] | None]
"""Name of every suite that exists -> schema of its `data{}`; None if it takes no data of its own."""
Examine = Mapping[str, Callable[[Case], Iterable[Problem]]]
"""Name of a suite -> what it has to say about a case that its schema cannot say."""


MOST = 1000
"""Problems after which nothing more is read: nobody mends more at a time, and a wrong file has one on every line."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest that was read without a problem."""

    path: Path  # as it was given
    digest: str  # SHA-256 (hex) of the file's bytes
    cases: tuple[Case, ...]  # in the order of the file
    lines: tuple[int, ...]  # line number of each case, from 1


def load(
    path: Path, media_root: Path | None = None, *, suites: Suites, examine: Examine | None = None
) -> tuple[Case, ...]:
    """The cases of a manifest, in the order of the file. Arguments and errors as for `read`."""
    return read(path, media_root, suites=suites, examine=examine).cases


def read(path: Path, media_root: Path | None = None, *, suites: Suites, examine: Examine | None = None) -> Manifest:
    """Read and check a whole manifest (UTF-8 JSON lines, one case a line).

    Paths in it are relative to `media_root`, by default the folder of the manifest, and must stay below it.
    Raises ManifestError with all problems of the file (but no more than MOST), in the order of its lines.
    """
    data, root = _bytes(path), _root(path, media_root)
    problem = unreadable(data)
    if problem:
        raise ManifestError([problem.shown(shown(str(path)))])
    reader = _Reader(root, suites, examine or {})
    for number, line in lines(data):
        reader.take(number, line)
        if len(reader.problems) > MOST:
            break
    if reader.problems:
        raise ManifestError(_messages(reader.problems, shown(str(path))))
    return Manifest(path, hashlib.sha256(data).hexdigest(), tuple(reader.cases), tuple(reader.first_line.values()))


def _messages(problems: Sequence[Problem], file: str) -> list[str]:
    messages = [problem.shown(file) for problem in problems[:MOST]]
    if len(problems) > MOST:
        messages.append(f"{file}: the first {MOST} problems are shown; mend these, then check again")
    return messages


def _bytes(path: Path) -> bytes:
    """Contents of the manifest. A pipe is refused too: the runner reads the file again when it resumes."""
    if path.exists() and not path.is_file():
        problem = Problem(1, FILE, "a regular file", "something else", "give the path of a manifest")
        raise ManifestError([problem.shown(shown(str(path)))])
    try:
        return path.read_bytes()
    except OSError as error:
        problem = Problem(1, FILE, "a readable manifest", str(error.strerror), "correct the path after --manifest")
        raise ManifestError([problem.shown(shown(str(path)))]) from error


def _root(path: Path, media_root: Path | None) -> Path:
    """The real path of the folder that all media lie below."""
    root = real(path.absolute().parent if media_root is None else media_root)
    if not root.is_dir():
        problem = Problem(1, "(media root)", "a folder", shown(str(media_root)), "correct the path after --media-root")
        raise ManifestError([problem.shown(shown(str(path)))])
    return root


class _Reader:
    """Takes the lines of one manifest in order and keeps cases, problems and the ids seen so far."""

    def __init__(self, root: Path, suites: Suites, examine: Examine) -> None:
        self.root, self.suites, self.examine = root, suites, examine
        self.cases: list[Case] = []
        self.problems: list[Problem] = []
        self.first_line: dict[str, int] = {}

    def take(self, number: int, line: bytes) -> None:
        """One line: a case, or at least one problem."""
        tree = parse(number, line)
        if isinstance(tree, Problem):
            self.problems.append(tree)
            return
        files = {field: located(text, self.root, number, field) for field, text in _places(tree)}
        found = [*self._repeated_id(number, tree), *self._misfits(number, tree)]
        found += [file for file in files.values() if isinstance(file, Problem)]
        if not found:
            case = _case(tree, {field: file for field, file in files.items() if isinstance(file, Path)}, number)
            found = [case] if isinstance(case, Problem) else self._examined(case, number)
            if not found and isinstance(case, Case):
                self.cases.append(case)
        self.problems += found

    def _examined(self, case: Case, number: int) -> list[Problem]:
        look = self.examine.get(case.suite)
        return [replace(problem, line=number) for problem in look(case)] if look else []

    def _repeated_id(self, number: int, tree: Mapping[str, Any]) -> Iterator[Problem]:
        name = tree.get("id")
        if isinstance(name, str) and self.first_line.setdefault(name, number) != number:
            found = f"{quoted(name)} again, first used on line {self.first_line[name]}"
            yield Problem(number, "id", "an id that no other case has", found, "rename one of the two")

    def _misfits(self, number: int, tree: Mapping[str, Any]) -> Iterator[Problem]:
        """What the schema of a line says and, when the suite is known, what its schema says about the data."""
        yield from _validated(CaseLine, tree, number)
        suite, data = tree.get("suite"), tree.get("data", {})
        if isinstance(suite, str) and suite not in self.suites:
            remedy = nearest(suite, self.suites) or f"known are {', '.join(sorted(self.suites))}"
            yield Problem(number, "suite", "a known suite", quoted(suite), remedy)
        elif isinstance(suite, str) and isinstance(data, dict):
            yield from _suite_data(self.suites[suite], data, number)


def _places(tree: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(field, path as written) of every path of a line. What is no path at all is left to the schema's message."""
    written = {field: tree.get(field) for field in ("video", "source", "checklist")}
    references = tree.get("references")
    for index, item in enumerate(references if isinstance(references, list) else []):
        written[f"references[{index}].path"] = item.get("path") if isinstance(item, dict) else None
    for field, text in written.items():
        if isinstance(text, str) and 0 < len(text) <= MAX_PLACE and "\0" not in text:
            yield field, text


def _case(tree: dict[str, Any], files: Mapping[str, Path], number: int) -> Case | Problem:
    """A case from a line without problems; `files` holds the real path of every field that names one.

    A checklist in a file is read here: what is asked belongs to the case, where it was kept does not.
    """
    references = tuple(
        Reference(**{**item, "path": files[f"references[{index}].path"]})
        for index, item in enumerate(tree.get("references", []))
    )
    questions = tree.get("checklist")
    if "checklist" in files:
        questions = _document(files["checklist"], number, "checklist")
        if isinstance(questions, Problem):
            return questions
    return Case(
        **{
            **tree,
            "video": files["video"],
            "source": files.get("source"),
            "references": references,
            "checklist": tuple(questions) if isinstance(questions, list) else questions,
            "shots": tuple(tree.get("shots", ())),
        }
    )


def _document(path: Path, number: int, field: str) -> Any | Problem:
    """The JSON in a file, of which no more than the limit is read."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_LINE + 1)
    except OSError as error:
        return Problem(number, field, "a readable file", str(error.strerror), "correct the path")
    return document(number, field, data)


def _suite_data(schema: type[BaseModel] | None, data: dict[str, Any], number: int) -> Iterator[Problem]:
    if schema is not None:
        yield from _validated(schema, data, number, ("data",))
    elif data:
        found = f"the key {quoted(next(iter(data)))}"
        yield Problem(number, "data", "no data: this suite takes none", found, "move free notes to meta")


def _validated(schema: type[BaseModel], tree: Any, number: int, prefix: tuple[str, ...] = ()) -> Iterator[Problem]:
    try:
        schema.model_validate(tree)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=False):
            known = _known_keys(schema, detail["loc"])
            yield explained({**detail, "loc": (*prefix, *detail["loc"])}, number, known)


def _known_keys(schema: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """Keys allowed beside the one at `location`, as far as they can be told without knowing a suite."""
    if len(location) == 1:
        return list(schema.model_fields)
    return list(ReferenceLine.model_fields) if schema is CaseLine and location[0] == "references" else []
