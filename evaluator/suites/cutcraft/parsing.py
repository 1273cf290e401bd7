"""The reference code's way of finding a letter or a Yes in free text (CutCraft spec 6, golden cases 15.3; D-12).

Only profile `compat` reads answers so: "Answer: C" is an A to it. Strings in, strings out.
"""

from __future__ import annotations

from collections.abc import Sequence

_SAYS = ("ANSWER IS {}", "CHOOSE {}", "答案是{}", "选择{}")


def reference_letter(text: str, valid: Sequence[str]) -> str | None:
    """The first valid letter, in their order, that the text starts with or names in a set phrase; None without one."""
    said = text.strip().upper()
    if said.startswith("ERROR:"):
        return None
    return next(
        (one for one in valid if said.startswith(one) or any(phrase.format(one) in said for phrase in _SAYS)), None
    )


def reference_yes_no(text: str) -> str | None:
    """Yes if its first 20 characters hold YES and no NOT before it, No if they hold NO; None otherwise.

    Golden cases 15.3 decide where the NOT may stand: "Yes, not exactly" is a Yes.
    """
    said = text.strip().upper()[:20]
    if "YES" in said and "NOT" not in said[: said.index("YES")]:
        return "Yes"
    return "No" if "NO" in said else None
