"""Which of the reference code's numbered defects are in force (CutCraft spec 13): one flag per defect that changes a
number and that this package can turn on or off. True = as in the reference. Of D-20, that failures are kept from run to
run under a path has no flag: nothing is kept between runs but the ledger, in any profile.

`PAPER` has all of them off, `COMPAT` all of them on. A record that names its profile says with it what was in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Defects:
    """The defects of the measured dimensions. The docstring of the function that takes one says what it does."""

    flash_labels_are_hard_cuts: bool  # D-01, D2 and B2: "flash-to-white" has none of the words looked for
    shot_count_leaks: bool  # D-04, A1: cuts are added until the number asked for is reached
    nominal_rate: bool  # D-05, B2, D1, F1: 8 fps flow frames are dated by the nominal rate
    disjoint_windows: bool  # D-07: TransNetV2 windows side by side, the last one filled with black
    prefix_camera_labels: bool  # D-11, E1: the first key inside a label wins
    segments_before_cut: bool  # D-16, D1: both sound segments may lie before the cut; pixels and degrees are mixed
    first_transition: bool  # D-17, D2: the first transition within a second, which may serve two cuts
    frame_difference_optics: bool  # D-17, D2: optical class from gray differences, lost over motion
    fixed_ambience_blocks: bool  # D-18, D3: blocks of 0.8 s whatever the offset
    any_labels_align: bool  # D-20: an alignment that failed goes unseen: any list of labels is cut or filled and used
    last_shot_moves_up: bool  # D-19: a missing shot is always taken to be the last one
    failure_is_half: bool  # D-21: a missing input scores 0.5 or 0 instead of nothing
    merged_spans: bool  # D-23, A2, A4 and B1: a shot of separate segments spans what lies between them
    plateau_is_a_shot: bool  # D-24: the white or black of a flash is a shot of its own
    lost_summaries: bool  # D-02, D1 and E1: what experts found is read at the wrong place, so constants are shown
    one_camera: bool  # D-03, E1: the camera of the first 3.7 s is told of every shot
    first_half: bool  # D-08, A4 and C1: sixteen frames at 2 a second, so nothing after 7.5 s
    sample_cosines: bool  # D-09, C1 and D1: "cross-shot" cosines are of samples half a second apart
    prompt_times: bool  # D-10, C1 and D1: times are the prompt's, not those at which shots were found
    loose_letters: bool  # D-12: answers are free text, of which letters are guessed
    name_in_prose: bool  # D-13, C1: a montage is right if its name is anywhere in the editing style
    count_is_presence: bool  # D-14: "n shots are there" is told as "shots 1 to n are there"
    unknown_transition_fails: bool  # D-15, D1: a Gilligan cut has no question and scores 0
    options_as_stored: bool  # D-22: the right option of A2 is nearly always the first one
    shifted_durations: bool  # D-25, B1: prompt ranges without length are removed before shots are looked up by place
    short_descriptions: bool  # D-27, alignment and D1: descriptions are cut off


WITHOUT_FLAG: Mapping[str, str] = {
    "D-06": "MonST3R's input range and size: no such model is computed here, motion comes from optical flow",
    "D-26": "results that are thrown away: they cost time and change no score, so they are not computed",
    "D-30": "fourteen services on four GPUs: one process, no services",
    "D-31": "a remote, unbatched judge: any judge on loopback",
    "D-32": "temporary files that stay: none are made",
    "D-33": "random shifts and temperatures: there is no seed but the inputs",
    "D-34": "one failed call voids a mode: an answer that is not there is a status of its own",
    "D-35": "environment variables at import: none are read",
    "D-36": "the baseline generator's J-cut: nothing is generated here",
    "D-40": "the baseline generator's flashes: nothing is generated here",
}
"""Numbered defects that no flag can turn on, and why."""


def _all(on: bool) -> Defects:
    values: dict[str, Any] = {field.name: on for field in fields(Defects)}
    return Defects(**values)


PAPER, COMPAT = _all(False), _all(True)
PROFILES = {"paper": PAPER, "compat": COMPAT}
