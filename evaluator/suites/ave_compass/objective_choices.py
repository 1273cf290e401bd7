"""What the objective half had to decide because the paper or its code leaves it open (spec 9, 15)."""

from __future__ import annotations

from evaluator.suites.choices import Choice

OBJECTIVE_CHOICES = (
    Choice(
        "lip sync input",
        "the whole frame, squashed, at the clip's own rate, without the reference's JPEG files",
        "lip features; the published code feeds whole frames, and its numbers fit that",
        "profile compat goes through JPEG files in memory; profile strict follows faces at 25 frames a second, where a "
        "confidence of 7 scores 1, with the whole frame at that rate beside it",
    ),
    Choice(
        "silence",
        "0.0 for the sound metrics below an RMS of one 16-bit unit; a missing audio stream counts as silence",
        "not mentioned; the code gives 0.0 to silence and nothing to a missing stream",
        "profile compat: no score without a stream",
    ),
    Choice(
        "memory of the card",
        "the published formula for AMT-G's inner scale with 24 GiB on every machine; a mounted file computes at scale "
        "1, so larger pictures than 1080p have no value",
        "adapts to the memory at hand",
        "data.vram_bytes in profile compat; profile strict always computes at scale 1",
    ),
    Choice(
        "pictures for subject consistency",
        "squashed to 224 x 224",
        "resized to 224 x 224; the code crops where it finds the folder that it expects",
        "profile compat crops",
    ),
    Choice(
        "sync window",
        "the first five seconds, decoded directly to slots of 1/25 s",
        "not stated; the code re-encodes the clip first",
        "profile compat re-encodes in memory, with the sound mixed to one channel before and not after; profile "
        "strict: mean over the first and the last five seconds",
    ),
    Choice(
        "sound for speech quality",
        "16 kHz, as published; its score is 0.02 to 0.13 below that of the full band",
        "the extracted 16 kHz track",
        "profile strict: 48 kHz, whatever the stream's rate",
    ),
    Choice(
        "frame counts",
        "frames that decode, in one pass; frame_count_mismatch in the record where the container counts others",
        "not stated; the code trusts the container and skips what it cannot seek to",
        "profile compat: by the container's count; frames that are not there drop out",
    ),
    Choice(
        "missing outputs",
        "counted by branch from the import; means are over scored cases, with a second mean that takes failures as 0",
        "excluded for the one system whose edits were refused",
    ),
)
