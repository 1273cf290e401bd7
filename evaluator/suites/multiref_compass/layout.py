"""From records to manifest lines: one JSON record per sample with the outputs of all systems (section 1.3).

The release's own columns could not be read, so the records are those that the specification proposes:
`ROOT/samples.jsonl` or the file named by `--set records=FILE`. `--system '*'` takes every system. An output that is not
there is a problem of that system's sample and no line: the tables count it as missing. `--set checklists=DIR`, a folder
below ROOT, takes `<sample>_checklist.json` of `evaluator generate multiref` for samples that bring no checklist.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluator.errors import UsageError
from evaluator.suites.base import Imported
from evaluator.suites.multiref_compass.data import REF_AUDIO, REF_VIDEO, VIEW, MultiRefData
from evaluator.suites.records import document_name, existing, is_below, records, said

RECORDS = "samples.jsonl"
EVERYBODY = "*"
CLIPS = {".mp4", ".mov", ".mkv", ".webm"}
"""Endings of views that are clips: their first frame is the view."""


def importer(root: Path, system: str, settings: Mapping[str, str]) -> Imported:
    """Manifest lines of one system, or of all. Raises UsageError for options that are not known."""
    if unknown := settings.keys() - {"records", "checklists"}:
        raise UsageError(f"--set {', '.join(sorted(unknown))}: multiref_compass knows records=FILE, checklists=DIR")
    if "checklists" in settings and not (root / settings["checklists"]).is_dir():
        raise UsageError(f"--set checklists={settings['checklists']}: expected a folder below {root}, found none")
    path = root / settings.get("records", RECORDS)
    lines: list[Mapping[str, Any]] = []
    problems: list[str] = []
    for number, record in records(path):
        try:
            shared = _shared(record, root, settings.get("checklists"))
            for name, place in _outputs(record, system):
                if is_below(root, place):
                    lines.append({"id": f"{record['sample_id']}/{name}", "system": name, "video": place, **shared})
                else:
                    problems.append(f"{path.name}:{number}: outputs.{name}: expected a file, found none at {place}")
        except (KeyError, TypeError, ValueError) as error:
            problems.append(f"{path.name}:{number}: {said(error)}")
    return Imported(tuple(lines), tuple(problems))


def _outputs(record: Mapping[str, Any], system: str) -> list[tuple[str, str]]:
    outputs: Mapping[str, str] = record["outputs"]
    return list(outputs.items()) if system == EVERYBODY else [(system, outputs[system])] if system in outputs else []


def _shared(record: Mapping[str, Any], root: Path, checklists: str | None) -> dict[str, Any]:
    """What is equal for all systems of a sample. Raises for a record that is not of the form."""
    prompt, facts = record["prompt"], record.get("meta", {})
    data = {
        "sample": record["sample_id"],
        "board": record["board"],
        "style": record.get("style", "real"),
        "entities": [{key: value for key, value in one.items() if key != "views"} for one in record["entities"]],
        "parts": {name: prompt[name] for name in ("video", "audio", "speech") if prompt.get(name)},
        "facts": facts,
    }
    MultiRefData.model_validate(data)
    return {
        "suite": "multiref_compass",
        "prompt": prompt["integrated"],
        "category": record["board"],
        "references": [{**one, "path": existing(root, one["path"])} for one in _references(record)],
        **_checklist(record, root, checklists),
        "data": data,
    }


def _checklist(record: Mapping[str, Any], root: Path, folder: str | None) -> dict[str, Any]:
    """The record's own checklist, else the place of a generated one; neither is no problem yet."""
    if "checklist" in record:
        return {"checklist": record["checklist"]}
    place = f"{folder}/{document_name(record['sample_id'], 'checklist')}"
    return {"checklist": place} if folder is not None and (root / place).is_file() else {}


def _references(record: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for entity in record["entities"]:
        for place in entity.get("views", ()):
            kind = "video" if Path(place).suffix.lower() in CLIPS else "image"
            yield {"kind": kind, "role": VIEW, "entity": entity["entity_id"], "path": place}
    if record.get("ref_video"):
        yield {"kind": "video", "role": REF_VIDEO, "path": record["ref_video"]}
    if record.get("ref_audio"):
        yield {"kind": "audio", "role": REF_AUDIO, "path": record["ref_audio"]}
