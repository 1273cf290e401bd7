"""CoVEBench: compositional, instruction-guided video editing (arXiv 2606.08415). Sound is not looked at.

paper    as the paper has it, with the faults of the reference code mended
compat   as the reference code has it: batched questions, unanswered ones left out, and what `automated` says
strict   corrections of the automated half that have no published numbers; the judged half is that of `paper`
"""

from __future__ import annotations

from evaluator.suites.base import Suite
from evaluator.suites.covebench import checklist, forensics
from evaluator.suites.covebench.automated import AUTOMATED, VARIANTS
from evaluator.suites.covebench.boards import boards
from evaluator.suites.covebench.choices import CHOICES
from evaluator.suites.covebench.data import TaskData, examine, prepare
from evaluator.suites.covebench.layout import importer

SUITE = Suite(
    id="covebench",
    title="CoVEBench",
    paper="arXiv 2606.08415",
    metrics=(*checklist.METRICS, *AUTOMATED, *forensics.METRICS),
    profiles=("paper", "compat", "strict"),
    variants={**VARIANTS, "compat": {**VARIANTS["compat"], **checklist.COMPAT}},
    data=TaskData,
    examine=examine,
    importer=importer,
    prepare=prepare,
    case_needs={"technical_quality": ("tq",), "point_tracks": ("mf",), "region_similarity": ("src",)},
    choices=CHOICES,
    boards=boards,
)
