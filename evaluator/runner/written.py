"""JSON files that a run wrote, read back: they may be torn, of another version, or changed by hand.

A field that is there must be of the kind that is written. One that is not there is missed when somebody asks for it, so
that a file of another version serves whoever does not need what it lacks. Knows no file by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import GenericAlias
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from evaluator.errors import UsageError
from evaluator.manifest.problems import explained
from evaluator.schema import SCHEMA_VERSION

ANEW = "another version wrote it, or it was changed; run again into that folder to write it anew"
"""What to do about a file that cannot be used."""


class Tree(dict[str, Any]):
    """An object of a file. A key that it does not have is a UsageError that names file and field."""

    def __init__(self, items: Mapping[str, Any], path: Path, place: str = "") -> None:
        super().__init__({name: _wrapped(value, path, f"{place}{name}") for name, value in items.items()})
        self._path, self._place = path, place

    def __missing__(self, name: str) -> Any:
        raise UsageError(f"{self._path}: {self._place}{name}: expected a value, found nothing; {ANEW}")


def _wrapped(value: Any, path: Path, place: str) -> Any:
    """An object of the outermost one, or a list of objects there, with keys that are missed; anything else as it is."""
    if isinstance(value, Mapping) and "." not in place:
        return Tree(value, path, f"{place}.")
    if isinstance(value, list) and "." not in place:
        return [Tree(v, path, f"{place}[{i}].") if isinstance(v, Mapping) else v for i, v in enumerate(value)]
    return value


def kinds(name: str, fields: Mapping[str, Any]) -> type[BaseModel]:
    """A model of an object with these kinds of fields, each of which may be absent; other fields may be there too."""
    given: dict[str, Any] = {field: (kind, None) for field, kind in fields.items()}  # None: of what is absent
    return create_model(name, __config__=ConfigDict(extra="ignore"), **given)


def many(kind: type[BaseModel]) -> Any:
    """A list of these."""
    return GenericAlias(list, (kind,))


def read_tree(path: Path, expected: type[BaseModel]) -> Tree:
    """The object in a file. Raises UsageError for anything else, another schema, or a field of another kind."""
    try:
        data = path.read_bytes()
        tree = orjson.loads(data)
        orjson.dumps(tree)  # a TypeError for what is nested deeper than anything that is written
    except (ValueError, TypeError) as error:
        raise UsageError(f"{path}: not JSON ({error}); run again into that folder to write it anew") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    schema = tree.get("schema") if isinstance(tree, dict) else None
    if schema != SCHEMA_VERSION:
        raise UsageError(f"{path}: schema {schema}, this version reads {SCHEMA_VERSION}")
    try:
        expected.model_validate_json(data, strict=True)
    except ValidationError as error:
        problem = explained(error.errors()[0], 0, ())
        found = f"{problem.field}: expected {problem.expected}, found {problem.found}"
        raise UsageError(f"{path}: {found}; {ANEW}") from error
    return Tree(tree, path)
