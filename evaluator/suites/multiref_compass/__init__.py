"""MultiRef-Compass: generation of audio-video from several references (arXiv 2607.14189), by our specification.

References (pictures of entities; on board B4 a clip or a voice) are conditions, never material to edit. Fourteen
sub-metrics in four dimensions, routed per sample; checklists are made before any video is seen and are the same for all
systems. The toolkit's code and prompts could not be read: what had to be decided is listed in `choices`.

Profiles: `paper` asks for one token per item; `compat` asks for an observation and a whole number, as the paper's judge
writes, which rejudging needs; `diarised` is `paper` with the speakers of an output told apart in TS.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.metrics.base import Metric
from evaluator.suites.base import Suite
from evaluator.suites.multiref_compass import (
    bc,
    bc_items,
    choices,
    ef,
    graded,
    rejudging,
    sca_strict,
    sls,
    technical,
    ts,
    ts_diarised,
)
from evaluator.suites.multiref_compass.boards import boards
from evaluator.suites.multiref_compass.data import MultiRefData, examine
from evaluator.suites.multiref_compass.layout import importer
from evaluator.suites.multiref_compass.routing import routed

METRICS: tuple[Metric, ...] = (
    *technical.METRICS,
    graded.METRICS["aq"],
    *ef.METRICS,
    graded.METRICS["dp"],
    bc.METRIC,
    *sls.METRICS,
    graded.METRICS["esm"],
    graded.METRICS["sc"],
    ts.METRIC,
    graded.METRICS["vtf"],
    graded.METRICS["atf"],
    graded.METRICS["sca"],
    sca_strict.METRIC,
    graded.METRICS["tof"],
)


VARIANTS: Mapping[str, Mapping[str, Metric]] = {
    "compat": {**graded.COMPAT, bc.METRIC.id: bc_items.COMPAT},
    "diarised": {ts.METRIC.id: ts_diarised.METRIC},
}


SUITE = Suite(
    id="multiref_compass",
    title="MultiRef-Compass",
    paper="arXiv 2607.14189 (summary only; formulas largely ours)",
    metrics=METRICS,
    profiles=("paper", *VARIANTS),
    variants=VARIANTS,
    data=MultiRefData,
    route=routed,
    examine=examine,
    importer=importer,
    rejudge=rejudging.second_look,
    case_needs={
        "technical_quality": ("vtq",),
        "entity_cues": ("ef", "ef_raw"),
        "speaker_verification": ("ts",),
        "speech_activity": ("ts",),
    },
    choices=choices.CHOICES,
    boards=boards,
)
