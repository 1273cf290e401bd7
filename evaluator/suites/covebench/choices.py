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
        "profile compat; board judge shows both",
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
)
