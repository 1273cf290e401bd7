"""MultiRef-Compass's open points (spec sections 1 to 7): toolkit code, prompts and full text could not be read."""

from __future__ import annotations

from evaluator.suites.choices import Choice

FRAMES = 16
"""Frames of the output that entities are looked for in, and that a judge sees."""
JUDGE_SIDE = 512
"""Pixels, longer side of a frame for a judge."""
VIEW_SIDE = 768
"""Pixels, longer side of a reference picture for a judge."""
OBJECT_FOUND = 0.4
"""Cosine from which a region counts as the object, where no detector says so."""
FRONTAL_SHARE = 0.7
LEAST_SPEECH = 1.0
"""Seconds of speech that a voice needs on both sides."""

CHOICES = (
    Choice(
        "record",
        "boards, entities with views, facts for the router; an output that is not there is counted as missing",
        "prompts have video, audio and speech parts; three slots with three to seven pictures; column names not known",
        "both names of the dimensions are read: Entity Fidelity, Audio-Video Consistency",
    ),
    Choice(
        "absences",
        "na (router), filtered (screen, too little speech), error (a tool failed), missing (no output), kept apart",
        "inapplicable metrics are left out of the mean",
    ),
    Choice(
        "vtq_scale",
        "raw figure of DOVER++'s technical branch; its sigmoid stands in details",
        "best reported value 0.2373, worst 0.1633; whether raw or scaled is not said",
    ),
    Choice(
        "vtq_seed",
        "fragments are drawn from a seed of the sample, the same for all systems",
        "the expert draws them at random",
    ),
    Choice("atq_axis", "PQ, production quality; all four axes in details", "which axis is reported is not given"),
    Choice(
        "aq_items",
        "seven fixed items, mean; one without anything to look at is graded 5 (nothing to fault), not left out",
        "anatomy, plausibility and depth by a checklist",
        "AQ items of a sample's checklist take their place",
    ),
    Choice(
        "grade",
        "mean of the labels 1..5 under the judge's probabilities, one question per item",
        "1-5 MOS of a judge that writes; prompts not available",
        "profile compat: an observation and a whole number per item, which rejudging needs",
    ),
    Choice(
        "judge_media",
        f"{FRAMES} equally spaced frames, longer side {JUDGE_SIDE}; reference pictures {VIEW_SIDE}, named by the "
        "letter of their entity; a reference clip as four stills; sound as sound",
        "not given",
    ),
    Choice(
        "answers",
        "a written answer that has not the form, or a grade of BC that its list does not allow, is asked for once "
        "more, then it is a failure",
        "not given",
    ),
    Choice(
        "ef",
        f"{FRAMES} frames; 0.5 face + 0.5 body, or the one there is; best view; Hungarian; mean over entities",
        "crops of humans and objects, full frames for scenes, both cues for humans, most similar view",
        "a picture in which no person is found is a view of the body as a whole; a reference clip shows no entity, "
        "so that with it alone EF does not apply",
    ),
    Choice("ef_negative", "negative cosines are 0; an entity that is never found scores 0", "not given"),
    Choice(
        "p_paste",
        "0.5 + 0.125 x (grade - 1) for a judge's grade of how natural the integration looks",
        "a naturalness coefficient discounts evident copy-and-paste; range not given",
        "without a judge EF stays empty and ef_raw stands alone, instead of a coefficient of 1",
    ),
    Choice("cartoon_faces", "the face cue is off", "detector and embedder are weak on cartoons"),
    Choice("dp", "one grade per entity, mean", "fine attributes against the references, 1-5"),
    Choice(
        "bc",
        "one grade from the list of errors that the judge finds: 5 none, 4 one minor, up to 3 one clear, up to 2 "
        "several; for B1 duplicates and drift only",
        "identity swap, merge, attribute transfer, wrong actor; B1: identity not duplicated",
        "profile compat: a grade, evidence and time per kind of error or per item of the checklist, mean",
    ),
    Choice(
        "esm_sc",
        "items of the checklist, mean; without them one item for all sound events, one for voices, one for effects",
        "a checklist asks whether fitting sounds occur and come from the right visible source",
        "a voice-over has no visible source, so that for it alone SC does not apply",
    ),
    Choice(
        "no_sound_track",
        "ESM, SC, ATF, SCA and strict SCA have no value for an output without a sound track: na (clip), counted",
        "ATQ needs a track; of the others it is not said",
    ),
    Choice(
        "sls",
        "SyncNet's confidence over S3FD's face tracks; S3FD not mounted: tracks of the most prominent face; SyncNet "
        "not mounted: mouth opening against voice level",
        "SyncNet as shipped with LatentSync, S3FD faces, all tracks",
    ),
    Choice(
        "sls_screen",
        f"a judge: a speaking face is visible, frontal for {FRONTAL_SHARE:g} of the time, stable, one speaker per shot",
        "dialogue or monologue with stable frontal faces, screened by the judge",
    ),
    Choice(
        "ts_speech",
        f"at least {LEAST_SPEECH:g} s of speech on both sides, else filtered, whatever was asked for; whole speech",
        "cosine of the reference voice and the generated speech",
        "profile diarised: speakers told apart by ear, the nearest one counts",
    ),
    Choice(
        "sca_strict",
        "the recognised words are the exact lines in their order and language, nothing added",
        "strict rates per language (EN 87.8, ZH 88.0 over all models)",
    ),
    Choice(
        "checklist",
        "items carry the words of the prompt that demand them; others are refused, with the manifest and when a judge "
        "writes them (`evaluator generate multiref`)",
        "made from prompt and metadata only, never inventing demands, reused for all models",
    ),
    Choice(
        "missing_checklist",
        "VTF, ATF and TOF have no value without items (unavailable)",
        "one checklist per sample",
    ),
    Choice(
        "dimension_score",
        "mean of (MOS - 1) / 4, EF, VTQ's sigmoid, ATQ / 10, SLS / 10, TS, as far as there",
        "not known",
        "the signal in place of SyncNet has another scale and is left out; means behind which a stand-in or a partial "
        "answer stands are other cells",
    ),
    Choice(
        "rejudging",
        "a sample's item if grades differ by 1 or more or any is below 3; changes of at most 2, with a reason; from "
        "scores and observations of all systems, the set of which stands in the record",
        "all outputs' scores and rationales side by side, evidence opened again when needed; only clear "
        "inconsistencies change",
    ),
    Choice(
        "stability",
        "relative deviation of the means over runs (n - 1); mean distance of an item from its own mean",
        "below 1 % for every metric over five runs of sixty samples; small item-level error",
        "`evaluator stability`",
    ),
    Choice(
        "common_samples",
        "a table over the samples for which every system has a value, beside the one over what each has",
        "safety filters cut the samples of two systems; means are over what each has",
    ),
    Choice(
        "win_rate",
        "ties count half; a tie of scores is closer than 1e-6; human majority, 2:2 is a tie; only pairs of which both "
        "outputs are there",
        "wins / comparisons",
    ),
)
