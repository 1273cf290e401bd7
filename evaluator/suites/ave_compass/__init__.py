"""AVE-Compass: does an edit of sound and pictures do what was asked, and nothing else? (arXiv 2607.24821)

Two halves. Objective: nine metrics of the clips, routed by branch (joint, speech, video-only, audio-only). Judged: a
checklist per case and a rubric of realism, put to a judge. Profiles: `paper` (the paper, and the reference code where
the paper is silent, without its faults), `compat` (the reference code, faults included), `strict` (corrections without
published numbers).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluator.manifest.problems import Problem, quoted
from evaluator.schema import Case, Score
from evaluator.suites.ave_compass import boards, checklist, judged
from evaluator.suites.ave_compass.branches import BRANCHES, branch_of
from evaluator.suites.ave_compass.choices import JUDGED_CHOICES
from evaluator.suites.ave_compass.data import AveData
from evaluator.suites.ave_compass.layout import importer
from evaluator.suites.ave_compass.layout_options import SUITE_ID
from evaluator.suites.ave_compass.objective import OBJECTIVE, VARIANTS
from evaluator.suites.ave_compass.objective_board import objective_boards
from evaluator.suites.ave_compass.objective_choices import OBJECTIVE_CHOICES
from evaluator.suites.ave_compass.routing import active
from evaluator.suites.base import Suite
from evaluator.suites.board import Board


def examine(case: Case) -> Iterable[Problem]:
    """The branch must be one of the four, in the spelling that the tables use; then the checklist's own problems."""
    if case.category not in BRANCHES:
        meant = branch_of(case.category)
        remedy = f'write "{meant}"' if meant else ""
        yield Problem(0, "category", f"one of {', '.join(BRANCHES)}", quoted(case.category), remedy)
    yield from checklist.examine(case)


def tables(cases: Sequence[Case], scores: Sequence[Score]) -> Sequence[Board]:
    """The judged half's tables, then the objective half's."""
    return (*boards.boards(cases, scores), *objective_boards(cases, scores))


PROFILES = ("paper", "compat", "strict")

SUITE = Suite(
    id=SUITE_ID,
    title="AVE-Compass",
    paper="arXiv 2607.24821",
    metrics=(*OBJECTIVE, *judged.JUDGED),
    profiles=PROFILES,
    variants={name: {**VARIANTS.get(name, {}), **judged.VARIANTS.get(name, {})} for name in PROFILES},
    data=AveData,
    active=active,
    examine=examine,
    importer=importer,
    boards=tables,
    case_needs={"face_lip_embedding": ("lip_sync",)},
    choices=(*OBJECTIVE_CHOICES, *JUDGED_CHOICES),
)
