"""What only AVE-Compass understands about a case: `data` of a manifest line.

Where the rest is kept: `category` holds the branch (joint, speech, video-only, audio-only), `prompt` the edit
instruction, `source` and `video` the two clips, `checklist` the object of schema checklist_v2, and `labels` the strata
(localisation, complexity, linkage, aspect, duration, operation).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from evaluator.suites.ave_compass.branches import Branch


class Layout(BaseModel):
    """What an import found in the published layout, so that a missing output stays counted though it has no line."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    instructions: int = Field(ge=0, description="Cases that the layout asks for.")
    missing_output: dict[Branch, int] = Field(default={}, description="Cases without an edited clip, by branch.")
    unusable: int = Field(0, ge=0, description="Cases left out for another reason, such as a broken checklist.")


class AveData(BaseModel):
    """One case of AVE-Compass. Everything may be left out of a manifest written by hand."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, title="AVE-Compass data")

    operation: str = Field("", pattern=r"^([AJSV]\d+\.\d+)?$", description="Operation code, for example S2.1.")
    instruction_id: str | int | None = Field(None, description="Id of the instruction in the published file.")
    case_name: str = Field("", description="Name of the case in the published file.")
    compat_id: str = Field("", description="The id that the reference code would give; not unique.")
    branch_label: str = Field(
        "", description="The branch as published; profile compat routes by it as it stands, empty or not."
    )
    vram_bytes: int | None = Field(
        None, gt=0, description="Memory of the card whose frame interpolation profile compat reproduces."
    )
    layout: Layout | None = Field(None, description="Counts of the import that this case came from.")
