"""The sub-metrics that are a mean of a judge's grades (sections 3.3 to 3.9).

AQ, DP, ESM, SC, VTF, ATF, SCA, TOF. Each is its items and the rubric that says what the grades mean; `grading` does
the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from evaluator.metrics.base import Metric
from evaluator.schema import Case
from evaluator.suites.multiref_compass.checklist import ANATOMY, Item, exact_lines, items
from evaluator.suites.multiref_compass.data import of, views
from evaluator.suites.multiref_compass.grading import COMPARES, HEARS, SEES, Items, graded, observed


def anatomy(case: Case) -> tuple[Item, ...]:
    """AQ: the checklist's items, else the fixed ones."""
    return items(case, "AQ") or ANATOMY


def details(case: Case) -> tuple[Item, ...]:
    """DP: the checklist's items, else one per entity with a reference picture."""
    return items(case, "DP") or tuple(
        Item(
            entity.entity_id,
            f"Does {entity.name} keep the fine attributes of its reference pictures: clothes, texture, accessories, "
            "marks, colours?",
            entity=place,
        )
        for place, entity in enumerate(of(case).entities)
        if views(case, entity.entity_id)
    )


def events(case: Case) -> tuple[Item, ...]:
    """ESM: the checklist's sound events, else all of them at once."""
    every = Item("events", "Each sound event that is asked for or seen: is a fitting sound heard when it happens?")
    return items(case, "ESM") or (every,)


def sources(case: Case) -> tuple[Item, ...]:
    """SC: the checklist's sources, else voices and sound effects apart, as far as they are asked for."""
    facts = of(case).facts
    voice = Item("voice", "Does each voice come from the person who is seen to speak, with lips that move?")
    effects = Item("effects", "Does each sound effect come from the thing that is seen to make it?")
    spoken = facts.speech in {"monologue", "dialogue"}
    return items(case, "SC") or (*((voice,) if spoken else ()), *((effects,) if facts.sfx else ()))


def lines(case: Case) -> tuple[Item, ...]:
    """SCA: the checklist's items, else one per exact line."""
    return items(case, "SCA") or exact_lines(of(case))


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sub-metric: what is graded, by which rubric, on which evidence."""

    id: str
    title: str
    summary: str
    items: Items
    rubric: str
    shown: tuple[str, ...]
    section: str
    version: int = 1

    def metric(self) -> Metric:
        """One token per item."""
        card = graded(self.id, self.title, self.summary, self.items, self.rubric, self.shown, self.section)
        return replace(card, version=self.version)

    def observed(self) -> Metric:
        """An observation and a whole number per item."""
        return observed(self.metric(), self.items, self.rubric)


_FOLLOWED = (
    "5: entirely as asked. 4: as asked with a slight deviation. 3: partly. 2: a trace of it. 1: absent or opposite. "
    "A reading that fulfils the demand in another plausible way is as asked."
)
SHEETS = (
    Sheet(
        "aq",
        "Anatomical quality (AQ)",
        "A judge's grades of anatomy, plausibility and depth.",
        anatomy,
        "5: nothing to fault, or nothing of the kind is seen. 4: a slight flaw. 3: a flaw that viewers notice. 2: a "
        "serious flaw. 1: broken. Style is no flaw: a drawn figure is judged as a drawn figure.",
        (SEES,),
        "3.3",
        version=2,
    ),
    Sheet(
        "dp",
        "Detail preservation (DP)",
        "A judge's grades of whether entities keep the fine attributes of their references.",
        details,
        "5: every attribute is kept. 4: one small difference. 3: several differences or a clear one. 2: most differ. "
        "1: another thing, or absent. What the prompt asks to change counts as kept.",
        (SEES, COMPARES),
        "3.5",
        version=2,
    ),
    Sheet(
        "esm",
        "Event-sound match (ESM)",
        "A judge's grades of whether a fitting sound is heard when a sound event happens.",
        events,
        "5: a fitting sound at the moment of the event. 4: slightly off in time or kind. 3: noticeably off. 2: hardly "
        "related. 1: no sound, or one that cannot belong to it.",
        (SEES, HEARS),
        "3.7",
    ),
    Sheet(
        "sc",
        "Source correctness (SC)",
        "A judge's grades of whether each sound comes from the right visible source.",
        sources,
        "5: every sound has its right source. 3: one is attributed wrongly or unclear. 1: voices are swapped, lips are "
        "still while speech is heard, or an off-screen voice speaks for somebody on screen. 4 and 2 lie between.",
        (SEES, HEARS),
        "3.7",
    ),
    Sheet(
        "vtf",
        "Visual task following (VTF)",
        "A judge's grades of the visual items of the checklist.",
        partial(items, category="VTF"),
        _FOLLOWED,
        (SEES,),
        "3.9",
    ),
    Sheet(
        "atf",
        "Audio task following (ATF)",
        "A judge's grades of the requested non-speech sound.",
        partial(items, category="ATF"),
        _FOLLOWED,
        (SEES, HEARS),
        "3.9",
    ),
    Sheet(
        "sca",
        "Speech content accuracy (SCA)",
        "A judge's grades of exact lines: language, words, speaker, structure.",
        lines,
        "5: exactly these words in this language by this speaker. 4: one small slip. 3: several words differ, or the "
        "speaker is wrong. 2: hardly the line. 1: not said, or in another language.",
        (SEES, HEARS),
        "3.9",
    ),
    Sheet(
        "tof",
        "Temporal order following (TOF)",
        "A judge's grades of shots, scenes and the order of visible events.",
        partial(items, category="TOF"),
        _FOLLOWED,
        (SEES,),
        "3.9",
    ),
)
METRICS = {sheet.id: sheet.metric() for sheet in SHEETS}
COMPAT = {sheet.id: sheet.observed() for sheet in SHEETS}
