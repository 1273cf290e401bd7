"""Mounted files of any origin: random networks under the contracts of spec 4.0 give all nine metrics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import ModelCorrupt, ModelMissing
from evaluator.manifest.loader import read
from evaluator.runner.options import RunOptions
from evaluator.runner.run import run
from evaluator.runtime.digests import DigestCache
from evaluator.runtime.lock import ModelFile, Tensor, read_lock
from evaluator.runtime.session import SessionSource
from evaluator.runtime.store import LOCK_FILE, Store
from evaluator.schema import Score, Status, Tier
from evaluator.suites.ave_compass import SUITE
from evaluator.suites.ave_compass.routing import ROUTING
from tests.runner.clips import clip
from tests.suites.ave_compass.manifests import write_manifest
from tests.suites.ave_compass.networks import linear, mount

LOCK = read_lock(LOCK_FILE)
REFERENCE = (
    "audiobox",
    "synchformer",
    "aesthetic_v25",
    "dinov2",
    "syncnet_lip",
    "syncnet_aud",
    "s3fd",
    "amt_g",
    "videoclip_xl",
)

CONTRACT = {
    ("audiobox", "wave"): ("float32", ("batch", 160_000)),
    ("audiobox", "mask"): ("bool", ("batch", 160_000)),
    ("syncnet_lip", "frames"): ("float32", ("batch", 3, 5, 224, 224)),
    ("syncnet_lip", "embedding"): ("float32", ("batch", 1024)),
    ("syncnet_aud", "mfcc"): ("float32", ("batch", 1, 13, 20)),
    ("syncnet_aud", "embedding"): ("float32", ("batch", 1024)),
    ("synchformer", "video"): ("float16 or float32", ("batch", 14, 16, 3, 224, 224)),
    ("synchformer", "audio"): ("float32", ("batch", 14, 1, 128, 66)),
    ("synchformer", "logits"): ("float32", ("batch", 21)),
    ("aesthetic_v25", "pixels"): ("float32", ("batch", 3, 384, 384)),
    ("aesthetic_v25", "score"): ("float32", ("batch",)),
    ("dinov2", "pixels"): ("float32", ("batch", 3, 224, 224)),
    ("dinov2", "embedding"): ("float32", ("batch", 768)),
    ("amt_g", "first"): ("float32", (1, 3, "height", "width")),
    ("amt_g", "second"): ("float32", (1, 3, "height", "width")),
    ("amt_g", "middle"): ("float32", (1, 3, "height", "width")),
    ("videoclip_xl", "frames"): ("float32", ("batch", 8, 3, 224, 224)),
    ("videoclip_xl", "embedding"): ("float32", ("batch", 768)),
    ("nisqa", "segments"): ("float32", (1, "segments", 1, 48, 15)),
    ("nisqa", "scores"): ("float32", (1, 5)),
}
"""Spec 4.0."""


@pytest.mark.parametrize(("model", "tensor"), CONTRACT)
def test_the_lock_states_the_contracts_of_the_specification(model: str, tensor: str) -> None:
    (file,) = LOCK[model].files
    named = {item.name: (item.dtype, item.shape) for item in (*file.inputs, *file.outputs)}
    assert named[tensor] == CONTRACT[model, tensor]
    assert LOCK[model].tier is Tier.REFERENCE


@pytest.fixture(scope="module")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mount(LOCK, tmp_path_factory.mktemp("mounted"), REFERENCE)


def store_of(mounted: Path | None, folder: Path) -> Store:
    return Store(LOCK, Store.open().folder, mounted, DigestCache(folder / "digests.json"))


@pytest.mark.parametrize("model", REFERENCE)
def test_a_random_network_is_accepted_and_runs(mounted: Path, tmp_path: Path, model: str) -> None:
    (file,) = LOCK[model].files
    session = store_of(mounted, tmp_path).session(model, file.name)
    found = session.run({item.name: _filled(item, session.inputs[item.name][1]) for item in file.inputs})
    assert {name: value.ndim for name, value in found.items()} == {one.name: len(one.shape) for one in file.outputs}


def _filled(tensor: Tensor, element: str) -> np.ndarray:
    sizes = {"batch": 1, "height": 64, "width": 48}
    kinds = {"tensor(float)": np.float32, "tensor(bool)": np.bool_, "tensor(float16)": np.float16}
    return np.ones([sizes[size] if isinstance(size, str) else size for size in tensor.shape], kinds[element])


def test_a_network_of_another_shape_is_refused(tmp_path: Path) -> None:
    wrong = ModelFile(
        name="videoclip_xl.onnx",
        how="mounted",
        inputs=(Tensor(name="frames", dtype="float32", shape=("batch", 16, 3, 224, 224)),),
        outputs=(Tensor(name="embedding", dtype="float32", shape=("batch", 512)),),
    )
    (tmp_path / "videoclip_xl").mkdir()
    (tmp_path / "videoclip_xl" / wrong.name).write_bytes(linear(wrong, 0, 0.1, 1.0))
    with pytest.raises(ModelCorrupt, match="expected shape") as refusal:
        store_of(tmp_path, tmp_path).session("videoclip_xl", wrong.name)
    assert "512" in str(refusal.value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One clip pair with a case of every branch, and one clip without sound."""
    folder = tmp_path_factory.mktemp("it's a folder; with spaces")
    clip(folder / "source.mp4", seed=1)
    clip(folder / "edited.mp4", seed=2)
    clip(folder / "mute.mp4", seed=3, sound=False)
    cases = [{"id": branch, "category": branch} for branch in ("joint", "speech", "video-only", "audio-only")]
    write_manifest(folder, [*cases, {"id": "mute", "category": "speech", "video": "mute.mp4"}])
    return folder


Found = dict[tuple[str, str], Score]


def scored(folder: Path, store: Store, out: Path, profile: str = "paper", require_reference: bool = False) -> Found:
    manifest = read(folder / "cases.jsonl", suites={SUITE.id: SUITE.data}, examine={SUITE.id: SUITE.examine})
    options = RunOptions(
        out=out,
        workers=1,
        metrics=tuple(ROUTING),
        profile=profile,
        require_reference=require_reference,
        quiet=True,
    )
    return {score.key: score for score in run(manifest, store, options).scores}


@pytest.fixture(scope="module", params=SUITE.profiles)
def profiled(
    request: pytest.FixtureRequest,
    models: SessionSource,
    folder: Path,
    mounted: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[str, Found]:
    """(profile, all scores with every model but NISQA mounted): one run per profile."""
    out = tmp_path_factory.mktemp(request.param)
    return request.param, scored(folder, store_of(mounted, out), out / "out", request.param)


def test_all_nine_metrics_from_mounted_files(profiled: tuple[str, Found]) -> None:
    profile, found = profiled
    values = [score for (case, _), score in found.items() if case != "mute"]
    assert {score.metric for score in values} == set(ROUTING)
    if profile == "strict":  # which looks for a face, and these clips are noise
        reason = found["speech", "lip_sync"].reason
        assert reason is not None
        assert reason.message.startswith("no_face")
        values.remove(found["speech", "lip_sync"])
    assert all(score.status is Status.OK for score in values), [score.reason for score in values if score.reason]
    for score in values:
        named = {model.id for model in score.models if model.tier is Tier.REFERENCE}
        assert named == MODELS.get(score.metric, set()), score.metric
        assert not any(model.stands_in_for for model in score.models) or score.metric == "speech_quality"


MODELS = {
    "lip_sync": {"syncnet_lip", "syncnet_aud"},
    "av_sync": {"synchformer"},
    "video_aesthetic": {"aesthetic_v25"},
    "subject_consistency": {"dinov2"},
    "motion_smoothness": {"amt_g"},
    "audio_aesthetic": {"audiobox"},
    "videoclip_video_similarity": {"videoclip_xl"},
}


def test_a_clip_without_sound(profiled: tuple[str, Found]) -> None:
    """Zero in paper and strict, because removing the sound must not pay; no score in compat, as in the reference."""
    profile, found = profiled
    for metric in ("lip_sync", "av_sync", "audio_aesthetic", "speech_quality"):
        score = found["mute", metric]
        if profile == "compat":
            assert score.reason is not None
            assert (score.status, score.reason.code) == (Status.SKIPPED, "not_applicable")
            assert "no audio stream" in score.reason.message
        else:
            assert score.value == 0.0
            assert score.details == {"silent": True, "audio_stream": False}
    assert found["mute", "motion_smoothness"].status is Status.OK


def test_strict_asks_other_questions_of_the_same_files(profiled: tuple[str, Found]) -> None:
    profile, found = profiled
    strict = profile == "strict"
    assert set(found["joint", "av_sync"].details) == (
        {"first", "last"} if strict else {"top", "entropy_bits", "padded"}
    )
    assert ("overlap" in found["video-only", "audio_similarity"].details) is strict


@pytest.mark.usefixtures("models")
def test_without_mounted_files_stand_ins_are_marked_or_nothing_is_told(folder: Path, tmp_path: Path) -> None:
    found = scored(folder, store_of(None, tmp_path), tmp_path / "out")
    assert found["audio-only", "videoclip_video_similarity"].models[0].stands_in_for == "VideoCLIP-XL"
    assert {model.stands_in_for for model in found["speech", "lip_sync"].models} >= {"SyncNet v2"}
    for metric in ("av_sync", "video_aesthetic", "audio_aesthetic"):
        reason = found["speech", metric].reason
        assert reason is not None
        assert reason.code == "unavailable"


@pytest.mark.usefixtures("models")
def test_a_stand_in_metric_is_no_reference(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="reference model is required"):
        scored(folder, store_of(None, tmp_path), tmp_path / "out", require_reference=True)
