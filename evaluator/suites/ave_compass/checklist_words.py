"""Words by which the checklist rules know what a question, a caption or an instruction speaks of.

English only, as the published data are. A word list finds hints, not proofs: every rule that rests on one warns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def _any(words: str) -> re.Pattern[str]:
    """Matches one of the words, separated by bars, from its beginning on (`sound` also finds `sounds`)."""
    return re.compile(rf"\b(?:{words})", re.IGNORECASE)


AUDIO = _any(
    "sound|audio|audibl|music|voice|noise|volume|loud|quiet|hear|silen|melod|spoken|speech|speak|say|narrat|ambien|song"
    "|birdsong|decibel"
)
VIDEO = _any(
    "picture|visual|visibl|colou?r|video|camera|scene|background|shot|frame|look|style|crop|zoom|object|texture"
)

POOR_POLARITY = _any(
    r"still (?:visible|audible|present|there)|contain (?:any )?extra|any artifact|introduce|fails? to|missing"
)
REMAINS = _any("remain")
REMOVAL = _any("remov|delet|eras|get rid|mute|silence the|take out|strip")
REPLACEMENT = _any(r"replac|swap|instead of|turn .{1,60} into|chang\w* .{1,60} into|exchange")
CLEAN_FORM = _any(r"free of|free from|no extra|no unrequested|without (?:any )?(?:extra|unrequested|new)|without any")
ABSENCE = _any("no longer|absent|gone|free of|without|removed|disappear|silent|not visible|not audible")

VERBS = (
    "is|are|was|were|does|do|did|has|have|can|keeps?|stays?|remains?|looks?|sounds?|appears?|moves?|changes?|starts?"
    "|ends?|becomes?|match|matches|disappears?|falls?|speaks?|plays?|stops?|turns?|reach|reaches|holds?|shows?|contains?"
)
SECOND_VERB = re.compile(rf"\b(?:and|or|while|as well as)\s+(?:also\s+|then\s+)?(?:{VERBS})\b", re.IGNORECASE)
NEW_FOR_OLD = re.compile(
    r"\breplac\w*\b.{1,80}\b(?:by|with)\b|\binstead of\b|\b(?:and|while)\b.{1,60}\b(?:no longer|gone|absent|removed)\b",
    re.IGNORECASE,
)

NOT_CORRECTNESS = _any(
    "natural|realis|artefact|artifact|synchron|in sync|preserv|unchanged|hallucinat|unrequested"
    "|same as (?:in )?the source"
)
BOTH_TOGETHER = re.compile(
    r"\bboth\b.{0,60}\b(?:edits?|changes?|audio|video|visual|picture|sound)\b.{0,60}"
    r"\b(?:together|complete|completed|applied|done|carried out)\b",
    re.IGNORECASE,
)
PARTIAL = _any("begin|start|some|at least|partial|in the requested direction|toward|noticeabl")
FULL = _any("clearly|fully|complete|requested (?:degree|softness|strength|speed|level)|reach|entirely")

PERSISTENT = _any(
    "background|environment|identity|appearance|replac|ambien|voice|style|weather|material|scenery|whole (?:shot|clip)"
)
ACTION = _any("movement|motion change|gesture|jump|wave|nod|run|walk|spin|sentence")
COVERAGE = _any(
    "throughout|entire|whole|all the time|from (?:start|beginning) to end|every frame|at all times|all shots|duration"
    "|until the end"
)
COMPLETION = _any("complete|finish|fully|reach|degree|end of the (?:action|movement)")

PROPERTY = _any(
    "shape|form|texture|appearance|colou?r|size|position|layout|light|character|level|loud|volume|pitch|content|timbre"
    "|tone|words|tempo|rhythm|expression|identity|pattern|melody"
)
CAMERA_ITEM = re.compile(r"\bcamera\b.{0,60}\bcuts?\b|\bcuts?\b.{0,60}\bcamera\b", re.IGNORECASE)
CAMERA_MOVES = _any(
    r"pan(?:s|ning)?\b|tilt|zoom|track|dolly|handheld|hand-held|push-in|camera (?:moves|follows|shakes)|cuts?\b"
    "|transition|fade|dissolve|wipe"
)
NO_CAMERA = re.compile(r"\b(?:no|without|free of)\s+(?:any\s+)?(?:cuts?|transitions?|camera\s+\w+)", re.IGNORECASE)
FRAMING = _any("framing|reframe|crop|field of view|composition|border")

SOURCES = {
    "music": _any(r"music|score|melod|piano|guitar|orchestra|song\b"),
    "speech": _any("speech|voice|narrat|talk|speak|spoken|says|dialogue|interview"),
    "ambience": _any("ambien|background noise|room tone|wind|traffic|birdsong|birds|crowd"),
    "effects": _any("footstep|bark|engine|splash|bang|click|crash|knock|applause|horn"),
}
"""Kinds of sound of which each that is kept has an item of its own."""
SILENT = _any("silence throughout|silent|no sound|no audio")
WORDS_KEPT = _any("words|sentence|what is said|spoken content|wording|transcript")
VOICE_KEPT = _any("voice|timbre|tone|pitch")

_COMMON = re.compile(
    "does|did|are|was|were|the|and|with|without|any|has|have|from|that|this|than|then|its|for|been|clip|video|audio"
    "|target|source|compared|change|contain|keep|stay|still|same|match|edited|original|whole|throughout|free"
    "|unrequested|visible|audible|clearly"
)


def content_words(text: str) -> set[str]:
    """Stems of the words that say what a text is about."""
    words = re.findall(r"[a-z]+", text.lower())
    return {_stem(word) for word in words if len(word) > 2 and not _COMMON.fullmatch(word)}


def tokens(text: str) -> set[str]:
    """Lower-case words of a text."""
    return set(re.findall(r"\w+", text.lower()))


def jaccard(first: str, second: str) -> float:
    """Shared over all words of two texts, 0..1."""
    ours, theirs = tokens(first), tokens(second)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 0.0


def kinds_of_sound(text: str) -> list[str]:
    """Which of SOURCES a text speaks of."""
    return [kind for kind, words in SOURCES.items() if words.search(text)]


def moves_camera(caption: str) -> bool:
    """Whether a caption tells of a camera movement, a cut or a transition (and not of their absence)."""
    return bool(CAMERA_MOVES.search(NO_CAMERA.sub(" ", caption)))


def some(pattern: re.Pattern[str], texts: Iterable[str]) -> bool:
    """Whether any of the texts matches."""
    return any(pattern.search(text) for text in texts)


def _stem(word: str) -> str:
    for ending in ("ing", "ied", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
