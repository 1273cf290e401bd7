"""Descriptions of source clips (spec 1.5): their form, the rules for a captioner (6.4), and their text for a prompt.

Form is checked exactly. What a text speaks of can only be suspected from its words: such findings are warnings, except
where a rule is about what must not be there at all (a transcription between quotation marks).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evaluator.manifest.problems import quoted
from evaluator.suites.ave_compass.checklist import Finding

FIELDS: Mapping[str, type] = {
    "caption": str,
    "audio_caption": str,
    "speech_or_non_speech": str,
    "shot_count": int,
    "visual_style": str,
}
KINDS = ("speech", "non_speech")
_SHOWN = ("caption", "audio_caption", "speech_or_non_speech", "visual_style")

_SOUND = re.compile(r"\b(?:sound|audio|audibl|hear|music|noise|soundtrack|voice-?over|narrat)", re.IGNORECASE)
_SIGHT = re.compile(r"\b(?:camera|visibl|visual|on screen|in the picture|close-up|wide shot|colou?r)", re.IGNORECASE)
_VOICE = re.compile(
    r"\b(?:voice|speech|speak|talk|say(?:s|ing)\b|narrat|sing(?:s|ing|er)\b|shout|whisper|laugh)", re.IGNORECASE
)
_NEGATED = re.compile(r"\b(?:no|without|free of)\s+(?:any\s+)?(?:audible\s+|human\s+)*\w+", re.IGNORECASE)
_QUOTATION = re.compile(r"[\"“”«»]|(?<!\w)'[^']{4,}'(?!\w)")
_TURN = re.compile(
    r"\b(?:cuts? to|hard cut|jump cut|cross-?fade|fades? (?:to|in|out)|dissolves?|wipes?|transitions? to|next shot"
    r"|second shot|third shot|fourth shot|fifth shot)\b",
    re.IGNORECASE,
)  # fmt: skip
_GUESS = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|might be|seems to|appears to be)\b", re.IGNORECASE
)
ENGLISH = 0.9
"""Share of letters that must be Latin without marks: names may carry accents, a sentence in another script may not."""


def text_of(caption: Mapping[str, Any]) -> str:
    """A caption file as text for a prompt: `overall` if it is there, else a line `name: value` per non-empty field."""
    overall = caption.get("overall")
    if isinstance(overall, str) and overall.strip():
        return overall
    lines = [(name, str(caption.get(name) or "").strip()) for name in _SHOWN]
    return "\n".join(f"{name}: {value}" for name, value in lines if value)


def findings(caption: Any) -> list[Finding]:
    """Everything that is wrong with a captioner's answer. Without the right form nothing else is looked at."""
    if not isinstance(caption, Mapping):
        return [Finding("K1", "E", "", f"expected an object, found {quoted(caption)}")]
    found = list(_form(caption))
    return found or [*_language(caption), *_separation(caption), *_shots(caption), *_speech(caption), *_doubt(caption)]


def _form(caption: Mapping[str, Any]) -> Iterator[Finding]:
    for name, kind in FIELDS.items():
        value = caption.get(name)
        if name not in caption:
            yield Finding("K1", "E", name, "the field is missing")
        elif not isinstance(value, kind) or isinstance(value, bool):
            yield Finding(
                "K1", "E", name, f"expected {'text' if kind is str else 'a whole number'}, found {quoted(value)}"
            )
        elif isinstance(value, str) and not value.strip():
            yield Finding("K1", "E", name, "the text is empty")
    for name in caption.keys() - FIELDS.keys():
        yield Finding("K1", "E", str(name), "the field was not asked for")
    if isinstance(caption.get("speech_or_non_speech"), str) and caption["speech_or_non_speech"] not in KINDS:
        yield Finding("K1", "E", "speech_or_non_speech", f"expected {' or '.join(KINDS)}")
    if isinstance(caption.get("shot_count"), int) and caption["shot_count"] < 1:
        yield Finding("K1", "E", "shot_count", "expected at least 1")
    for name in ("caption", "audio_caption"):
        if "\n" in str(caption.get(name, "")).strip():
            yield Finding("K1", "E", name, "expected one paragraph")


def _language(caption: Mapping[str, Any]) -> Iterator[Finding]:
    for name in ("caption", "audio_caption", "visual_style"):
        letters = [sign for sign in caption[name] if sign.isalpha()]
        if letters and sum(sign.isascii() for sign in letters) < ENGLISH * len(letters):
            yield Finding("K2", "E", name, "expected English")


def _separation(caption: Mapping[str, Any]) -> Iterator[Finding]:
    """What is seen and what is heard stay apart, and nobody is quoted."""
    if found := _SOUND.search(caption["caption"]):
        yield Finding("K3", "W", "caption", f"speaks of sound ({found[0]!r})")
    if found := _SIGHT.search(caption["audio_caption"]):
        yield Finding("K3", "W", "audio_caption", f"speaks of the picture ({found[0]!r})")
    if _QUOTATION.search(caption["audio_caption"]):
        yield Finding("K4", "E", "audio_caption", "quotes what is said; transcriptions are not wanted")


def _shots(caption: Mapping[str, Any]) -> Iterator[Finding]:
    """Each shot but the first is announced by a transition."""
    turns, shots = len(_TURN.findall(_NEGATED.sub(" ", caption["caption"]))), caption["shot_count"]
    if turns != shots - 1:
        yield Finding("K5", "W", "shot_count", f"{shots} shots, and the caption names {turns} transitions")


def _speech(caption: Mapping[str, Any]) -> Iterator[Finding]:
    voice = _VOICE.search(_NEGATED.sub(" ", caption["audio_caption"]))
    if voice and caption["speech_or_non_speech"] == "non_speech":
        yield Finding("K6", "E", "speech_or_non_speech", f"the audio caption tells of a voice ({voice[0]!r})")


def _doubt(caption: Mapping[str, Any]) -> Iterator[Finding]:
    for name in ("caption", "audio_caption"):
        if found := _GUESS.search(caption[name]):
            yield Finding("K7", "W", name, f"guesses ({found[0]!r}); what is not known is called unknown")
