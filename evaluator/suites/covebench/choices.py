"""What CoVEBench leaves open about judging and counting, and how it is decided here."""

from __future__ import annotations

from evaluator.suites.choices import Choice

CHOICES = (
    Choice(
        "questions",
        "one token per question; the likeliest label is the answer",
        "one call per type of question, answers written as JSON",
        "profile compat",
    ),
    Choice(
        "frames shown to the judge",
        "two a second, at most 64, the same times of both clips, long side at most 768",
        "not stated; left to the server",
    ),
    Choice(
        "question without an answer",
        "wrong (the lowest grade for SEM)",
        "not stated; the code leaves it out, so that a failing judge can raise UAS",
        "profile compat; --set missing=reference|wrong when the manifest is made; board judge shows both",
    ),
    Choice(
        "UAS",
        "share of edits (groups) that are entirely right, pooled over tasks",
        "an edit with all its questions; so the newest code, older code takes whole tasks",
        "metric uas_task; board per_task",
    ),
    Choice(
        "SEM of a judge that is sure of no grade",
        "the likeliest grade; the mean grade is in raw",
        "one integer from 1 to 10",
    ),
    Choice(
        "exclusion lists",
        "applied: 166 tasks leave SSIM and MF, 305 leave MSM",
        "SSIM leaves background changes out; the list of MSM is published and read by no script",
        "--set exclusions=none|FILE when the manifest is made",
    ),
    Choice(
        "accuracy of a category",
        "mean union over the edits that carry the label, once per label",
        "union accuracy, no formula",
        "radar.category_union(by='questions')",
    ),
    Choice(
        "radar where all systems are equal",
        "0.5",
        "(u - min) / (max - min)",
    ),
    Choice(
        "forensic passes",
        "own prompts; issues of one subtype that overlap are one; counted from severity 2 on",
        "open-ended judging of the clip and the instruction; prompts are not published",
    ),
    Choice(
        "ties of a metric",
        "a tie if |difference| is at most the percentile of the human tie share; a tie of one side only disagrees",
        "the threshold; what becomes of ties is not stated",
        "agreement over clear human choices only",
    ),
    Choice("bins of the scalability tables", "fixed edges", "curves without bins"),
    Choice(
        "AES frames",
        "ten equally spaced frames, by the true number of frames",
        "key frames and sampled frames; the code takes the ten sampled ones, by the container's count",
        "metric aes_kf: half from key frames; profile compat: the container's count",
    ),
    Choice(
        "VQR ratings",
        "the likeliest text, bounded to 1..5; only a judge called VisualQuality-R1 answers (--judge-for)",
        "not stated; the code draws them from one seed per process",
        "profile compat draws them of 50 tokens, with a seed per task and frame",
    ),
    Choice(
        "TQ fragments",
        "drawn from the task number, laid on the enlarged size",
        "not stated; the code draws them without a seed and lays them on the size before enlarging",
        "profile compat: the size before enlarging",
    ),
    Choice(
        "MF of tracks that rest",
        "half a point per pair, so that identical still clips have 0.5",
        "so the code; the paper does not say",
        "profile strict: two resting tracks agree",
    ),
    Choice(
        "SRC tasks that are left out",
        "by their categories and, where a judge is given, by its reading of the instruction",
        "a filtering mechanism; the code asks a language model about instructions without such a category",
    ),
    Choice(
        "SRC frames and beginnings",
        "pictures are the frames of the masks; an object begins where it was found",
        "not stated; in the code pictures drift away from masks and every object begins on frame 0",
        "profile compat",
    ),
    Choice(
        "SRC of an edit in which nothing is found",
        "no score",
        "filtered, as we read it",
        "profile strict: 0",
    ),
)
