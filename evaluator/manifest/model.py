"""What a manifest line may hold, before paths are looked up. The JSON Schema of a case is generated from here.

Types are strict: a number is never taken for text, nor text for a number. Knows no suite and touches no file.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

MAX_NAME = 200
"""Characters of an id, and of what else becomes a cell of a table."""

MAX_PLACE = 4096
"""Characters of a path, as on Linux."""

_CONTROL = r"[\x00-\x1f\x7f-\x9f\u2028\u2029]"


def _one_line(text: str) -> str:
    """Refuse what would tear a line of a table or of a terminal, in words instead of a pattern."""
    if re.search(_CONTROL, text):
        raise PydanticCustomError("control_character", "text without control characters")
    return text


# Not "^[^...]*$": some dialects let $ stand before a final newline.
_ONE_LINE: JsonDict = {"not": {"pattern": _CONTROL}}

Name = Annotated[str, Field(max_length=MAX_NAME, json_schema_extra=_ONE_LINE), AfterValidator(_one_line)]
"""A short label."""
Place = Annotated[
    str, Field(min_length=1, max_length=MAX_PLACE, json_schema_extra=_ONE_LINE), AfterValidator(_one_line)
]
"""A path, relative to the media root or absolute below it, with / between folders."""


class ReferenceLine(BaseModel):
    """One reference of a case: an image, a clip or a sound that the output should follow."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    kind: Literal["image", "video", "audio"]
    path: Place
    role: Name = Field("", description="What it is a reference for, in the suite's words, for example face or voice.")
    entity: Name = Field(
        "", description="Which entity of the prompt it shows; references that share it belong together."
    )


class CaseLine(BaseModel):
    """One line of a manifest: one output of one system."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, title="evaluator manifest line")

    id: Name = Field(min_length=1, description="Unique within the manifest; names the case in every record.")
    suite: str = Field(description="The protocol that scores this case.")
    video: Place = Field(description="The clip under test.")
    system: Name = Field("", description="The model or method that made the clip.")
    source: Place | None = Field(None, description="The clip that was edited, or that the output is compared with.")
    prompt: str = Field("", description="What the system was asked for.")
    category: Name = Field("", description="A stratum for aggregates.")
    references: list[ReferenceLine] = Field(default=[], description="What the output should follow.")
    checklist: Place | list[Any] | None = Field(None, description="Questions: a file, or the list itself.")
    shots: list[Any] = Field(default=[], description="The shots that were asked for, in order.")
    labels: dict[str, Any] = Field(default={}, description="Strata and gold answers.")
    data: dict[str, Any] = Field(default={}, description="What only this suite understands; checked by its schema.")
    meta: dict[str, Any] = Field(default={}, description="Free notes, passed through untouched.")

    @field_validator("checklist", mode="before")
    @classmethod
    def _path_or_list(cls, value: Any) -> Any:
        """One message where the union would give one per member."""
        if value is None or isinstance(value, str | list):
            return value
        raise PydanticCustomError("path_or_list", "a path or a list of questions")
