"""What a judge is shown of a case (spec 7.1): pictures without sound, sound without pictures, or both.

Two pictures a second of each clip, at most 512 pixels on the longer side, both clips at the same times and so up to the
end of the shorter one: a choice of ours where the reference sends whole files. If an edit changes the length, the end
of the longer clip is not seen. A missing sound track is judged as silence (3.2). For a judge that does not hear, sound
is replaced by a mel picture of both tracks on one scale, tags, speech and levels, marked as substitutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from evaluator.experts.features import AudioTags, Transcript
from evaluator.judge import evidence, evidence_text
from evaluator.judge.evidence import SOUND_RATE
from evaluator.judge.types import Part
from evaluator.media.types import Audio, ClipInfo, Frames
from evaluator.metrics.levels import decibels, is_silent, rms
from evaluator.schema import AudioNeed, AudioView, ClipNeed, ExpertNeed, Fit, FramesNeed, Need, Sampling, View
from evaluator.suites.ave_compass.checklist import Tag

RATE = 2.0
"""Pictures a second."""
VIEW = View(Sampling("fps", (RATE,)), Fit.LONG_SIDE_MAX, height=512)
SOUND = AudioView(SOUND_RATE, missing="silence")
TAGS, FAINTEST = 8, 0.05  # classes that a substitute lists at most, and the least mean probability of one


def _sound_needs(prefix: str, role: str) -> dict[str, Need]:
    return {
        f"{prefix}sound": AudioNeed(SOUND, role),
        f"{prefix}tags": ExpertNeed("audio_tags", (role,)),
    }


def _words_need(role: str) -> Need:
    """What is said, where somebody speaks."""
    return ExpertNeed("transcript", (role,), options=(("speech_gate", True),))


TARGET_NEEDS: Mapping[str, Need] = {"frames": FramesNeed(VIEW), **_sound_needs("", "video")}
"""What realism looks at: the edited clip alone."""
NEEDS: Mapping[str, Need] = {
    **TARGET_NEEDS,
    "source_frames": FramesNeed(VIEW, "source"),
    **_sound_needs("source_", "source"),
    "transcript": _words_need("video"),
    "source_transcript": _words_need("source"),
    "source_clip": ClipNeed("source"),
}
"""What a checklist looks at. `source_clip` gives the length by which cases are stratified."""
FOR_DEAF = frozenset(name for name, need in NEEDS.items() if isinstance(need, ExpertNeed))
"""What experts say of the sound, for a judge that does not hear it. Grades of realism do without words."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One sound track, and what experts make of it; None where they do not apply or were not asked."""

    audio: Audio
    tags: AudioTags | None
    transcript: Transcript | None

    @property
    def missing(self) -> bool:
        """True if silence stands for a track that is not there."""
        return not self.audio.present

    @property
    def shown(self) -> Audio:
        """The track as it is played: silence of the picture's length for a missing one."""
        return replace(self.audio, present=True)

    @property
    def classes(self) -> list[tuple[str, float]]:
        """What is heard, the likeliest first; a class that is hardly heard is a coin toss between machines."""
        found = self.tags.top(TAGS) if self.tags is not None else []
        return [(name, probability) for name, probability in found if probability >= FAINTEST]

    def facts(self, name: str) -> dict[str, evidence_text.Fact]:
        """Measurements that words can carry."""
        level = rms(self.audio.samples)
        return {
            f"{name}, sound track": "missing, judged as silence" if self.missing else "present",
            f"{name}, seconds": round(len(self.audio.samples) / self.audio.rate, 2),
            f"{name}, silent": is_silent(self.audio),
            f"{name}, level in dBFS": round(decibels(level), 1) if level > 0 else None,
        }


@dataclass
class Exhibits:
    """Evidence of one case. Parts are made when they are first asked for, once."""

    frames: Frames | None
    source_frames: Frames | None
    sound: Heard | None
    source_sound: Heard | None
    source_clip: ClipInfo | None

    @classmethod
    def of(  # as many names as NEEDS
        cls,
        frames: Frames | None = None,
        sound: Audio | None = None,
        tags: AudioTags | None = None,
        transcript: Transcript | None = None,
        source_frames: Frames | None = None,
        source_sound: Audio | None = None,
        source_tags: AudioTags | None = None,
        source_transcript: Transcript | None = None,
        source_clip: ClipInfo | None = None,
    ) -> Exhibits:
        """From the needs of a metric, by their names."""
        target = _heard(sound, tags, transcript)
        source = _heard(source_sound, source_tags, source_transcript)
        return cls(frames, source_frames, target, source, source_clip)

    @property
    def seconds(self) -> float | None:
        """Length of the source: of its picture, else of its sound."""
        clip = self.source_clip
        return None if clip is None else (clip.video.duration if clip.video is not None else clip.duration)

    @property
    def silence_for(self) -> list[str]:
        """Clips whose missing sound track is judged as silence."""
        tracks = {"source": self.source_sound, "target": self.sound}
        return [name for name, track in tracks.items() if track is not None and track.missing]

    def perceivable(self, tag: Tag) -> bool:
        """Whether there is anything to show for an item of this tag: both clips, in all of its streams."""
        seen = bool(self.frames is not None and self.source_frames is not None)
        heard = bool(self.sound is not None and self.source_sound is not None)
        return {Tag.VIDEO: seen, Tag.AUDIO: heard, Tag.GENERAL: seen and heard}[tag]

    # ------------------------------------------------------------------------------------------- both clips

    @cached_property
    def pictures(self) -> tuple[Part, ...]:
        """Source and target at the same times, without their sound."""
        if self.frames is None or self.source_frames is None:
            raise ValueError("a clip without pictures cannot be shown")
        return tuple(exhibit.part for exhibit in evidence.paired_frames(self.source_frames, self.frames))

    @cached_property
    def sounds(self) -> tuple[Part, ...]:
        """The tracks themselves, source first."""
        return tuple(evidence.sound(track.shown, f"{name} sound").part for name, track in self._tracks())

    @cached_property
    def sounds_in_words(self) -> tuple[Part, ...]:
        """What stands in for the tracks: one picture of both, and text."""
        tracks = dict(self._tracks())
        picture = evidence.mel({name: track.shown for name, track in tracks.items()}, "sounds", budget=evidence.BUDGET)
        facts: dict[str, evidence_text.Fact] = {}
        for name, track in tracks.items():
            facts |= track.facts(name)
        words = [part for name, track in tracks.items() for part in _in_words(track, name)]
        return (picture.part, evidence_text.facts(facts, "sound levels").part, *words)

    def of_tag(self, tag: Tag) -> tuple[Part, ...]:
        """The evidence as the protocol has it."""
        seen = self.pictures if tag is not Tag.AUDIO else ()
        heard = self.sounds if tag is not Tag.VIDEO else ()
        return (*seen, *heard)

    def instead(self, tag: Tag) -> tuple[Part, ...]:
        """The same with substitutes for sound."""
        return (*(self.pictures if tag is Tag.GENERAL else ()), *self.sounds_in_words)

    def _tracks(self) -> Iterator[tuple[str, Heard]]:
        for name, track in (("source", self.source_sound), ("target", self.sound)):
            if track is not None:
                yield name, track

    # ------------------------------------------------------------------------------------------ target alone

    @cached_property
    def target_pictures(self) -> tuple[Part, ...]:
        """The edited clip without its sound."""
        if self.frames is None:
            raise ValueError("a clip without pictures cannot be shown")
        return (evidence.clip_frames(self.frames, "target").part,)


def _heard(audio: Audio | None, tags: AudioTags | None, transcript: Transcript | None) -> Heard | None:
    return Heard(audio, tags, transcript) if audio is not None and len(audio.samples) else None


def _in_words(track: Heard, name: str) -> Iterator[Part]:
    yield evidence_text.tags(track.classes, f"{name} sound classes").part
    if track.transcript is not None:
        spoken = [(one.start, one.end, one.text) for one in track.transcript.utterances]
        yield evidence_text.transcript(spoken, f"{name} speech").part
