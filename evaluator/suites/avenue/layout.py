"""From records to manifest lines: one JSON record per instance with the outputs of all systems (section 1.1).

How the dataset itself is laid out could not be read, so the records are those that the specification proposes:
`ROOT/records.jsonl`, or the file named by `--set records=FILE`, with `case_id`, `scope`, `edit_type`, prompts, what had
to change and to stay, `source_video` and `outputs` (system -> path). `--system '*'` takes every system: outputs are cut
to the shortest among the systems of one manifest, so that all of them belong into one. `--set rival=NAME` makes
pairwise cases against that system instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluator.errors import UsageError
from evaluator.suites.avenue.data import AvenueData
from evaluator.suites.base import Imported
from evaluator.suites.records import existing, records, said

RECORDS = "records.jsonl"
EVERYBODY = "*"
COPIED = (
    "scope",
    "edit_type",
    "subtype",
    "semantic_category",
    "source_prompt",
    "target_prompt",
    "what_changed",
    "what_preserved",
    "null_edit",
    "trigger",
    "condition",
)


def importer(root: Path, system: str, settings: Mapping[str, str]) -> Imported:
    """Manifest lines of one system, or of all. Raises UsageError for options that are not known."""
    if unknown := settings.keys() - {"records", "rival"}:
        raise UsageError(f"--set {', '.join(sorted(unknown))}: avenue knows records=FILE and rival=NAME")
    path = root / settings.get("records", RECORDS)
    lines: list[Mapping[str, Any]] = []
    problems: list[str] = []
    for number, record in records(path):
        try:
            lines += _lines(record, system, settings.get("rival"), root)
        except (KeyError, TypeError, ValueError) as error:
            problems.append(f"{path.name}:{number}: {said(error)}")
    return Imported(tuple(lines), tuple(problems))


def _lines(record: Mapping[str, Any], system: str, rival: str | None, root: Path) -> Iterator[dict[str, Any]]:
    outputs: Mapping[str, str] = record["outputs"]
    wanted = list(outputs) if system == EVERYBODY else [system] if system in outputs else []
    for name in wanted:
        if rival is not None and (name == rival or rival not in outputs):
            continue
        place = existing(root, outputs[name])
        line = _line(record, name, place, root)
        yield line if rival is None else _against(line, rival, existing(root, outputs[rival]))


def _line(record: Mapping[str, Any], system: str, output: str, root: Path) -> dict[str, Any]:
    paradigms = record.get("paradigms", {})
    data = {
        "instance": record["case_id"],
        **{name: record[name] for name in COPIED if record.get(name) is not None},
        **({"paradigm": paradigms[system]} if system in paradigms else {}),
    }
    AvenueData.model_validate(data)
    return {
        "id": f"{record['case_id']}/{system}",
        "suite": "avenue",
        "system": system,
        "video": output,
        "source": existing(root, record["source_video"]),
        "prompt": record["instruction"],
        "category": record.get("semantic_category", ""),
        "data": data,
    }


def _against(line: Mapping[str, Any], rival: str, output: str) -> dict[str, Any]:
    reference = {"kind": "video", "path": output, "role": "rival", "entity": rival}
    return {**line, "id": f"{line['id']}-against-{rival}", "references": [reference]}
