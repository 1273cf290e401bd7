"""Clips at the edge of what a file can be, through a whole run: every metric has a value or says why not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluator.cli import command
from tests.media.oddfiles import Clip, Sound

METRICS = "ssim,msm,audio_similarity,loudness,silence"
"""Metrics that need no model."""

ALIKE: dict[str, Any] = {"codec": "ffv1", "options": {}, "frames": 6}


def pcm(samples: int, rate: int = 48_000, gains: tuple[float, ...] = (0.5, 0.5), start: float = 0.0) -> Sound:
    return Sound(samples / rate, rate, gains, start=start, codec="pcm_s16le")


CLIPS = (
    Clip("one_frame_one_sample.mkv", frames=1, sound=pcm(1)),
    Clip("two_frames.mkv", frames=2, sound=pcm(100)),
    Clip("three_frames.mkv", frames=3, sound=pcm(1000)),
    Clip("one_pixel.mkv", width=1, height=1, pixels="yuv444p", **ALIKE),
    Clip("flat.mkv", width=640, height=2, frames=6),
    Clip("narrow.mkv", width=2, height=400, frames=6),
    Clip("gray.mkv", pixels="gray", **ALIKE),
    Clip("sixteen_bits.mkv", pixels="gbrp16le", **ALIKE),
    Clip("transparent.mkv", pixels="yuva420p", **ALIKE),
    Clip("four_in_a_moment.mkv", frames=4, stamps=[0, 1, 2, 3]),
    Clip("three_in_an_hour.mkv", frames=3, stamps=[0, 1_800_000, 3_600_000], sound=pcm(24_000)),
    Clip("begins_late.mkv", frames=6, stamps=[500_000 + 40 * n for n in range(6)], sound=pcm(24_000, start=600.0)),
    Clip("telephone.mkv", frames=6, sound=pcm(8000, 8000, (0.5,))),
    Clip("its_own_rate.mkv", frames=6, sound=pcm(16_000, 16_000, (0.5,))),
    Clip("beyond_full_scale.mkv", frames=6, sound=Sound(seconds=1.0, gains=(5.0, 5.0))),
    Clip("sound_alone.wav", frames=0, sound=pcm(16_000, 16_000, (0.5,))),
    Clip("upside_down.mp4", frames=6, rotation=180),
)
BROKEN = {"empty.mp4": (b"", "empty"), "words.mp4": (b"no film at all\n" * 50, "not_media")}
PLAIN = Clip("plain.mp4", frames=6, sound=Sound(seconds=0.5))
MAY_LACK = {  # clip -> metrics without a value when it is the clip under test, beside those of sound
    "one_frame_one_sample.mkv": {"msm", "audio_similarity"},
    "two_frames.mkv": {"msm", "audio_similarity"},
    "three_frames.mkv": {"audio_similarity"},
    "sound_alone.wav": {"ssim", "msm"},
}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """(case, metric) -> record, with every clip as the clip under test (`v/NAME`) and as the source (`s/NAME`)."""
    folder = tmp_path_factory.mktemp("odd")
    for clip in (*CLIPS, PLAIN):
        clip.write(folder)
    for name, (data, _) in BROKEN.items():
        (folder / name).write_bytes(data)
    names = [*(clip.name for clip in CLIPS), *BROKEN]
    cases = [{"id": f"v/{name}", "suite": "core", "video": name, "source": PLAIN.name} for name in names]
    cases += [{"id": f"s/{name}", "suite": "core", "video": PLAIN.name, "source": name} for name in names]
    (folder / "m.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALUATOR_CACHE", str(folder / "cache"))
        arguments = ["--manifest", str(folder / "m.jsonl"), "--out", str(folder / "out"), "--metrics", METRICS]
        with pytest.raises(SystemExit) as ended:
            command(arguments)
    assert ended.value.code == 3  # the broken ones
    lines = map(json.loads, (folder / "out" / "scores.jsonl").read_bytes().splitlines())
    return {(line["case"], line["metric"]): line for line in lines}


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.name)
def test_a_readable_clip_fails_nothing(records: dict[tuple[str, str], dict[str, Any]], clip: Clip) -> None:
    own = [line for (case, _), line in records.items() if case.endswith(f"/{clip.name}")]
    assert len(own) == 10
    assert {line["status"] for line in own} <= {"ok", "skipped"}
    assert {line["reason"]["code"] for line in own if line["reason"]} <= {"not_applicable"}


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.name)
def test_what_can_be_measured_is(records: dict[tuple[str, str], dict[str, Any]], clip: Clip) -> None:
    heard = {"audio_similarity", "loudness", "silence"} if clip.sound is None or clip.sound.seconds < 0.4 else set()
    lacking = {metric for (case, metric), line in records.items() if case == f"v/{clip.name}" and line["reason"]}
    assert lacking - heard <= MAY_LACK.get(clip.name, set())


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_clip_takes_only_what_looks_at_it(records: dict[tuple[str, str], dict[str, Any]], name: str) -> None:
    as_clip = {metric: line for (case, metric), line in records.items() if case == f"v/{name}"}
    assert {line["reason"]["code"] for line in as_clip.values()} == {BROKEN[name][1]}
    as_source = {metric: line["status"] for (case, metric), line in records.items() if case == f"s/{name}"}
    assert {metric for metric, status in as_source.items() if status == "failed"} == {"ssim", "audio_similarity"}
