"""What the manifest says about the cases of a finished run, read again if it is still the one that was scored.

Knows lines of a manifest; opens no clip.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.manifest.places import located, real
from evaluator.manifest.problems import Problem
from evaluator.manifest.reading import lines, parse
from evaluator.report.aggregate import Origins
from evaluator.report.runs import Run

DIFFICULTY = "difficulty"
"""The label that cases are also broken down by."""


@dataclass(frozen=True, slots=True)
class CaseFacts:
    """One line of the manifest, as far as people want to see it. Paths are as they were written."""

    category: str = ""
    difficulty: str = ""
    prompt: str = ""
    video: str = ""
    source: str = ""
    references: tuple[str, ...] = ()
    labels: Mapping[str, Any] = field(default_factory=dict)
    origin: str = ""  # outputs of one origin are not independent: source, else prompt, else the case itself


NO_FACTS = CaseFacts()


@dataclass(frozen=True, slots=True)
class Facts:
    """The cases by id; `missing` says why there are none, `root` is where their paths start."""

    cases: Mapping[str, CaseFacts]
    root: Path
    missing: str = ""

    def of(self, case: str) -> CaseFacts:
        """What is known of a case."""
        return self.cases.get(case, NO_FACTS)

    @property
    def origins(self) -> Origins:
        """Case -> what its output was made from."""
        return {case: facts.origin for case, facts in self.cases.items()}

    def strata(self, label: str) -> dict[str, str]:
        """Case -> its `category` or `difficulty`, of the cases that have one."""
        return {case: str(stratum) for case, facts in self.cases.items() if (stratum := getattr(facts, label))}

    def place(self, written: str) -> Path | Problem:
        """The file behind a path of the manifest, if it is there and below the root."""
        return located(written, real(self.root.absolute()), 0, "path")


def read_facts(run: Run, manifest: Path | None = None, root: Path | None = None) -> Facts:
    """From `manifest`, or else from the manifest that the run names if it did not change since."""
    path = manifest or Path(run.header["manifest"]["path"])
    folder = root or path.parent
    if not path.is_file():
        return Facts({}, folder, f"The manifest {path} is not there any more.")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != run.header["manifest"]["sha256"]:
        return Facts({}, folder, f"The manifest {path} is not the one that was scored: its digest differs.")
    trees = (parse(number, line) for number, line in lines(data))
    return Facts({tree["id"]: _case(tree) for tree in trees if isinstance(tree, dict)}, folder)


def _case(line: Mapping[str, Any]) -> CaseFacts:
    """A line that was valid when it was scored, which its digest proves."""
    labels = line.get("labels", {})
    return CaseFacts(
        category=line.get("category", ""),
        difficulty=str(labels.get(DIFFICULTY, "")),
        prompt=line.get("prompt", ""),
        video=line["video"],
        source=line.get("source") or "",
        references=tuple(item["path"] for item in line.get("references", ())),
        labels=labels,
        origin=str(line.get("source") or line.get("prompt") or line["id"]),
    )
