"""VQR (CoVEBench 4.1): VisualQuality-R1 looks at ten frames, one at a time, and rates each from 1 to 5.

The network (a Qwen2.5-VL of 7B parameters) is served like a judge, but no other judge may answer in its place: without
a judge whose model is called VisualQuality-R1 the metric is skipped as `no_judge`. `--judge-for VisualQuality-R1=URL`
names its server beside the judge for everything else, so that one run has both.

It writes its rating as text, which is read as the reference reads it: what stands in the last answer tag, or the whole
text, and there the first unsigned decimal number. One frame without a number fails the clip: a mean over nine frames
would be another metric.

    paper    the likeliest text; ratings bounded to 1..5
    compat   text drawn at temperature 1 from the 50 likeliest tokens, as the reference draws it, but with a seed of its
             own per task and frame (the reference's seed is one per process, so its values depend on the order of
             clips); not bounded

Frames are sent as JPEG of quality 95 with full colour resolution, at most 1920 pixels on the long side. The question
is worded by us, and our rules stand before it; what that does to the rating has not been measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from evaluator.errors import AnswerError
from evaluator.judge.evidence_picture import JPEG, encode
from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, ImagePart, Modality, Question
from evaluator.media.types import Frames
from evaluator.metrics.answers import accepted
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.metrics.views import TEN_FRAMES
from evaluator.schema import Case, Fit, FramesNeed, View
from evaluator.suites.covebench.draws import seed_of
from evaluator.suites.covebench.rules import ABSURD

MODEL = "VisualQuality-R1"
SHOWS = frozenset({Modality.TEXT, Modality.IMAGE})
PROMPT = "covebench_vqr"
VIEW = View(TEN_FRAMES, Fit.LONG_SIDE_MAX, height=1920)
LOWEST, HIGHEST = 1.0, 5.0
TOP_K = 50
"""Of a drawn token, in the reference's generation; its temperature is not stated there, and 1 is our reading."""

_TAG = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def ask(case: Case, frames: Frames, temperature: float = 0.0) -> Sequence[Question]:
    """One question per frame, each about that frame alone. At a temperature, each frame has its own seed and tokens are
    drawn from the TOP_K likeliest."""
    return [
        load(PROMPT).ask(
            f"{case.id}/vqr/{index}",
            [ImagePart(encode(picture, JPEG), JPEG)],
            {},
            sample=seed_of(case, "vqr", index) if temperature else 0,
            temperature=temperature,
            top_k=TOP_K if temperature else 0,
        )
        for index, picture in zip(frames.index.tolist(), frames.data, strict=True)
    ]


def rating(text: str) -> float | None:
    """The number that a reply gives; None if it gives none.

    >>> rating("<answer>3</answer> or rather <answer> 4.25 of 5 </answer>")
    4.25
    """
    tagged = _TAG.findall(text)
    number = _NUMBER.search(tagged[-1] if tagged else text)
    value = float(number[0]) if number else math.inf
    return value if value <= ABSURD else None


def compute(answers: Sequence[Answer], frames: Frames, bounded: bool = True) -> Outcome:
    """Mean rating of the frames; `raw` is the mean before bounds.

    Raises AnswerError `unparsed` for a reply without a number, and what `accepted` raises for one that is none.
    """
    texts = [str(accepted(answer).value) for answer in answers]
    ratings = [rating(text) for text in texts]
    if silent := [text for text, value in zip(texts, ratings, strict=True) if value is None]:
        raise AnswerError("unparsed", f"{len(silent)} of {len(texts)} frames have no rating, first {silent[0][:80]!r}")
    raw = np.array(ratings, np.float64)
    values = np.clip(raw, LOWEST, HIGHEST) if bounded else raw
    return Outcome(float(values.mean()), raw=float(raw.mean()), details=_details(answers, frames, raw.tolist()))


def _details(answers: Sequence[Answer], frames: Frames, ratings: Sequence[float]) -> Mapping[str, Any]:
    return {
        "per_frame": list(ratings),
        "index": frames.index.tolist(),
        "outside_scale": sum(not LOWEST <= value <= HIGHEST for value in ratings),
        "ledger_keys": [answer.key for answer in answers],
    }


METRIC = Metric(
    id="vqr",
    version=2,
    title="VQR",
    summary="Picture quality of ten frames, rated by VisualQuality-R1.",
    direction=Direction.HIGHER,
    range=(LOWEST, HIGHEST),
    unit="",
    paper="CoVEBench 4.1",
    needs={"frames": FramesNeed(VIEW)},
    compute=compute,
    judged=Judged(ask, reads=(), prompts=(PROMPT,), model=MODEL, shows=SHOWS),
)

COMPAT = replace(
    METRIC,
    range=(0.0, None),
    compute=partial(compute, bounded=False),
    judged=Judged(partial(ask, temperature=1.0), reads=("data",), prompts=(PROMPT,), model=MODEL, shows=SHOWS),
)
