"""CutCraft: does a multi-shot generator do as an editor says? (arXiv 2609.08275)

Sixteen dimensions in six groups: narrative (A), rhythm (B), montage (C), transitions (D), camera and plausibility (E),
sound (F). What can be measured is measured, at cuts that were found without knowing the script; a judge says which
segment is which shot, and answers stored questions and questions with experts' numbers.

paper    as the paper has it, with the faults of the reference code mended
compat   as the reference code has it: every fault of `flags` in force
"""

from __future__ import annotations

from evaluator.suites.base import Suite
from evaluator.suites.cutcraft.boards import boards
from evaluator.suites.cutcraft.choices import CHOICES
from evaluator.suites.cutcraft.data import CutData, examine
from evaluator.suites.cutcraft.dimensions import all_of
from evaluator.suites.cutcraft.flags import COMPAT, PAPER
from evaluator.suites.cutcraft.layout import importer
from evaluator.suites.cutcraft.prepare import prepare

SUITE = Suite(
    id="cutcraft",
    title="CutCraft",
    paper="arXiv 2609.08275",
    metrics=all_of(PAPER),
    profiles=("paper", "compat"),
    variants={"compat": {metric.id: metric for metric in all_of(COMPAT)}},
    data=CutData,
    examine=examine,
    importer=importer,
    prepare=prepare,
    on_request={"text_spotting": "data.text_fps: words on screen, told to the judge in A2, A3, C1 and D1"},
    choices=CHOICES,
    boards=boards,
)
