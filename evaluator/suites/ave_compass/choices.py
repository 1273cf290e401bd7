"""What the judged half had to decide because the paper or our copy of it does not say."""

from __future__ import annotations

from evaluator.suites.ave_compass import agreement, correlations, errors_table, strata
from evaluator.suites.ave_compass.evidence import RATE, VIEW
from evaluator.suites.choices import Choice

JUDGED_CHOICES = (
    Choice(
        "asking",
        "one token per item, P(Yes) over Yes and No, each item alone; equal chances are No, of a response Yes",
        "all items of a modality in one JSON answer",
        "profile compat asks in batches",
    ),
    Choice(
        "pictures",
        f"{RATE:g} pictures a second of both clips at the same times up to the end of the shorter one, "
        f"at most {VIEW.height} pixels, without sound",
        "whole files; the reference's video question also carries their sound",
        "profile compat sends the sound with the pictures",
    ),
    Choice(
        "sound for a judge that does not hear",
        "a mel picture of both tracks on one scale, levels, classes and speech as text; evidence `substitute`",
        "the judge hears",
    ),
    Choice(
        "items without an answer", "left out of their share and counted", "nothing is said", "profile compat: no case"
    ),
    Choice(
        "gates",
        "a stream that did not respond is left out, one without a response item is kept; general items go when both "
        "streams did not respond",
        "averages restricted to cases whose stream was really touched; not in the reference code",
        "gating.gated(undefined='drop')",
    ),
    Choice(
        "error categories",
        f"instruction and fidelity per modality (below {errors_table.THRESHOLD:g}), realism (a grade up to "
        f"{errors_table.GRADE}); several per case",
        "five categories, whose names are not public",
    ),
    Choice(
        "strata",
        "; ".join(f"{axis}: {metric}" for axis, metric in strata.HEADLINE.items()),
        "length is tied to intent and complexity to audio fidelity; the other two are inferred",
    ),
    Choice(
        "rank correlation",
        f"over (system, case) rows, pairwise complete, none below {correlations.LEAST} rows",
        "the unit is not stated",
        "correlations.correlate(unit='system' or 'within')",
    ),
    Choice(
        "agreement with people",
        f"items: equal to the majority; intent: at most {agreement.NEAR:g} apart; grades: equal, or within one",
        "close to 90 %; the formula is not public",
    ),
)
