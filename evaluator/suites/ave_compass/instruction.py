"""One instruction file of AVE-Compass (spec 1.3): which keys it may use, and which of several counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from evaluator.manifest.problems import Problem
from evaluator.manifest.reading import MAX_LINE, document

BRANCH_KEYS = (
    "category_label",
    "taxonomy_label",
    "task_category",
    "category_type",
    "objective_category",
    "category",
)
"""The first that is not empty names the branch."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """What the evaluator reads of an instruction. Text is trimmed; what is absent or of another type is empty."""

    stem: str
    video: str  # file name of the source
    task: str  # name of the case; the stem of the source where the file gives none
    prompt: str
    branch_label: str  # as published
    operation: str  # code, for example S2.1
    id: str | int | None

    @classmethod
    def of(cls, tree: Mapping[str, Any], stem: str) -> Instruction:
        """From the parsed file. An `instruction` that is no object counts as an empty one."""
        found = tree.get("instruction")
        inner: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
        number = next((value for value in (inner.get("instruction_id"), inner.get("id")) if value), None)
        number = tree.get("instruction_index") if number is None else number
        video = _text(tree, ("video",))
        return cls(
            stem=stem,
            video=video,
            task=_text(tree, ("task",)) or PurePosixPath(video).stem or stem,
            prompt=_text(inner, ("prompt_en", "prompt")) or _text(tree, ("prompt_en", "prompt")),
            branch_label=_text(inner, BRANCH_KEYS),
            operation=_code(_text(inner, ("operation",))),
            id=number if isinstance(number, str | int) and not isinstance(number, bool) else None,
        )

    def compat_id(self, system: str) -> str:
        """The reference's id, in which a trailing _1 becomes .1: `a_1` and `a.1` collide."""
        stem = re.sub(r"^(.*)_(\d+)$", r"\1.\2", self.stem)
        return f"{system}/{stem}" if system else stem


def read_json(path: Path) -> Any | str:
    """The content of a JSON file (UTF-8, a byte order mark is allowed), or in words why there is none.

    A file that holds nothing but a JSON string cannot be told from those words; no caller wants one.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_LINE + 1)
    except OSError as error:
        return f"nothing ({error.strerror})"
    tree = document(1, "content", data)
    return f"{tree.found} where {tree.expected} should be" if isinstance(tree, Problem) else tree


def _text(tree: Mapping[str, Any], keys: Iterable[str]) -> str:
    """The first of these keys that holds text."""
    values = (tree.get(key) for key in keys)
    return next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")


def _code(text: str) -> str:
    """An operation code at the beginning of a label, in capitals."""
    found = re.match(r"([AJSV])\s*(\d+\.\d+)", text.upper())
    return found[1] + found[2] if found else ""
