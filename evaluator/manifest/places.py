"""A path as somebody wrote it to an existing regular file below the media root, or the reason why not.

A manifest may come from somebody else: no spelling of a path (absolute, `..`, a symbolic link) leads out of the root,
and only regular files pass, because opening a named pipe or a device can hang. Opens nothing.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from evaluator.manifest.problems import Problem, shown

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def real(path: Path) -> Path:
    """The absolute path with all links followed, as far as it exists. A loop of links stays as it is written."""
    return Path(os.path.realpath(path))


def located(text: str, root: Path, line: int, field: str) -> Path | Problem:
    """The real path of the file that `text` names. `root` must itself be a real path."""
    path = real(root / text)
    if not path.is_relative_to(root):
        expected, found = f"a file below {shown(str(root))}", f"{shown(text)}, which leads outside"
        return Problem(line, field, expected, found, "move the file, or give a folder that holds all with --media-root")
    try:
        mode = path.stat().st_mode
    except OSError as error:
        found = f"{shown(text)} ({error.strerror}) below {shown(str(root))}"
        return Problem(line, field, "an existing file", found, "correct the path, or give its folder with --media-root")
    if stat.S_ISREG(mode):
        return path
    return Problem(line, field, "a regular file", f"{_KINDS[stat.S_IFMT(mode)]} at {shown(text)}", "name a file")
