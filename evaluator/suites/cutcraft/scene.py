"""One clip as CutCraft's questions see it: the script, the edit that was found, and evidence cut out of the clip.

Four pictures a second, at most 512 pixels on the longer side, serve whole clip, shots, moments and recomposed
sequences: nothing is decoded or encoded again. Sound is played to a judge that hears; for one that does not, a mel
picture, tags and levels stand in and the question says so. Times are seconds from the clip's first frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import AudioTags
from evaluator.judge import evidence, evidence_text
from evaluator.judge.evidence import SOUND_RATE, Budget
from evaluator.judge.prompts import Data, load
from evaluator.judge.route import Routed
from evaluator.judge.types import Answer, Part, Question
from evaluator.media.types import Audio, ClipInfo, Frames
from evaluator.metrics.levels import decibels, is_silent, rms
from evaluator.schema import AudioNeed, AudioView, Case, ExpertNeed, Fit, FramesNeed, Need, Sampling, View
from evaluator.suites.cutcraft import screen_text, shots
from evaluator.suites.cutcraft.alignment import Alignment, Span, by_order
from evaluator.suites.cutcraft.data import Prompt, prompt_of
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.judge_alignment import align
from evaluator.suites.cutcraft.memo import remembered

VIEW = View(Sampling("fps", (4.0,)), Fit.LONG_SIDE_MAX, height=512)
SIGHT: Mapping[str, Need] = {"frames": FramesNeed(VIEW)}
SOUND: Mapping[str, Need] = {"sound": AudioNeed(AudioView(SOUND_RATE)), "tags": ExpertNeed("audio_tags")}
HEARING = frozenset(SOUND)
"""Optional: a clip without a sound track is judged by its pictures, and the judge is told."""

WHOLE, PART = Budget(frames=32, frame_side=512), Budget(frames=12, frame_side=512)
"""Most pictures of a whole clip or a recomposed sequence, and of one shot or moment."""
DENSER = Budget(frames=WHOLE.frames + PART.frames, frame_side=512)
"""Of a whole clip with more pictures around a cut."""
MOMENT = 1.2
"""Seconds on each side of a cut that a moment shows (spec 8.3)."""
LATEST = 60.0
"""Seconds after the first picture in which a sound track must begin."""
SHORTEST = 0.5
"""Seconds: a shorter part is widened, so that it has two pictures."""
TAGS, FAINTEST = 6, 0.05


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that questions and scores about one clip may look at."""

    item: str  # the case's id
    prompt: Prompt
    defects: Defects
    edit: shots.Edit
    alignment: Alignment
    media: Mapping[str, Any]  # the metric's needs by name

    @classmethod
    def of(cls, defects: Defects, case: Case, media: Mapping[str, Any]) -> Scene:
        """Before anything was asked: shots in order of the segments."""
        prompt = prompt_of(case)
        edit = shots.found(defects, prompt.number_of_shots, media)
        return cls(case.id, prompt, defects, edit, by_order(edit.segments, prompt.spans), media)

    def told(self, said: Mapping[str, Answer]) -> Scene:
        """The same with shots aligned by what the judge said."""
        return replace(self, alignment=align(self.prompt, self.edit.segments, said, self.defects))

    # ---------------------------------------------------------------------------------------------- the script

    @property
    def cuts(self) -> list[float | None]:
        """Seconds of each transition of the script; None if one of its shots is missing."""
        return [self.alignment.cut(index) for index in range(len(self.prompt.shots) - 1)]

    @property
    def present(self) -> list[tuple[int, Span]]:
        """(shot from 0, its span) of the shots that were found, in the script's order."""
        return [(shot.index, shot.span) for shot in self.alignment.shots if shot.span is not None]

    def first_piece(self, shot: int) -> Span | None:
        """The first segment of a shot."""
        pieces = self.alignment.shots[shot].pieces
        return pieces[0] if pieces else None

    def places(self, shot: int) -> tuple[Span, ...]:
        """Where a shot is, none if it is missing; D-23: the reference takes what lies between for the shot too."""
        one = self.alignment.shots[shot]
        return (one.span,) if self.defects.merged_spans and one.span is not None else one.places

    def found_shots(self) -> str:
        """What the judge is told about the script's shots; D-14: the reference tells a number as if it were a list."""
        if self.defects.count_is_presence:
            count = len(self.present)
            return f"{count} of {len(self.alignment.shots)} shots are in the clip: shots 1 to {count}."
        return "\n".join(
            f"shot {shot.index + 1}: {shot.span[0]:.2f} s to {shot.span[1]:.2f} s"
            if shot.span is not None
            else f"shot {shot.index + 1}: not found in the clip"
            for shot in self.alignment.shots
        )

    def alignment_record(self) -> dict[str, Any]:
        """What records keep of it."""
        return {
            "method": self.alignment.method,
            "labels": list(self.alignment.labels),
            "segments": [list(span) for span in self.edit.segments],
            "shot_accuracy": self.alignment.accuracy,
            "shots": [
                {"shot": one.index + 1, "status": one.status, "span": list(one.span) if one.span else None}
                for one in self.alignment.shots
            ],
        }

    # --------------------------------------------------------------------------------------------------- words

    def words(self, *spans: Span) -> Mapping[str, evidence_text.Fact]:
        """What stands on screen in stretches of the clip or in all of it, one line; nothing unless the case asks."""
        return screen_text.fact(self.media, *spans)

    # ------------------------------------------------------------------------------------------------ pictures

    @property
    def frames(self) -> Frames:
        """Four pictures a second."""
        found: Frames = self.media["frames"]
        return found

    def whole(self) -> tuple[Part, ...]:
        """The clip."""
        return (_whole(self.frames),)

    def part(self, name: str, *spans: Span) -> tuple[Part, ...]:
        """The pictures of stretches of the clip, with the times that they have in it."""
        return (_part(self.frames, tuple(_widened(span, self.edit.duration) for span in spans), name),)

    def moment(self, cut: float) -> tuple[Part, ...]:
        """The seconds around a cut."""
        return self.part("moment", (cut - MOMENT, cut + MOMENT))

    def around(self, cut: float) -> tuple[Part, ...]:
        """The clip with more pictures around a cut. One part: a server has one list of times per request."""
        return (_around(self.frames, max(0.0, cut - MOMENT), min(self.edit.duration, cut + MOMENT)),)

    def sequence(self, spans: Sequence[Span]) -> tuple[Part, ...]:
        """Stretches of the clip one after the other, on a clock of their own, without sound.

        Short ones are not widened: they would show their neighbours, and the cuts would not be where they are said to
        be.
        """
        return (_sequence(self.frames, tuple(spans)),)

    # --------------------------------------------------------------------------------------------------- sound

    @property
    def has_sound(self) -> bool:
        """Whether the clip has a sound track that this metric was given."""
        sound: Audio | None = self.media.get("sound")
        return sound is not None and sound.present and len(sound.samples) > 0

    def heard(self, span: Span | None = None) -> Audio:
        """The sound track, or a stretch of it, beginning at 0 s."""
        return stretch(self.media["sound"], self.start, span)

    @property
    def start(self) -> float:
        """Time stamp of the first frame."""
        clip = self.frames.clip
        return float(clip.video.times[0]) if clip.video is not None else float(self.frames.time[0])

    def asked(  # every question of this suite passes here
        self,
        form: str,
        item: str,
        pictures: Callable[[], tuple[Part, ...]],
        data: Data,
        facts: Mapping[str, evidence_text.Fact] | None = None,
        sound: Span | bool = False,
        cuts: Sequence[float] = (),
    ) -> Question | Routed:
        """A question about pictures, measured facts and, if `sound` is a stretch or True, what is heard."""
        prompt, place = load(form), f"{self.item}/{item}"
        shown = (*pictures(), *((evidence_text.facts(facts, "measurements").part,) if facts else ()))
        if sound is False:
            return prompt.ask(place, shown, data)
        if not self.has_sound:
            silent = evidence_text.facts({"sound track": "the clip has none"}, "sound").part
            return prompt.ask(place, (*shown, silent), data)
        span = sound if isinstance(sound, tuple) else None
        track = self.heard(span)
        offset = max(0.0, span[0]) if span is not None else 0.0
        lines = [cut - offset for cut in cuts if 0.0 <= cut - offset <= len(track.samples) / track.rate]
        native = prompt.ask(place, (*shown, evidence.sound(track, "sound").part), data)
        return Routed(
            native, lambda: prompt.ask(place, (*shown, *self._in_pictures(track, lines)), data, substitute=True)
        )

    def _in_pictures(self, track: Audio, cuts: Sequence[float]) -> tuple[Part, ...]:
        """What stands in for sound."""
        tags: AudioTags | None = self.media.get("tags")
        level = rms(track.samples)
        facts: dict[str, evidence_text.Fact] = {
            "sound, silent": is_silent(track),
            "sound, level in dBFS": round(decibels(level), 1) if level > 0 else None,
        }
        heard = [(name, share) for name, share in tags.top(TAGS) if share >= FAINTEST] if tags is not None else []
        return (
            evidence.mel({"sound": track}, "sound picture", cuts).part,
            evidence_text.tags(heard, "sounds of the whole clip").part,
            evidence_text.facts(facts, "sound levels").part,
        )


def stretch(sound: Audio, start: float, span: Span | None) -> Audio:
    """A stretch of a sound track by the picture's clock, whose first frame has time stamp `start`; or all from 0 s on.

    Before the track begins there is silence. Raises NotApplicable for one that begins more than LATEST after the
    picture.
    """
    late = sound.start - start
    if late > LATEST:
        raise NotApplicable("not_applicable", f"The sound begins {late:g} s after the picture.")
    low, high = span if span is not None else (0.0, len(sound.samples) / sound.rate + late)
    a, b = (round((second - late) * sound.rate) for second in (low, high))
    b = max(b, a + 1)
    heard, silent = sound.samples[max(0, a) : max(0, b)], max(0, min(0, b) - a)
    return replace(sound, samples=np.pad(heard, (silent, 0)) if silent else heard, start=0.0)


def _widened(span: Span, duration: float) -> Span:
    """At least SHORTEST long, inside the clip."""
    low, high = max(0.0, span[0]), min(duration, max(span[1], span[0] + SHORTEST))
    return max(0.0, min(low, high - SHORTEST)), high


@remembered(4)
def _whole(frames: Frames) -> Part:
    return evidence.clip_frames(frames, "clip", WHOLE).part


@remembered(64)
def _part(frames: Frames, spans: tuple[Span, ...], name: str) -> Part:
    rows = np.unique(np.concatenate([_inside(frames, low, high) for low, high in spans]))
    return evidence.clip_frames(_rows(frames, rows), name, PART).part


@remembered(64)
def _around(frames: Frames, low: float, high: float) -> Part:
    even = np.linspace(0, len(frames.time) - 1, min(len(frames.time), WHOLE.frames)).round().astype(np.int64)
    rows = np.union1d(even, _inside(frames, low, high))
    return evidence.clip_frames(_rows(frames, rows), "clip", DENSER).part


@remembered(32)
def _sequence(frames: Frames, spans: tuple[Span, ...]) -> Part:
    rows, times, offset = [], [], 0.0
    for low, high in spans:
        inside = _inside(frames, low, high)
        rows.append(inside)
        times.append(np.clip(frames.time[inside] - frames.time[0] - low, 0.0, high - low) + offset)
        offset += high - low
    placed = _rows(frames, np.concatenate(rows))
    recomposed = Frames(placed.data, placed.index, np.concatenate(times), ClipInfo("recomposed", None, None))
    return evidence.clip_frames(recomposed, "sequence", WHOLE).part


def _inside(frames: Frames, low: float, high: float) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Rows of the pictures in a stretch; the nearest one if there is none."""
    time = frames.time - frames.time[0]
    found = np.flatnonzero((time >= low - 1e-6) & (time < high))
    return found if len(found) else np.array([int(np.abs(time - (low + high) / 2).argmin())])


def _rows(frames: Frames, rows: np.ndarray[Any, np.dtype[np.int64]]) -> Frames:
    return Frames(frames.data[rows], frames.index[rows], frames.time[rows], frames.clip)
