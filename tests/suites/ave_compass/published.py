"""The published layout in small: four folders with cases of every branch, for tests of the importer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

QUESTIONS = {
    "video": "Does the target video contain any visible change compared with the source video?",
    "audio": "Does the target audio contain any audible change compared with the source audio?",
}


def checklist(category: str, **more: Any) -> dict[str, Any]:
    """A checklist of two items, fit for any branch."""
    items = [
        {"question_id": f"Q{number:02d}", "dimension": "Edit Response", "subdimension": "edit_response",
         "modality_tag": tag, "question": text}
        for number, (tag, text) in enumerate(QUESTIONS.items(), 1)
    ]  # fmt: skip
    return {
        "schema_version": "checklist_v2",
        "video": "clip.mp4",
        "instruction_index": 1,
        "caption": "A meadow.",
        "edit_prompt": "Let it rain.",
        "edit_type": "weather",
        "edit_category": category,
        "questions": items,
        "success": True,
        **more,
    }


def instruction(category: str, **more: Any) -> dict[str, Any]:
    """An instruction file's content."""
    inner = {"category_label": category, "operation": "J6.1", "prompt_en": "Let it rain.", "instruction_id": 7}
    return {"video": "clip.mp4", "task": "rain", "instruction_index": 1, "instruction": inner, **more}


class Published:
    """A root to which cases are added."""

    def __init__(self, root: Path, clip: Path) -> None:
        self.root = root
        for name in ("videos", "edit_instructions", "checklists", "edited_videos"):
            (root / name).mkdir(parents=True)
        self.clip = clip.read_bytes()
        (root / "videos" / "clip.mp4").write_bytes(self.clip)

    def add(
        self,
        stem: str,
        category: str,
        instruction_: Mapping[str, Any] | None = None,
        checklist_: Mapping[str, Any] | None = None,
        output: bool = True,
    ) -> None:
        """One case; `instruction_` and `checklist_` replace what would be written."""
        self.write(f"edit_instructions/{stem}.json", instruction_ or instruction(category))
        self.write(f"checklists/{stem}_checklist.json", checklist_ or checklist(category))
        if output:
            (self.root / "edited_videos" / f"{stem}.mp4").write_bytes(self.clip)

    def write(self, name: str, tree: Any) -> None:
        """Write JSON, or text as it is."""
        text = tree if isinstance(tree, str) else json.dumps(tree)
        (self.root / name).write_text(text, encoding="utf-8")
