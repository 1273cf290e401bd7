"""Does the clip show what its prompt asks for? A judge's P(Yes) to one question about eight frames.

VQAScore (Lin et al., ECCV 2024) is the probability of "Yes" to "Does this figure show {text}?"; here the text travels
as a data block that cannot change the question, and the frames of a clip are shown with their times. The value is
P(Yes) among the labels, 0..1; `label_mass` in the details tells how much of the judge's probability was on the labels
at all. Sound is not shown, so prompts about sound are judged by pictures only.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.errors import NotApplicable
from evaluator.judge.evidence import clip_frames
from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Question
from evaluator.media.types import Frames
from evaluator.metrics.answers import accepted, provenance
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import Case, Fit, FramesNeed, Sampling, View

PROMPT = "shows_prompt"
FRAMES = 8
"""A choice of ours: VQAScore is defined for one picture."""
VIEW = View(Sampling("linspace", (FRAMES,)), Fit.LONG_SIDE_MAX, height=512)
YES = "Yes"


def ask(case: Case, frames: Frames) -> Sequence[Question]:
    """One question about the clip. Raises NotApplicable if the case has no prompt."""
    if not case.prompt.strip():
        raise NotApplicable("not_applicable", "The case has no prompt to follow.")
    evidence = clip_frames(frames, "clip")
    return [load(PROMPT).ask(f"{case.id}/prompt_following", [evidence.part], {"prompt": case.prompt})]


def compute(answers: Sequence[Answer], frames: Frames) -> Outcome:
    """P(Yes), 0..1. Raises NotApplicable or AnswerError for an answer that is none."""
    answer = accepted(answers[0])
    return Outcome(answer.probabilities[YES], details={**provenance(answer), "frames": len(frames.data)})


METRIC = Metric(
    id="prompt_following",
    version=1,
    title="Prompt following",
    summary="A judge's probability that the clip shows what its prompt asks for.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="VQAScore (Lin et al.; ECCV 2024), on frames of a clip",
    needs={"frames": FramesNeed(VIEW)},
    compute=compute,
    judged=Judged(ask, reads=("prompt",), prompts=(PROMPT,)),
)
