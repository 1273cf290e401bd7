"""Evidence in words: transcripts, tags, shots and facts, with times, bounded.

All of it is data and goes out as such (`untrusted`): a transcript is whatever somebody said in a clip, and a fact may
quote a file's metadata. Numbers are rounded to what they are good for, so that equal findings give equal text. Plain
values in: this module knows no expert and no metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evaluator.judge.evidence import Exhibit
from evaluator.judge.types import Evidence, TextPart

CHARACTERS = 8_000
"""Most characters of one part."""

Fact = str | int | float | bool | None


def transcript(segments: Iterable[tuple[float, float, str]], name: str, most: int = CHARACTERS) -> Exhibit:
    """What was said: (start, end, words) in seconds, one line each."""
    lines = [f"{_span(start, end)} {_one_line(words)}" for start, end, words in segments]
    return _text(lines or ["(no speech was recognised)"], name, Evidence.TRANSCRIPT, most)


def tags(found: Iterable[tuple[str, float]], name: str, most: int = CHARACTERS) -> Exhibit:
    """What is heard or seen: (class, probability), one line each."""
    lines = [f"{_one_line(label)}: {probability:.2f}" for label, probability in found]
    return _text(lines or ["(nothing was recognised)"], name, Evidence.TAGS, most)


def shots(found: Sequence[tuple[float, float]], name: str, most: int = CHARACTERS) -> Exhibit:
    """The shots of a clip: (start, end) in seconds, numbered from 1."""
    lines = [f"shot {number}: {_span(start, end)}" for number, (start, end) in enumerate(found, 1)]
    return _text(lines or ["(no shot was found)"], name, Evidence.FACTS, most)


def facts(found: Mapping[str, Fact], name: str, most: int = CHARACTERS) -> Exhibit:
    """Measurements, one line each; a number has four significant digits, and what is not known is said to be so."""
    lines = [f"{_one_line(key)}: {_value(value)}" for key, value in found.items()]
    return _text(lines, name, Evidence.FACTS, most)


def _text(lines: Sequence[str], name: str, evidence: Evidence, most: int) -> Exhibit:
    whole = "\n".join(lines)
    part = TextPart(_bounded(whole, most), name, untrusted=True, evidence=evidence)
    record = {
        "part": name,
        "kind": "text",
        "evidence": evidence.value,
        "sha256": part.sha256,
        "characters": len(part.text),
        "of": len(whole),
    }
    return Exhibit(part, record)


def _bounded(text: str, most: int) -> str:
    """The text, or its beginning and a sentence that says how much is missing; at most `most` characters."""
    if len(text) <= most:
        return text
    note = f"\n(cut off: {len(text)} characters in all)"
    if most <= len(note):
        raise ValueError(f"{most} characters leave no room for text")
    return text[: most - len(note)] + note


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _span(start: float, end: float) -> str:
    return f"[{start:.2f} s to {end:.2f} s]"


def _value(value: Fact) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else _one_line(str(value))
