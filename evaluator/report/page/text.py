"""Text of other people on our page: signs that turn or hide their neighbours are spelled out.

Escaping is the template's; this is about what a person sees. `web/dom.js` holds the same rule for the scripts.
"""

from __future__ import annotations

import re

TURNING = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
"""Controls, and marks that change the order of letters or show nothing."""


def visible(text: object) -> str:
    """The text with every such sign as its code point: `[U+202E]`."""
    return TURNING.sub(lambda found: f"[U+{ord(found[0]):04X}]", str(text))
