"""The manifest: one JSON line per case, read strictly, with every problem of the file reported at once.

    reading   bytes -> numbered JSON objects (encoding, line ends, JSON that two readers could take differently)
    model     what a line may hold, as pydantic models; the JSON Schema comes from here
    places    a path that was written -> an existing regular file below the media root
    problems  one wording for whatever is wrong:  file:line: field: expected ..., found ...; what to do
    loader    the four above -> cases
    check     every media file of a manifest opened and measured once
    schemas   JSON Schemas of a case and of a score

The package knows no suite by name: callers pass the suites that exist the schema of each one's `data{}`, and
what it has to say about a case.
"""

from __future__ import annotations

from evaluator.manifest.loader import Examine, Manifest, Suites, load, read

__all__ = ["Examine", "Manifest", "Suites", "load", "read"]
