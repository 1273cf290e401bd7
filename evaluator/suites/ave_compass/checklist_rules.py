"""The rules of a good checklist, C01 to C26 of spec 6.2: errors where a rule is exact, warnings where it is a hint.

Most rules about wording are ours: the source describes them, and words (`checklist_words`) can only suspect what a
person should look at. A warning never stops a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.suites.ave_compass import checklist_words as words
from evaluator.suites.ave_compass.branches import Branch, branch_of
from evaluator.suites.ave_compass.checklist import Checklist, Dimension, Finding, Item, Subdimension, Tag, read

VERSION = "checklist_v2"
RESPONSE_WORDING: Mapping[Tag, str] = {
    Tag.VIDEO: "Does the target video contain any visible change compared with the source video?",
    Tag.AUDIO: "Does the target audio contain any audible change compared with the source audio?",
}
"""The exact questions of the Edit Response items."""
RESPONSES: Mapping[Branch, tuple[tuple[Tag, ...], ...]] = {
    "video-only": ((Tag.VIDEO,),),
    "audio-only": ((Tag.AUDIO,),),
    "joint": ((Tag.VIDEO, Tag.AUDIO),),
    "speech": ((Tag.AUDIO,), (Tag.VIDEO, Tag.AUDIO), (Tag.AUDIO, Tag.VIDEO)),
}
"""Which Edit Response items a branch begins with; speech has a video one where the edit touches what is seen."""
TOTALS: Mapping[Branch, tuple[int, int]] = {"video-only": (8, 16), "audio-only": (8, 16), "joint": (10, 18)}
"""Usual number of items, from .. to. Nothing is stated for speech."""
MOST_IF, MOST_FP = 6, 7
ALIKE = 0.8
"""Token Jaccard from which the two items of a graded pair differ in wording only."""
ANSWER_KEYS = ("answer", "observation", "justification", "verdict", "score")


@dataclass(frozen=True, slots=True)
class Subject:
    """What the rules look at."""

    tree: Mapping[str, Any]
    checklist: Checklist
    branch: Branch

    def items(self, *subdimensions: Subdimension) -> list[Item]:
        """Items of these subdimensions."""
        return [item for item in self.checklist.items if item.subdimension in subdimensions]

    @property
    def scored(self) -> list[Item]:
        """All items but those about the response."""
        return [item for item in self.checklist.items if item.dimension is not Dimension.ER]


Rule = Callable[[Subject], Iterator[Finding]]


def findings(tree: Any, prompt: str = "") -> list[Finding]:
    """Everything that the rules say about a checklist, in the order of the rules.

    A checklist whose branch is not known, or that holds no usable item, is only read: other rules need both.
    """
    checklist, found = read(tree, prompt)
    if not isinstance(tree, Mapping):
        return found
    branch = branch_of(checklist.category)
    if branch is None:
        named = tree.get("edit_category")
        found.append(Finding("C03", "E", "edit_category", f"expected one of the four branches, found {named!r}"))
    elif checklist.items:
        subject = Subject(tree, checklist, branch)
        found += [finding for rule in RULES for finding in rule(subject)]
    return sorted(found, key=lambda finding: finding.rule)


# ------------------------------------------------------------------------------------------------- form and counts


def _version(given: Subject) -> Iterator[Finding]:
    if given.tree.get("schema_version") != VERSION:
        found = given.tree.get("schema_version")
        yield Finding("C02", "W", "schema_version", f"expected {VERSION!r}, found {found!r}")


def _ids_in_order(given: Subject) -> Iterator[Finding]:
    for place, item in enumerate(given.checklist.items, 1):
        if item.id != f"Q{place:02d}":
            yield Finding("C04", "W", item.id, f"expected Q{place:02d} at this place")
            return


def _responses(given: Subject) -> Iterator[Finding]:
    """C07 and C08: which Edit Response items there are, that they come first, and their exact words."""
    items = given.items(Subdimension.RESPONSE)
    tags = tuple(item.tag for item in items)
    if tags not in RESPONSES[given.branch]:
        expected = " or ".join("+".join(choice) for choice in RESPONSES[given.branch])
        found = "+".join(tags) or "none"
        yield Finding("C07", "E", "", f"a {given.branch} edit needs the responses {expected}, found {found}")
    if list(given.checklist.items[: len(items)]) != items:
        yield Finding("C07", "E", "", "Edit Response items must come first")
    for item in items:
        if item.tag in RESPONSE_WORDING and item.question != RESPONSE_WORDING[item.tag]:
            yield Finding("C08", "E", item.id, f"expected the words {RESPONSE_WORDING[item.tag]!r}")


def _counts(given: Subject) -> Iterator[Finding]:
    """C09, C10, C11."""
    correct = len(given.items(Subdimension.CORRECTNESS))
    fidelity = len(given.items(Subdimension.PRESERVATION, Subdimension.HALLUCINATION))
    if correct > MOST_IF:
        yield Finding("C09", "E", "", f"{correct} items about the instruction, at most {MOST_IF} are allowed")
    if fidelity > MOST_FP:
        yield Finding("C10", "E", "", f"{fidelity} items about fidelity, at most {MOST_FP} are allowed")
    total, usual = len(given.checklist.items), TOTALS.get(given.branch)
    if usual and not usual[0] <= total <= usual[1]:
        yield Finding("C11", "W", "", f"{total} items; {usual[0]} to {usual[1]} are usual (fewer after deduplication)")


def _own_modality(given: Subject) -> Iterator[Finding]:
    """C12: the instruction of a single-modality edit is about that modality, unless the prompt names the other one."""
    allowed = {"video-only": (Tag.VIDEO, words.AUDIO), "audio-only": (Tag.AUDIO, words.VIDEO)}.get(given.branch)
    if allowed is None:
        return
    tag, other = allowed
    level = "W" if other.search(given.checklist.prompt) else "E"
    for item in given.items(Subdimension.CORRECTNESS):
        if item.tag is not tag:
            yield Finding("C12", level, item.id, f"tagged {item.tag} in a {given.branch} edit")  # type: ignore[arg-type]


def _no_answers(given: Subject) -> Iterator[Finding]:
    for place, one in enumerate(given.tree.get("questions", ()), 1):
        if isinstance(one, Mapping) and (keys := [key for key in ANSWER_KEYS if key in one]):
            yield Finding("C26", "E", f"Q{place:02d}", f"holds an answer ({', '.join(keys)})")


# ------------------------------------------------------------------------------------------------------- wording


def _polarity(given: Subject) -> Iterator[Finding]:
    """C13: Yes must be the good outcome."""
    removal = words.REMOVAL.search(given.checklist.prompt) is not None
    for item in given.scored:
        flagged = words.POOR_POLARITY.search(item.question)
        remains = words.REMAINS.search(item.question) if removal or words.REMOVAL.search(item.question) else None
        if (found := flagged or remains) and not words.CLEAN_FORM.search(item.question):
            yield Finding("C13", "W", item.id, f"is Yes the good outcome? ({found[0]!r})")
        if item.subdimension is Subdimension.HALLUCINATION and not words.CLEAN_FORM.search(item.question):
            yield Finding("C13", "W", item.id, "ask in the form `free of`, `no extra` or `without any unrequested`")


def _atomic(given: Subject) -> Iterator[Finding]:
    """C14: one observation per item. Camera motion and cuts belong together by rule C20."""
    for item in given.scored:
        if found := words.SECOND_VERB.search(item.question):
            yield Finding("C14", "W", item.id, f"asks two things ({found[0]!r})")
        if words.NEW_FOR_OLD.search(item.question):
            yield Finding("C14", "W", item.id, "names the new target and the absence of the old one: make two items")


def _only_the_instruction(given: Subject) -> Iterator[Finding]:
    """C15."""
    for item in given.items(Subdimension.CORRECTNESS):
        if found := words.NOT_CORRECTNESS.search(item.question):
            yield Finding("C15", "W", item.id, f"asks about something else than the instruction ({found[0]!r})")
        if given.branch == "joint" and words.BOTH_TOGETHER.search(item.question):
            yield Finding("C15", "W", item.id, "asks whether both edits are done: their own items say so")


def _graded_pairs(given: Subject) -> Iterator[Finding]:
    """C16: an item about the direction and one about the degree must not be the same question."""
    for tag in Tag:
        items = [item for item in given.items(Subdimension.CORRECTNESS) if item.tag is tag]
        partial = [item for item in items if words.PARTIAL.search(item.question)]
        full = [item for item in items if words.FULL.search(item.question)]
        for first in partial:
            for second in full:
                if first is not second and words.jaccard(first.question, second.question) >= ALIKE:
                    yield Finding("C16", "W", second.id, f"differs from {first.id} in wording only")


def _names_a_property(given: Subject) -> Iterator[Finding]:
    """C19 and C25: a preservation item says which property is kept; framing belongs to the camera item."""
    for item in given.items(Subdimension.PRESERVATION):
        if words.CAMERA_ITEM.search(item.question):
            continue
        if not words.PROPERTY.search(item.question):
            yield Finding(
                "C19", "W", item.id, "names no property (shape, texture, colour, size; level, pitch, content)"
            )
        if words.FRAMING.search(item.question):
            yield Finding("C25", "W", item.id, "framing belongs to the item about camera motion and cuts")


def _on_topic(given: Subject) -> Iterator[Finding]:
    """C24."""
    known = words.content_words(f"{given.checklist.caption} {given.checklist.prompt}")
    for item in given.scored:
        if not words.CAMERA_ITEM.search(item.question) and not words.content_words(item.question) & known:
            yield Finding("C24", "W", item.id, "shares no word with the caption or the prompt")


# ------------------------------------------------------------------------------------------------------ coverage


def _edited_tags(given: Subject) -> list[Tag]:
    """Modalities that the instruction items speak of."""
    return list(dict.fromkeys(item.tag for item in given.items(Subdimension.CORRECTNESS)))


def _over_time(given: Subject) -> Iterator[Finding]:
    """C17: a lasting edit needs an item about its duration, an action one about its completion."""
    subject = f"{given.checklist.edit_type} {given.checklist.prompt}"
    action, lasting = words.ACTION.search(subject), words.PERSISTENT.search(subject)
    if not (action or lasting):
        return
    what, wanted = ("completion", words.COMPLETION) if action else ("coverage over time", words.COVERAGE)
    for tag in _edited_tags(given):
        texts = [item.question for item in given.items(Subdimension.CORRECTNESS) if item.tag is tag]
        if not words.some(wanted, texts):
            yield Finding("C17", "W", "", f"no {tag} item asks about {what}")


def _original_absent(given: Subject) -> Iterator[Finding]:
    """C18."""
    prompt = given.checklist.prompt
    gone = words.REMOVAL.search(prompt) or words.REPLACEMENT.search(prompt)
    texts = [item.question for item in given.items(Subdimension.CORRECTNESS)]
    if gone and not words.some(words.ABSENCE, texts):
        yield Finding("C18", "W", "", f"no item asks whether the original is absent ({gone[0]!r} in the prompt)")


def _camera(given: Subject) -> Iterator[Finding]:
    """C20."""
    texts = [item.question for item in given.items(Subdimension.PRESERVATION)]
    if words.moves_camera(given.checklist.caption) and not words.some(words.CAMERA_ITEM, texts):
        yield Finding("C20", "W", "", "the caption tells of camera motion or cuts; no item asks whether they match")


def _kept_sounds(given: Subject) -> Iterator[Finding]:
    """C21: each kind of sound that is kept has its own item."""
    edited = words.kinds_of_sound(given.checklist.prompt)
    kept = [kind for kind in words.kinds_of_sound(given.checklist.caption) if kind not in edited]
    items = [item for item in given.items(Subdimension.PRESERVATION) if item.tag is Tag.AUDIO]
    for item in items:
        if len(lumped := [kind for kind in words.kinds_of_sound(item.question) if kind in kept]) > 1:
            yield Finding("C21", "W", item.id, f"asks about {' and '.join(lumped)} at once")
    if kept and len(items) < len(kept):
        yield Finding("C21", "W", "", f"{len(items)} items about kept sounds; the caption names {', '.join(kept)}")


def _kept_speech(given: Subject) -> Iterator[Finding]:
    """C22."""
    spoken = words.SOURCES["speech"]
    if given.branch == "speech" or spoken.search(given.checklist.prompt) or not spoken.search(given.checklist.caption):
        return
    texts = [item.question for item in given.items(Subdimension.PRESERVATION) if item.tag is not Tag.VIDEO]
    for what, wanted in (("words", words.WORDS_KEPT), ("voice", words.VOICE_KEPT)):
        if not words.some(wanted, texts):
            yield Finding("C22", "W", "", f"speech is kept, and no item asks about its {what}")


def _hallucination(given: Subject) -> Iterator[Finding]:
    """C23."""
    tags = {item.tag for item in given.items(Subdimension.HALLUCINATION)}
    if given.branch != "audio-only" and not tags & {Tag.VIDEO, Tag.GENERAL}:
        yield Finding("C23", "W", "", "no item asks whether the picture is free of additions")
    if Tag.AUDIO not in tags and not words.SILENT.search(given.checklist.caption):
        yield Finding("C23", "W", "", "no item asks whether the sound is free of additions")


RULES: tuple[Rule, ...] = (
    _version,
    _ids_in_order,
    _responses,
    _counts,
    _own_modality,
    _polarity,
    _atomic,
    _only_the_instruction,
    _graded_pairs,
    _over_time,
    _original_absent,
    _names_a_property,
    _camera,
    _kept_sounds,
    _kept_speech,
    _hallucination,
    _on_topic,
    _no_answers,
)
"""Every rule but C01, C03, C05 and C06, without which there is nothing to look at."""
