"""Prompts: one Markdown file each, loaded once, with a digest that goes into every record.

A file begins with a header (`purpose`, `data`, `labels` or `tokens`) between two lines `---`, followed by the sections
`## system`, `## question` and, for JSON answers, `## schema`. The rules of `common.md` stand before every system text.
A model that was trained to answer in a form of its own is asked for plain text (`answer: text`); the metric reads it.
Nothing is ever put into the text of a prompt: what differs from question to question (the checklist item, the
instruction, the options) travels as untrusted data blocks beside it, so it cannot change what is asked.

Data slots of the header: `question` must be given, `caption?` may be, `option*` is a list, shown as "option A",
"option B" and so on; a list also cuts the labels to its length. Knows the vocabulary only, no suite.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from evaluator.judge.types import AudioPart, FramesPart, ImagePart, Modality, Part, Question, TextPart

_FILE = re.compile(r"---\n(?P<header>.*?)\n---\n(?P<body>.*)", re.DOTALL)
_SECTION = re.compile(r"^## (\w+)\n", re.MULTILINE)

Data = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One way of asking. `labels` for one-token answers, else `answer_schema`; neither for plain text."""

    id: str
    sha256: str  # of the file and of the common rules
    purpose: str
    slots: tuple[str, ...]
    system: str
    closing: str  # the last text that the judge reads
    labels: tuple[str, ...]
    answer_schema: Mapping[str, Any] | None
    max_tokens: int

    def ask(
        self,
        item: str,
        evidence: Sequence[Part],
        data: Data,
        *,
        substitute: bool = False,
        sample: int = 0,
        temperature: float = 0.0,
        top_k: int = 0,
    ) -> Question:
        """A question with this prompt. `evidence` comes first, then the data blocks, then the closing text.

        `substitute` says that some of the evidence stands in for what the protocol shows. A repeated ask has another
        `sample`; at a temperature above 0 its text is drawn from that seed, each token from the `top_k` likeliest (0:
        from all). Raises ValueError for data that the prompt does not know or lacks, and for a list of less than two or
        more than LETTERS entries.
        """
        blocks = tuple(self._blocks(data))
        count = max((len(value) for value in data.values() if not isinstance(value, str)), default=len(self.labels))
        return Question(
            item=item,
            task=self.id,
            prompt_sha256=self.sha256,
            parts=(*evidence, *blocks, TextPart(self.closing)),
            labels=self.labels[:count],
            answer_schema=self.answer_schema,
            modalities=frozenset({Modality.TEXT, *map(modality, evidence)}),
            max_tokens=self.max_tokens,
            sample=sample,
            temperature=temperature,
            top_k=top_k,
            protocol_deviation=substitute,
            system=self.system,
        )

    def _blocks(self, data: Data) -> Iterator[TextPart]:
        known = {slot.rstrip("?*"): slot for slot in self.slots}
        if unknown := data.keys() - known.keys():
            raise ValueError(f"prompt {self.id} has no data {sorted(unknown)}, only {list(known)}")
        for name, slot in known.items():
            if name not in data:
                if not slot.endswith("?"):
                    raise ValueError(f"prompt {self.id} needs data {name!r}")
                continue
            value = data[name]
            if isinstance(value, str) == slot.endswith("*"):
                raise ValueError(f"prompt {self.id}, data {name!r}: expected {'a list' if slot[-1] == '*' else 'text'}")
            yield from _entries(name, value) if not isinstance(value, str) else (TextPart(value, name, untrusted=True),)


def _entries(name: str, values: Sequence[str]) -> Iterator[TextPart]:
    if not 2 <= len(values) <= len(LETTERS):
        raise ValueError(f"{len(values)} entries of {name!r}: expected 2 to {len(LETTERS)}")
    return (TextPart(value, f"{name} {letter}", untrusted=True) for letter, value in zip(LETTERS, values, strict=False))


LETTERS = string.ascii_uppercase[:13]
"""Names of list entries: as many as the longest published list of options (CutCraft's 13 montage types)."""


def modality(part: Part) -> Modality:
    """What a judge must be able to perceive for this part."""
    kinds = {ImagePart: Modality.IMAGE, FramesPart: Modality.VIDEO, AudioPart: Modality.AUDIO, TextPart: Modality.TEXT}
    return kinds[type(part)]


@cache
def load(name: str) -> Prompt:
    """The prompt `prompts/<name>.md`. Raises ValueError if there is none, or if its file is not of the form above."""
    return parse(name, _read(name), _read("common"))


def names() -> list[str]:
    """Ids of all prompts."""
    found = (entry.name.removesuffix(".md") for entry in _folder().iterdir() if entry.name.endswith(".md"))
    return sorted(set(found) - {"common"})


def parse(name: str, content: bytes, common: bytes) -> Prompt:
    """A prompt from the bytes of its file and of the common rules."""
    whole = _FILE.fullmatch(content.decode())
    if not whole:
        raise ValueError(f"prompt {name}: expected a header between two lines '---'")
    header = dict(line.split(": ", 1) for line in whole["header"].splitlines())
    _, *pieces = _SECTION.split(whole["body"])
    sections = {title: text.strip() for title, text in zip(pieces[::2], pieces[1::2], strict=True)}
    labels = tuple(header.get("labels", "").split())
    if [bool(labels), "schema" in sections, header.get("answer") == "text"].count(True) != 1:
        raise ValueError(f"prompt {name}: expected one of labels, a schema, or `answer: text`")
    return Prompt(
        id=name,
        sha256=hashlib.sha256(common + b"\0" + content).hexdigest(),
        purpose=header["purpose"],
        slots=tuple(header.get("data", "").split()),
        system=f"{common.decode().strip()}\n\n{sections['system']}",
        closing=sections["question"],
        labels=labels,
        answer_schema=orjson.loads(sections["schema"]) if "schema" in sections else None,
        max_tokens=int(header.get("tokens", "1")),
    )


def _folder() -> Any:
    return files("evaluator.judge") / "prompts"


def _read(name: str) -> bytes:
    path = _folder() / f"{name}.md"
    if not re.fullmatch(r"\w+", name) or not path.is_file():
        raise ValueError(f"no prompt {name!r}; there are {', '.join(names())}")
    data: bytes = path.read_bytes()
    return data
