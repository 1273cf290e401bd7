"""The lock: which models exist, where their weights come from, and how their files are read and fed.

`models/models.lock.json` is the only place that names a weight file. This module checks its form; it opens no weight
file and knows nothing about what a network computes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from evaluator.errors import PrerequisiteError
from evaluator.schema import Tier

LOCK_SCHEMA = 1
"""Raised when the meaning of a field of the lock changes."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Pin = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*==[0-9][0-9a-z.]*$")]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]

_STRICT = ConfigDict(extra="forbid")
_URL = re.compile(r"[a-z]+://", re.IGNORECASE)


@dataclass(frozen=True, config=_STRICT, kw_only=True)
class Licence:
    """What the origin says about its licence, in its own words; "not stated apart" where it says nothing on weights."""

    code: str
    weights: str


@dataclass(frozen=True, config=_STRICT, kw_only=True)
class Origin:
    """Where the published checkpoint is found: a sentence without an address, and its exact revision where known."""

    published: str
    revision: str | None = None
    package: Pin | None = None


@dataclass(frozen=True, config=_STRICT, kw_only=True)
class Source:
    """One file that an export or a copy reads: a member of a registry package, or a file that the user mounts.

    `inside` names a member of a zip file which is itself a member of the package. `sha256` is null where a publication
    names no digest: any mounted file of that name is read, and the export record says which it was.
    """

    name: FileName
    package: Pin | None = None
    member: str | None = None
    inside: str | None = None
    size: int | None = None
    sha256: Sha256 | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Source:
        if (self.package is None) != (self.member is None) or (self.inside and not self.member):
            raise ValueError(f"source {self.name}: package and member come together; inside needs both")
        if (self.size is None) != (self.sha256 is None) or (self.package is not None and self.sha256 is None):
            raise ValueError(f"source {self.name}: size and digest come together, and only a mounted one may lack them")
        return self


@dataclass(frozen=True, config=_STRICT, kw_only=True)
class Tensor:
    """One input or output of a network. A dimension is a size, or a name where any size is accepted.

    `always`: the one number that every call gives to a scalar input; an engine has it built in.
    """

    name: str
    dtype: Literal["float32", "float16", "float16 or float32", "uint8", "int64", "bool"]
    shape: tuple[int | str, ...]
    about: str = ""
    always: int | None = None

    @model_validator(mode="after")
    def _scalar(self) -> Tensor:
        if self.always is not None and self.shape:
            raise ValueError(f"tensor {self.name}: only a scalar always holds one number")
        return self


@dataclass(frozen=True, config=_STRICT, kw_only=True)
class ModelFile:
    """One file that the runtime opens. `sha256` is null when any file that honours the contract is accepted.

    `how`: "exported" by a recipe, "copied" byte for byte from the source of that name, or "mounted" by the user.
    `then` names sources that follow the first one, byte after byte, where a copied file comes in parts. `beside` names
    files that the same network reads from the same folder (external weights of an ONNX file). `ranges` gives open
    dimensions of inputs their smallest, likeliest and largest size, where a call has others than their names say
    (`evaluator.runtime.shapes`): it is what an engine is built for, not what a network takes.
    """

    name: FileName
    how: Literal["exported", "copied", "mounted"]
    source: FileName | None = None
    then: tuple[FileName, ...] = ()
    size: int | None = None
    sha256: Sha256 | None = None
    beside: tuple[FileName, ...] = ()
    ranges: dict[str, tuple[int, int, int]] = Field(default_factory=dict)
    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The sources of a copied file, in order; empty for any other file."""
        return () if self.source is None else (self.source, *self.then)

    @model_validator(mode="after")
    def _pinned(self) -> ModelFile:
        if (self.how == "copied") != (self.source is not None) or (self.then and self.source is None):
            raise ValueError(f"file {self.name}: a copied file, and no other, names its source")
        if (self.size is None) != (self.sha256 is None) or (self.how != "mounted" and self.sha256 is None):
            raise ValueError(f"file {self.name}: size and digest come together, and only a mounted file may lack them")
        named = {size for tensor in self.inputs for size in tensor.shape if isinstance(size, str)}
        for name, sizes in self.ranges.items():
            if name not in named or not 1 <= sizes[0] <= sizes[1] <= sizes[2]:
                raise ValueError(f"file {self.name}: ranges {name}: expected an open dimension and three rising sizes")
        return self


@dataclass(frozen=True, config=_STRICT, kw_only=True)
class Export:
    """How files are made from published weights. `sha256` is the digest of the recipe's text.

    Of a model with exported files, another text is another export. A model whose files are mounted may have a recipe
    too: it makes those that are networks, and any other file that honours the contract is accepted as well.
    """

    recipe: str
    sha256: Sha256
    opset: int
    precision: Literal["fp32", "fp16"]
    code: tuple[Pin, ...] = ()


NamedItem = TypeVar("NamedItem", Source, ModelFile)


@dataclass(frozen=True, config=_STRICT, kw_only=True)
class ModelEntry:
    """One model: what it answers, whose it is, and its files. `id` is also the expert's module and the recipe's."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    title: str
    capability: str
    tier: Tier
    stands_in_for: str = ""
    licence: Licence
    origin: Origin
    sources: tuple[Source, ...] = ()
    files: tuple[ModelFile, ...] = ()
    export: Export | None = None
    preprocessing: dict[str, Any]
    weightless: bool = False
    """Arithmetic alone: no file to mount, always there. What can be chosen about it is in `preprocessing`."""
    on_request: bool = False
    """Ships in a registry package, but is used by nothing unless asked to: not prepared by default, in no image."""

    @model_validator(mode="after")
    def _consistent(self) -> ModelEntry:
        if self.weightless == bool(self.files) or (self.weightless and self.tier is not Tier.EMBEDDED):
            raise ValueError(f"{self.id}: a model has files, unless it is embedded and weightless")
        if self.on_request and (self.weightless or self.tier is not Tier.EMBEDDED):
            raise ValueError(f"{self.id}: only a model that ships in a registry package is prepared on request")
        sources = {source.name for source in self.sources}
        names = [file.name for file in self.files]
        if len(sources) != len(self.sources) or len(set(names)) != len(names):
            raise ValueError(f"{self.id}: a source or file name occurs twice")
        for file in self.files:
            for source in file.parts:
                if source not in sources:
                    raise ValueError(f"{self.id}: file {file.name} copies {source}, which is no source")
            if not set(file.beside) <= set(names):
                raise ValueError(f"{self.id}: file {file.name} names a neighbour that is not listed")
        makes = {file.how for file in self.files} & ({"exported", "mounted"} if self.export else {"exported"})
        if bool(makes) != (self.export is not None):
            raise ValueError(f"{self.id}: exported files and an export recipe come together")
        if self.stands_in_for and self.tier is Tier.REFERENCE:
            raise ValueError(f"{self.id}: a reference model stands in for nothing")
        return self

    @property
    def stand_in(self) -> bool:
        """True if a record must say that this is not the published model."""
        return bool(self.stands_in_for)

    @property
    def made(self) -> tuple[ModelFile, ...]:
        """The files that the recipe makes: the exported ones, or the networks among the mounted ones."""
        exported = tuple(file for file in self.files if file.how == "exported")
        mounted = tuple(file for file in self.files if file.how == "mounted" and file.inputs)
        return (exported or mounted) if self.export else ()

    def file(self, name: str) -> ModelFile:
        """The file of that name. Raises KeyError: code asks only for files that the lock lists."""
        return _named(self.files, name, f"{self.id} has no file")

    def source(self, name: str) -> Source:
        """The source of that name. Raises KeyError."""
        return _named(self.sources, name, f"{self.id} has no source")


def _named(items: tuple[NamedItem, ...], name: str, complaint: str) -> NamedItem:
    for item in items:
        if item.name == name:
            return item
    raise KeyError(f"{complaint} {name!r} in the lock; it has {', '.join(item.name for item in items)}")


@dataclass(frozen=True, config=_STRICT, kw_only=True)
class Lock:
    """All models. `capabilities` lists, for each capability, the models that answer it, best first."""

    schema: Literal[1]
    capabilities: dict[str, tuple[str, ...]]
    models: tuple[ModelEntry, ...]

    @model_validator(mode="after")
    def _table(self) -> Lock:
        ids = [entry.id for entry in self.models]
        if len(set(ids)) != len(ids):
            raise ValueError("a model id occurs twice")
        listed = sorted(name for order in self.capabilities.values() for name in order)
        if listed != sorted(ids):
            raise ValueError(f"capabilities list {listed}, models are {sorted(ids)}: each model exactly once")
        for capability, order in self.capabilities.items():
            entries = [self[name] for name in order]
            if any(entry.capability != capability for entry in entries):
                raise ValueError(f"capability {capability} lists a model that answers another one")
            if entries != sorted(entries, key=lambda entry: entry.tier is not Tier.REFERENCE):
                raise ValueError(f"capability {capability}: reference models come before embedded ones")
        return self

    def __getitem__(self, model: str) -> ModelEntry:
        """The entry of that id. Raises KeyError."""
        for entry in self.models:
            if entry.id == model:
                return entry
        raise KeyError(f"no model {model!r} in the lock; it has {', '.join(entry.id for entry in self.models)}")

    def answering(self, capability: str) -> tuple[ModelEntry, ...]:
        """The models of a capability, best first. Raises KeyError for an unknown capability."""
        return tuple(self[name] for name in self.capabilities[capability])

    @property
    def embedded(self) -> tuple[ModelEntry, ...]:
        """The models whose weights ship in a registry package and are always there, once prepared."""
        return tuple(entry for entry in self.models if entry.tier is Tier.EMBEDDED and not entry.on_request)


def read_lock(path: Path) -> Lock:
    """Read and check a lock file. Raises PrerequisiteError with every problem that was found."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise PrerequisiteError(f"{path}: the model lock cannot be read ({error.strerror})") from error
    if _URL.search(text):
        raise PrerequisiteError(f"{path}: the model lock holds an address; origins are named in words")
    try:
        return TypeAdapter(Lock).validate_json(text)
    except ValidationError as error:
        raise PrerequisiteError(f"{path}: not a model lock of schema {LOCK_SCHEMA}\n{error}") from error
