"""Fidelity and realism over the streams that were really edited (spec 7.8): doing nothing preserves everything.

A case's response decides which of its streams count: fidelity and realism of a stream that did not respond are left
out, instruction following and intent are not, so that an untouched case stays a failure there. The paper describes
these averages; the rule for single items is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from evaluator.schema import Case, Score
from evaluator.suites.ave_compass.cells import Basis, Records, basis, items
from evaluator.suites.ave_compass.judged import FIDELITY, REALISM, RESPONSE, metric_id
from evaluator.suites.ave_compass.scoring import PERCENT
from evaluator.suites.ave_compass.tallies import PUBLISHED, stand_ins

Undefined = Literal["keep", "drop"]
"""What becomes of a stream that no item asks the response of."""

STREAMS = ("video", "audio")
OBJECTIVE = {"av_sync": STREAMS, "audio_aesthetic": ("audio",), "speech_quality": ("audio",)}
"""Objective metric -> it is left out when all of these streams did not respond. Diagnostics."""


@dataclass(frozen=True, slots=True)
class Response:
    """Whether each stream of a case responded; None where the checklist does not ask."""

    video: bool | None
    audio: bool | None

    def dropped(self, stream: str, undefined: Undefined = "keep") -> bool:
        """Whether this stream of the case is left out."""
        answer = self.video if stream == "video" else self.audio
        return undefined == "drop" if answer is None else not answer

    @property
    def untouched(self) -> bool:
        """Both streams were asked about, and neither responded."""
        return self.video is False and self.audio is False


@dataclass(frozen=True, slots=True)
class Gated:
    """One average with and without the cases whose stream did not respond, in percent."""

    quantity: str
    basis: Basis
    ungated: float
    gated: float | None
    n: int
    dropped: int

    @property
    def difference(self) -> float | None:
        """Gated minus ungated."""
        return None if self.gated is None else self.gated - self.ungated


def response(records: Records, case: Case) -> Response:
    """The response of one case from its records."""
    found: dict[str, bool | None] = {}
    for stream in STREAMS:
        score = records[case, metric_id(RESPONSE, stream)]
        found[stream] = None if score is None or score.value is None else score.value > 0
    return Response(found["video"], found["audio"])


def fidelity(told: Iterable[Mapping[str, Any]], responded: Response, undefined: Undefined = "keep") -> float | None:
    """Overall fidelity over the items whose stream counts, 0..1; None if none is left.

    General items are left out only if both streams were asked about and neither responded.
    """
    kept = [
        item["yes"]
        for item in told
        if item["yes"] is not None
        and not (
            responded.untouched if item["modality"] == "general" else responded.dropped(item["modality"], undefined)
        )
    ]
    return fmean(kept) if kept else None


def realism(by_stream: Mapping[str, float | None], responded: Response, undefined: Undefined = "keep") -> float | None:
    """Overall realism over the streams that count, 0..1; None if none is left."""
    kept = [
        value for stream, value in by_stream.items() if value is not None and not responded.dropped(stream, undefined)
    ]
    return fmean(kept) if kept else None


def gated(records: Records, cases: Sequence[Case], undefined: Undefined = "keep") -> list[Gated]:
    """Every gated average of these cases, in the order of the table; a line per basis."""
    found: list[Gated] = []
    for quantity in _quantities():
        pairs: dict[Basis, list[tuple[float, float | None]]] = {}
        for case, score, value in records.scored(cases, quantity):
            kept = _kept(records, case, quantity, response(records, case), undefined)
            pairs.setdefault(_ground(quantity, score), []).append((value, kept))
        found += [_gated(quantity, ground, values) for ground, values in pairs.items()]
    return found


def _ground(quantity: str, score: Score) -> Basis:
    """What a record rests on: judge and evidence, or the models that measured it, of which stand-ins are named."""
    if quantity not in OBJECTIVE:
        return basis(score)
    return Basis(", ".join(stand_ins([score])) or PUBLISHED, "")


def _quantities() -> list[str]:
    judged = [metric_id(family, scope) for family in (FIDELITY, REALISM) for scope in ("overall", *STREAMS)]
    return [*judged, *OBJECTIVE]


def _kept(records: Records, case: Case, quantity: str, responded: Response, undefined: Undefined) -> float | None:
    """The value that goes into the gated average; None if the case is left out."""
    score = records[case, quantity]
    value = score.value if score is not None else None
    if quantity in OBJECTIVE:
        answers = {"video": responded.video, "audio": responded.audio}
        return None if all(answers[stream] is False for stream in OBJECTIVE[quantity]) else value
    if quantity == FIDELITY:
        return fidelity(items(score), responded, undefined)
    if quantity == REALISM:
        streams = {stream: records[case, metric_id(REALISM, stream)] for stream in STREAMS}
        by_stream = {stream: one.value if one is not None else None for stream, one in streams.items()}
        return realism(by_stream, responded, undefined)
    return None if responded.dropped(quantity.rpartition("_")[2], undefined) else value


def _gated(quantity: str, ground: Basis, pairs: Sequence[tuple[float, float | None]]) -> Gated:
    kept = [value for _, value in pairs if value is not None]
    return Gated(
        quantity,
        ground,
        ungated=PERCENT * fmean(value for value, _ in pairs),
        gated=PERCENT * fmean(kept) if kept else None,
        n=len(pairs),
        dropped=len(pairs) - len(kept),
    )
