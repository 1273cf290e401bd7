"""What `evaluator manifest ave-compass` takes after --set, each with its meaning and its allowed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaluator.errors import UsageError
from evaluator.suites.ave_compass.branches import BRANCHES, Branch, branch_of

SUITE_ID = "ave_compass"
EDITED = "edited_videos"
YES, NO = "yes", "no"


@dataclass(frozen=True, slots=True)
class Options:
    """What may be given after --set."""

    edited: str = EDITED  # folder of the system's clips, relative to the root
    allow_branch_mismatch: bool = False  # the instruction's branch counts
    unknown_branch: Branch | None = None  # instead of an error; the reference takes "joint"
    ids: str = "stem"  # "system": append the system, so that manifests of several systems can be joined
    vram_bytes: int | None = None  # of the card that profile compat imitates

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> Options:
        """Raises UsageError for a name or value that means nothing."""
        kinds: Mapping[str, tuple[str, ...]] = {
            "edited_videos": (),
            "allow_branch_mismatch": (YES, NO),
            "unknown_branch": BRANCHES,
            "ids": ("stem", "system"),
            "vram_bytes": (),
        }
        for name, value in settings.items():
            if name not in kinds:
                raise UsageError(f"--set {name}: {SUITE_ID} knows {', '.join(kinds)}")
            if kinds[name] and value not in kinds[name]:
                raise UsageError(f"--set {name}={value}: expected {' or '.join(kinds[name])}")
        memory = settings.get("vram_bytes")
        if memory is not None and (not memory.isdecimal() or int(memory) < 1):
            raise UsageError(f"--set vram_bytes={memory}: expected a number of bytes")
        unknown = settings.get("unknown_branch", "")
        return cls(
            edited=settings.get("edited_videos", EDITED),
            allow_branch_mismatch=settings.get("allow_branch_mismatch") == YES,
            unknown_branch=branch_of(unknown) if unknown else None,
            ids=settings.get("ids", "stem"),
            vram_bytes=int(memory) if memory else None,
        )
