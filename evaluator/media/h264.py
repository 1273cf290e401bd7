"""How this project codes H.264: one thread and one kind of machine code, so that the same frames give the same bytes.

With the faster code that libx264 in PyAV 18 chooses on a new processor, two codings of the same frames differ now and
then, in one process too, and processors differ from each other; with that of SSE2 they gave the bits of the code in C
each time, in as little time. Knows no clip.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Final

H264: Final = "libx264"
"""FFmpeg's name of the encoder."""

_PARAMETERS: Final = "x264-params"
_CODE: Final = "asm=SSE2" if platform.machine().lower() in {"x86_64", "amd64"} else "asm=0"


def repeatable(options: Mapping[str, str] | None = None) -> dict[str, str]:
    """FFmpeg's options for libx264 that give the same bytes each time, on top of `options`.

    Parameters of x264 itself (`x264-params`, joined by colons) are kept. The stream's pixel format and size are the
    caller's.
    """
    given = dict(options or {})
    own = given.pop(_PARAMETERS, "")
    return {**given, "threads": "1", _PARAMETERS: ":".join(filter(None, (own, _CODE)))}
