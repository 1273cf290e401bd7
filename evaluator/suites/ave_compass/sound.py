"""Sound, and sound with pictures: aesthetics, speech quality and sync in three profiles (spec 4.1, 4.2, 4.4).

All three are 0.0 on a silent clip. `strict` asks for the offset at both ends of the clip and rates speech on the full
band; `compat` asks for the offset of a clip that went through H.264 and AAC, as the reference codes it again. Speech
quality rates the whole mix, music included, as published: how much of it is speech is a detail.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from evaluator.experts.features import SpeechActivity, SpeechQuality, SyncOffset
from evaluator.metrics import audio_aesthetic, av_sync, speech_quality
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Outcome
from evaluator.schema import ExpertNeed
from evaluator.suites.ave_compass.silence import NO_STREAM_IS_SKIPPED, SILENCE_COUNTS, silence_is_zero

OFFSET = ExpertNeed("av_sync")
RECODED_OFFSET = ExpertNeed("av_sync", options=(("reencode", True),))
LAST_OFFSET = ExpertNeed("av_sync", options=(("window", "last"),))


def both_ends(offset: SyncOffset, last: SyncOffset) -> Outcome:
    """clip01(1 - mean |dt| / 2 s) over the first and the last five seconds; `raw` is that mean in seconds."""
    ends = {"first": offset, "last": last}
    size = fmean(abs(av_sync.most_probable(end)) for end in ends.values())
    details = {
        name: {"offset_sec": av_sync.most_probable(end), **av_sync.rating(end).details} for name, end in ends.items()
    }
    return Outcome(clip01(1.0 - size / av_sync.TOLERANCE), raw=size, details=details)


AV_SYNC = silence_is_zero(av_sync.METRIC, av_sync.rating, SILENCE_COUNTS, offset=OFFSET)
AV_SYNC_COMPAT = silence_is_zero(av_sync.METRIC, av_sync.rating, NO_STREAM_IS_SKIPPED, offset=RECODED_OFFSET)
AV_SYNC_STRICT = silence_is_zero(av_sync.METRIC, both_ends, SILENCE_COUNTS, offset=OFFSET, last=LAST_OFFSET)

AESTHETICS = ExpertNeed("audio_aesthetics")
QUALITY = ExpertNeed("speech_quality")
FULL_BAND = ExpertNeed("speech_quality", options=(("rate", 48_000),))
"""At 48 kHz whatever the stream has, for what is asked of a clip is settled before it is opened. A stream of 44.1 kHz
gives the same bands up to 20 kHz as at its own rate, to 0.05 dB on average."""
ACTIVITY = ExpertNeed("speech_activity")


def rated_speech(quality: SpeechQuality, activity: SpeechActivity) -> Outcome:
    """clip01((MOS - 1) / 4) of the whole mix; `raw` is the MOS. How much of it is speech is a detail, not a gate."""
    outcome = speech_quality.rating(quality)
    return replace(outcome, details={**outcome.details, "speech_ratio": activity.seconds() / activity.duration})


AUDIO_AESTHETIC = silence_is_zero(audio_aesthetic.METRIC, audio_aesthetic.rating, SILENCE_COUNTS, aesthetics=AESTHETICS)
AUDIO_AESTHETIC_COMPAT = silence_is_zero(
    audio_aesthetic.METRIC, audio_aesthetic.rating, NO_STREAM_IS_SKIPPED, aesthetics=AESTHETICS
)
SPEECH_QUALITY = silence_is_zero(
    speech_quality.METRIC, rated_speech, SILENCE_COUNTS, quality=QUALITY, activity=ACTIVITY
)
SPEECH_QUALITY_COMPAT = silence_is_zero(
    speech_quality.METRIC, rated_speech, NO_STREAM_IS_SKIPPED, quality=QUALITY, activity=ACTIVITY
)
SPEECH_QUALITY_STRICT = silence_is_zero(
    speech_quality.METRIC, rated_speech, SILENCE_COUNTS, quality=FULL_BAND, activity=ACTIVITY
)
