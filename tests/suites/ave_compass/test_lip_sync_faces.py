"""Lip sync in profile strict: arithmetic over face tracks, and whole runs with a planted face."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from evaluator.errors import ModelMissing, NotApplicable
from evaluator.experts.features import LipTrack, LipTracks, WindowEmbeddings
from evaluator.manifest.loader import read
from evaluator.runner.options import RunOptions
from evaluator.runner.run import run
from evaluator.runtime.digests import DigestCache
from evaluator.runtime.lock import read_lock
from evaluator.runtime.store import LOCK_FILE, Store
from evaluator.schema import Score, Status, Tier
from evaluator.suites.ave_compass import SUITE
from evaluator.suites.ave_compass.lip_sync import match
from evaluator.suites.ave_compass.lip_sync_faces import GAMMA, rated_tracks
from tests.metrics.build import silent, tone
from tests.suites.ave_compass.manifests import write_manifest
from tests.suites.ave_compass.networks import mount

STRICT = SUITE.variants["strict"]["lip_sync"]
LOCK = read_lock(LOCK_FILE)


def vectors(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, 16)).astype(np.float32)


def at_25(rows: np.ndarray) -> WindowEmbeddings:
    return WindowEmbeddings(rows, 25.0)


WHOLE = at_25(vectors(100, seed=9))

# --------------------------------------------------------------------------------------------------- arithmetic


def test_a_track_is_compared_with_the_sound_of_its_span() -> None:
    sound = vectors(100)
    one = LipTracks((LipTrack(30, sound[30:85]),), started=3)
    found = rated_tracks(one, WHOLE, at_25(sound))
    assert found.raw == pytest.approx(match(sound[30:85], sound[30:85]).confidence)
    assert found.value == pytest.approx(min(1.0, found.raw / GAMMA))
    assert (found.details["offset_frames"], found.details["tracks_started"]) == (0, 3)
    assert found.details["tracks"][0]["first_slot"] == 30
    assert found.details["tracks"][0]["min_distance"] < 1e-4


def test_the_mean_over_tracks_counts() -> None:
    sound = vectors(120)
    tracks = LipTrack(0, sound[:55]), LipTrack(60, np.roll(sound, 4, axis=0)[60:115])
    both = rated_tracks(LipTracks(tracks, len(tracks)), WHOLE, at_25(sound))
    alone = [rated_tracks(LipTracks((track,), 1), WHOLE, at_25(sound)) for track in tracks]
    assert both.raw == pytest.approx(np.mean([one.raw for one in alone]))
    assert both.details["offset_frames"] == pytest.approx(np.mean([0, alone[1].details["offset_frames"]]))
    assert alone[1].details["offset_frames"] == 4


def test_gamma_is_seven_here_and_two_on_whole_frames() -> None:
    sound = 100 * vectors(60)
    found = rated_tracks(LipTracks((LipTrack(0, sound / 30),), 1), at_25(sound), at_25(sound / 30))
    assert (found.details["gamma"], found.details["fullframe25"]["gamma"]) == (7.0, 2.0)
    assert found.value == pytest.approx(min(1.0, found.raw / 7))


def test_the_whole_frame_at_25_is_the_second_strict_value() -> None:
    sound = vectors(100)
    second = rated_tracks(LipTracks((LipTrack(0, sound[:60]),), 1), WHOLE, at_25(sound)).details["fullframe25"]
    expected = match(WHOLE.vectors, sound)
    assert second["raw"] == pytest.approx(expected.confidence)
    assert (second["input"], second["fps_mismatch"]) == ("whole frame", False)


@pytest.mark.parametrize("tracks", [(), (LipTrack(500, vectors(60)),)])
def test_no_face_is_no_score(tracks: tuple[LipTrack, ...]) -> None:
    """Nobody was followed, or only where no sound is."""
    with pytest.raises(NotApplicable, match="no_face: none of 2 faces"):
        STRICT.compute(lips=LipTracks(tracks, started=2), whole=WHOLE, voice=at_25(vectors(100)), sound=tone(4.0))


def test_silence_is_zero_before_anybody_looks_for_a_face() -> None:
    found = STRICT.compute(lips=LipTracks((), 0), whole=WHOLE, voice=at_25(vectors(100)), sound=silent(4.0))
    assert (found.value, found.details) == (0.0, {"silent": True, "audio_stream": True})


# ------------------------------------------------------------------------------------------------------ whole runs


def talking(path: Path, frames: int) -> Path:
    """512 x 384 pixels, a red square of 64 where the face detector of the tests looks for a face, and a tone."""
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=25, options={"crf": "18", "threads": "1"})
        video.width, video.height, video.pix_fmt = 512, 384, "yuv420p"
        audio = container.add_stream("aac", rate=16_000, layout="mono")
        for index in range(frames):
            picture = np.full((384, 512, 3), 40, np.uint8)
            picture[128:192, 192:256] = 255, 0, 0
            picture[300:330, 4 * index : 4 * index + 30] = 90, 200, 90
            container.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(video.encode(None))
        time = np.arange(frames * 640) / 16_000
        sound = (9000 * np.sin(2 * np.pi * 330 * time) * np.sin(2 * np.pi * time)).astype(np.int16)
        heard = av.AudioFrame.from_ndarray(sound[None], format="s16", layout="mono")
        heard.sample_rate, heard.pts = 16_000, 0
        container.mux(audio.encode(heard))
        container.mux(audio.encode(None))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("talking")
    talking(folder / "edited.mp4", 56)
    write_manifest(folder, [{"id": "talk", "category": "speech", "source": "edited.mp4"}])
    return folder


def scored(folder: Path, tmp_path: Path, *models: str, require_reference: bool = False) -> Score:
    store = Store(
        LOCK, Store.open().folder, mount(LOCK, tmp_path / "models", models), DigestCache(tmp_path / "digests.json")
    )
    manifest = read(folder / "cases.jsonl", suites={SUITE.id: SUITE.data}, examine={SUITE.id: SUITE.examine})
    options = RunOptions(
        out=tmp_path / "out",
        workers=1,
        metrics=("lip_sync",),
        profile="strict",
        require_reference=require_reference,
        quiet=True,
    )
    (score,) = run(manifest, store, options).scores
    return score


@pytest.mark.usefixtures("models")
def test_a_face_is_found_followed_and_compared_by_mounted_files(folder: Path, tmp_path: Path) -> None:
    score = scored(folder, tmp_path, "s3fd", "syncnet_lip", "syncnet_aud", require_reference=True)
    assert score.status is Status.OK, score.reason
    (track,) = score.details["tracks"]
    assert (track["first_slot"], track["windows"]) == (0, 51)
    assert score.details["tracks_started"] == 1
    assert {model.id for model in score.models} == {"s3fd", "face_lips", "syncnet_lip", "syncnet_aud"}
    assert all(model.tier is Tier.REFERENCE and not model.stands_in_for for model in score.models)


@pytest.mark.usefixtures("models")
def test_without_s3fd_another_detector_looks_and_says_so(folder: Path, tmp_path: Path) -> None:
    """It knows that a red square is no face."""
    score = scored(folder, tmp_path, "syncnet_lip", "syncnet_aud")
    assert score.reason is not None
    assert (score.status, score.reason.code) == (Status.SKIPPED, "not_applicable")
    assert score.reason.message.startswith("no_face")
    assert ("face_clips_stand_in", "S3FD") in {(model.id, model.stands_in_for) for model in score.models}
    with pytest.raises(ModelMissing, match="S3FD"):
        scored(folder, tmp_path, "syncnet_lip", "syncnet_aud", require_reference=True)


@pytest.mark.usefixtures("models")
def test_without_syncnet_the_proxy_answers(folder: Path, tmp_path: Path) -> None:
    score = scored(folder, tmp_path, "s3fd")
    assert "SyncNet v2" in {model.stands_in_for for model in score.models}
