"""Does an opened network take and give what its lock entry says? Asked once, when a session is opened.

A file that the user mounts may come from any exporter: a wrong name, rank, size or element type is reported here, by
name, instead of as an error from inside a run. Knows nothing about what a network means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol, runtime_checkable

from evaluator.errors import ModelCorrupt
from evaluator.runtime.lock import ModelFile, Tensor
from evaluator.runtime.session import Session

Signature = tuple[Sequence[int | str | None], str]  # shape, element type in ONNX Runtime's words

ELEMENT = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(uint8)": "uint8",
    "tensor(int64)": "int64",
    "tensor(bool)": "bool",
}


@runtime_checkable
class DescribesOutputs(Protocol):
    """A session that also knows the shapes of its outputs before it has run."""

    output_types: Mapping[str, Signature]


def check_contract(session: Session, model: str, file: ModelFile, path: object) -> None:
    """Compare a session with the lock. Raises ModelCorrupt with every difference.

    A fixed size in the lock is met by the same size or by a free dimension; a named size needs a free dimension, unless
    only outputs have it: how many boxes a detector gives is its own affair.
    """
    problems = _differences("input", file.inputs, session.inputs)
    if isinstance(session, DescribesOutputs):
        given = {size for item in file.inputs for size in item.shape if isinstance(size, str)}
        own = {size for item in file.outputs for size in item.shape if isinstance(size, str)} - given
        problems += _differences("output", file.outputs, session.output_types, own)
    else:
        problems += [f"output {item.name} is missing" for item in file.outputs if item.name not in session.outputs]
    if problems:
        listed = "\n".join(f"  {line}" for line in problems)
        raise ModelCorrupt(f"{path}: does not honour the contract of model {model}, file {file.name}:\n{listed}")


def _differences(
    kind: str, expected: Sequence[Tensor], found: Mapping[str, Signature], own: AbstractSet[int | str] = frozenset()
) -> list[str]:
    problems = [
        f"{kind} {name} is not expected; expected are {', '.join(item.name for item in expected)}"
        for name in found
        if kind == "input" and name not in {item.name for item in expected}
    ]
    for item in expected:
        if item.name not in found:
            problems.append(f"{kind} {item.name} is missing; the file has {', '.join(found)}")
            continue
        shape, element = found[item.name]
        if ELEMENT.get(element, element) not in item.dtype.split(" or "):
            problems.append(f"{kind} {item.name}: expected {item.dtype}, found {ELEMENT.get(element, element)}")
        if not _fits(item, shape, kind, own):
            problems.append(f"{kind} {item.name}: expected shape {list(item.shape)}, found {list(shape)}")
    return problems


def _fits(item: Tensor, shape: Sequence[int | str | None], kind: str, own: AbstractSet[int | str]) -> bool:
    """Whether every call that the lock allows is one that the network takes."""
    if kind == "output" and not shape:  # exporters may leave the rank of an output open
        return True
    if len(item.shape) != len(shape):
        return False
    pairs = zip(item.shape, shape, strict=True)
    return all(not isinstance(has, int) or has == want or want in own for want, has in pairs)
