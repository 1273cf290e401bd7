"""AVENUE's open points (spec sections 1 to 7): neither code, nor prompts, nor the full text could be read.

The constants are what the code uses; CHOICES says of each what the paper says, for `evaluator list avenue` and boards.
"""

from __future__ import annotations

from evaluator.suites.choices import Choice

JUDGE_FRAMES = 8
"""Even: judges merge frames in pairs."""
JUDGE_SIDE = 512
"""Pixels, longer side of a frame for a judge."""
EMBEDDED_FRAMES = 16
ONSET_TOLERANCE = 0.5
"""Seconds between a trigger and the onset of a change that count as together."""

CHOICES = (
    Choice(
        "record",
        "fields of data{}; edit types are open words; preserved elements in one text stay one item",
        "source and target prompt, what_changed, what_preserved; twelve edit types, of which five are named",
    ),
    Choice(
        "scale",
        "1 to 5 for every judged item",
        "1-5 for Perceptual Quality and AV Consistency; none given for Edit Accuracy and Modality Selectivity",
    ),
    Choice(
        "score100",
        "20 x mean (a share of the maximum)",
        "values are reported from 0 to 100, the map is not given; nothing below 20 is reported anywhere",
        "linear0 = 25 x (mean - 1) stands in every record's details; the raw mean in `raw`",
    ),
    Choice(
        "grade",
        "mean of the labels 1..5 under the judge's probabilities, one question per item",
        "integer answers of a judge that writes; the wording is not available",
        "profile compat: one JSON answer with whole numbers for all items of Modality Selectivity",
    ),
    Choice(
        "answers",
        "an answer that has not the form is asked for once more, then it is a failure",
        "not said",
        "what the judge is told does not quote the parser, so that a replay can ask the same second question",
    ),
    Choice(
        "selectivity_items",
        "A: five visual items and one for the listed audio elements; B: five audio items and one for the listed "
        "visual elements; mean over the answered ones, and the split by modality beside it",
        "A: six questions, five visual and one for verified audio elements; B: general audio-preservation questions",
        "records whose items were not all answered are marked partial and share no mean with whole ones",
    ),
    Choice(
        "selectivity_c",
        "not applied to coupled edits",
        "the tables show Modality Selectivity for scopes A and B",
    ),
    Choice(
        "matching",
        "shortest stream of any readable output of the instance, and of the source; pictures at the source's moments",
        "source rate is kept; outputs are trimmed to the shortest among the models; sound at 16 kHz",
        "a manifest may pin data.matched, so that scores do not change when a system joins",
    ),
    Choice(
        "shared_video",
        "equal files are decoded, embedded and judged once, by content, whichever pipeline they belong to",
        "identical videos in several pipelines share one video score",
    ),
    Choice(
        "null_edit",
        "Modality Selectivity in both directions, listed elements included; V-CLIP, LPIPS, CLAP; a byte copy must give "
        "1, 0, 1",
        "the target prompt is the source prompt; preservation per modality; embedding distances",
    ),
    Choice(
        "judge_frames",
        f"{JUDGE_FRAMES} equally spaced frames, longer side {JUDGE_SIDE}",
        "the judge sees whole clips; no sampling is given",
    ),
    Choice(
        "embedded_frames",
        f"min({EMBEDDED_FRAMES}, frames) equally spaced, first and last included, mean over frames",
        "names of the metrics only",
    ),
    Choice(
        "clip_checkpoint",
        "CLIP ViT-L/14 at 224 pixels, by contract",
        "not named",
    ),
    Choice(
        "clap_checkpoint",
        "LAION-CLAP, 48 kHz, not fused, by contract",
        "not named",
    ),
    Choice(
        "text_by_names",
        "until CLAP or CLIP is mounted: cosine of the prompt and the names of the classes that YAMNet hears or "
        "EfficientNet-Lite0 sees, in MiniLM's space (ConSE), marked *",
        "text-audio and text-video in an embedding that is not named",
        "compares clips about one prompt; no people, styles or actions; never used for curation thresholds",
    ),
    Choice(
        "audio_video",
        "ImageBind by contract; until it is mounted, how well the names of what YAMNet hears and of what "
        "EfficientNet-Lite0 sees (and a face: a person talking) go together in MiniLM's space, -1..1, marked *",
        "audio-video in an embedding that is not named",
        "129 pictures of animals, instruments and things and nine clips, with their own sounds and each other's: AUC "
        "0.83, and 0.92 where the other's sound is of another kind; among the nine clips alone, mostly talk and music, "
        "0.62, which may be chance. It knows kinds, no voices and no moments; never used for curation thresholds",
    ),
    Choice(
        "lpips",
        "AlexNet, inputs in -1..1, short side 256, the output resized to the source's shape, mean over frames",
        "not specified",
    ),
    Choice(
        "silent_sound",
        "no value, and counted",
        "not specified",
        "a clip without a sound track has no value either; it is not scored 1 for having lost its sound",
    ),
    Choice(
        "cmtg",
        "1-5 by onsets within 0.25, 0.5 and 1 s of the trigger, scaled as score100",
        "asks whether the edit is timed to the trigger; values from 20 to 29 for all systems",
    ),
    Choice(
        "cmtg_twin",
        f"F1 of onsets within {ONSET_TOLERANCE} s, onsets where the edited modality departs from the source",
        "none",
    ),
    Choice(
        "pairwise",
        "both orders; kept only if both name the same system; a tie in either order is a tie; the judge is told what "
        "it is told about one clip alone",
        "order-inconsistent pairs and ties are excluded",
    ),
    Choice(
        "consistency",
        "Spearman's rho over cases per system, mean, least and largest; LPIPS with its sign turned",
        "Spearman per generation model; all twelve positive with p < 0.05; which twelve is not said",
    ),
    Choice(
        "human_agreement",
        "shares of equal signs over pairs that neither side ties; leave-one-out against the majority of the others; "
        "tau-b per instance, constant rankings left out (`evaluator agree`)",
        "pairwise 67.0 % (people 71.1 %), leave-one-out 72.5 % (79.2 %), tau-b 0.353 (0.546)",
    ),
    Choice(
        "curation",
        "dominant object: largest summed box area at a detector's score of 0.35; at most three persons per frame; SSIM "
        "gray 7 x 7 at 224 x 224; a measurement whose model is not mounted decides nothing, and no stand-in does",
        "thresholds 0.3, 0.3, 0.75, 9 of 10, 0.85; none for persons; static content by hand",
    ),
    Choice(
        "diversity",
        "lower case, white space, .,;:!?\"'() stripped; self-BLEU-4 with 0.1 for a zero count, at most 1,000 prompts",
        "names and values of the statistics",
    ),
    Choice(
        "diversity_cosine",
        "mean over all pairs of prompts, all-MiniLM-L6-v2",
        "mean pairwise cosine 0.160; which vectors is not said",
        "the tables of a run, made of records alone: TF-IDF, marked *",
    ),
)
