"""The four branches of AVE-Compass and the many ways in which data sets spell them (spec 1.7).

`branch_of` understands every spelling that either half of the reference code knows, and operation codes. The two
`compat_` functions are those halves as they are: what they do not know silently becomes joint.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

Branch = Literal["joint", "speech", "video-only", "audio-only"]
BRANCHES: tuple[Branch, ...] = get_args(Branch)

_ALIASES: dict[str, Branch] = {
    "joint": "joint",
    "av": "joint",
    "audio-video": "joint",
    "audio-video-joint-edit": "joint",
    "speech": "speech",
    "speech-edit": "speech",
    "speech-editing": "speech",
    "video": "video-only",
    "video-only": "video-only",
    "video-only-edit": "video-only",
    "audio": "audio-only",
    "audio-only": "audio-only",
    "audio-only-edit": "audio-only",
}
_BY_CODE: dict[str, Branch] = {"a": "audio-only", "j": "joint", "s": "speech", "v": "video-only"}

_COMPAT_OBJECTIVE: dict[str, Branch] = {
    "audio": "audio-only",
    "video": "video-only",
    "av": "joint",
    "audio-video": "joint",
    "speech-editing": "speech",
    **{branch: branch for branch in BRANCHES},
}

_COMPAT_JUDGE: dict[str, Branch] = {
    "audio_video_joint_edit": "joint",
    "video_only_edit": "video-only",
    "audio_only_edit": "audio-only",
    "speech_edit": "speech",
    "video_only": "video-only",
    "audio_only": "audio-only",
    "speech": "speech",
}
_SPOKEN = ("speech", "speaker", "voice", "say ", "says ", "spoken")


def branch_of(text: str) -> Branch | None:
    """The branch that a label names, whatever its case, separators and trailing words after an operation code.

    None for a label that names none: the caller says which case it belongs to.
    """
    folded = re.sub(r"[\s_-]+", "-", text.strip().lower()).strip("-")
    if code := re.match(r"([ajsv])\d", folded):
        return _BY_CODE[code[1]]
    return _ALIASES.get(folded)


def compat_objective_branch(text: str) -> Branch:
    """The branch by which the reference routes its objective metrics: unknown and empty labels become joint."""
    return _COMPAT_OBJECTIVE.get(text.strip().lower().replace("_", "-"), "joint")


def compat_judge_branch(edit_category: str, edit_type: str = "", prompt: str = "") -> Branch:
    """The branch by which the reference picks the judge's instructions: a second normaliser, unlike the first.

    The type of the edit and words of the prompt count only where the category is empty.
    """
    if edit_category.strip():
        return _compat_judge_label(edit_category)
    found = _compat_judge_label(edit_type)
    guessed = found == "joint" and "joint" not in edit_type.lower()
    return "speech" if guessed and any(word in prompt.lower() for word in _SPOKEN) else found


def _compat_judge_label(text: str) -> Branch:
    return _COMPAT_JUDGE.get(re.sub(r"[- ]", "_", text.strip().lower()), "joint")
