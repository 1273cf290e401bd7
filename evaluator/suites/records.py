"""Records of a benchmark as JSON lines: read as strictly as a manifest, with one wording for what is wrong with them.

For importers. Knows no protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import ValidationError

from evaluator.errors import UsageError
from evaluator.manifest.places import real
from evaluator.manifest.problems import Problem, shown
from evaluator.manifest.reading import lines, parse


def records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, record) of every line that is not blank. Raises UsageError for anything that is not a record."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); name the file with --set records=FILE") from error
    for number, line in lines(data):
        record = parse(number, line)
        if isinstance(record, Problem):
            raise UsageError(record.shown(shown(str(path))))
        yield number, record


def is_below(root: Path, place: str) -> bool:
    """Whether there is a file of that name below the root. Of a place outside nothing is looked at."""
    path = real(root / place)
    return path.is_relative_to(real(root)) and path.is_file()


def existing(root: Path, place: str) -> str:
    """The place again, if it is a file below the root. Raises ValueError."""
    if not is_below(root, place):
        raise ValueError(f"{place}: expected a file, found none below {root}")
    return place


def document_name(name: str, kind: str) -> str:
    """`<name>_<kind>.json`, the file of a generated document, with what no file name may hold escaped."""
    return f"{quote(name, safe=' ')}_{kind}.json"


def said(error: Exception) -> str:
    """What a KeyError, TypeError, ValueError or ValidationError says about a record, in a problem's words."""
    if isinstance(error, KeyError):
        return f"{error.args[0]}: expected a value, found nothing"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)
