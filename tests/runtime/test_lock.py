"""The lock: what it accepts, what it refuses, and that the one we ship says what the rest of the project relies on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluator.errors import PrerequisiteError
from evaluator.runtime.lock import Lock, read_lock
from evaluator.runtime.store import LOCK_FILE, ROOT
from evaluator.schema import Tier
from tests.runtime.build import ZEROS, entry, file, tree


@pytest.fixture(scope="module")
def shipped() -> Lock:
    return read_lock(LOCK_FILE)


def parse(folder: Path, content: dict[str, Any]) -> Lock:
    path = folder / "lock.json"
    path.write_bytes(orjson.dumps(content))
    return read_lock(path)


def test_a_small_lock_is_read(tmp_path: Path) -> None:
    found = parse(tmp_path, tree(entry("beta", tier="reference"), entry("alpha", stands_in_for="Beta")))
    assert [item.id for item in found.answering("seeing")] == ["beta", "alpha"]
    assert found["alpha"].stand_in
    assert not found["beta"].stand_in
    assert found["alpha"].file("net.onnx").size == 7


BROKEN = {
    "an unknown field": entry(colour="red"),
    "a short digest": entry(files=[{**file(), "sha256": "abc"}]),
    "an unpinned package": entry(sources=[{"name": "w", "package": "x", "member": "m", "size": 1, "sha256": ZEROS}]),
    "a package without a member": entry(sources=[{"name": "w", "package": "x==1", "size": 1, "sha256": ZEROS}]),
    "a copy of nothing": entry(files=[file(how="copied", source="absent")]),
    "a copied file without a source": entry(files=[file(how="copied")]),
    "a second part of nothing": entry(files=[file(then=["absent"])]),
    "a second part that is no source": entry(
        files=[file(how="copied", source="w", then=["absent"])],
        sources=[{"name": "w", "package": "x==1", "member": "m", "size": 1, "sha256": ZEROS}],
    ),
    "an exported file without a recipe": entry(files=[file(how="exported")]),
    "an exported file without a digest": entry(
        files=[file(content=None, how="exported")],
        export={"recipe": "r.py", "sha256": ZEROS, "opset": 17, "precision": "fp32"},
    ),
    "a file twice": entry(files=[file(), file()]),
    "no file": entry(files=[]),
    "files of a weightless model": entry(weightless=True),
    "a weightless reference": entry(files=[], weightless=True, tier="reference"),
    "a neighbour that is not listed": entry(files=[file(beside=["net.data"])]),
    "a path as file name": entry(files=[file(name="../net.onnx")]),
    "a reference that stands in": entry(tier="reference", stands_in_for="Gamma"),
    "an address": entry(origin={"published": "https://example.org/net"}),
}


def test_arithmetic_alone_is_a_model_without_files(tmp_path: Path) -> None:
    found = parse(tmp_path, tree(entry(files=[], weightless=True, stands_in_for="Beta")))
    assert found["alpha"].stand_in
    assert found["alpha"].files == ()


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_entry_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PrerequisiteError):
        parse(tmp_path, tree(BROKEN[name]))


def test_embedded_models_come_after_reference_ones(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="reference models come before"):
        parse(tmp_path, tree(entry("alpha"), entry("beta", tier="reference")))


@pytest.mark.parametrize("capabilities", [{}, {"seeing": ["alpha", "alpha"]}, {"hearing": ["alpha"]}])
def test_the_table_names_each_model_once(tmp_path: Path, capabilities: dict[str, list[str]]) -> None:
    with pytest.raises(PrerequisiteError):
        parse(tmp_path, {**tree(entry()), "capabilities": capabilities})


def test_an_absent_lock_is_a_prerequisite(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="cannot be read"):
        read_lock(tmp_path / "none.json")


def test_unknown_names_say_what_is_known(shipped: Lock) -> None:
    with pytest.raises(KeyError, match="transnetv2"):
        shipped["transnetv3"]
    with pytest.raises(KeyError, match=r"short_range\.onnx"):
        shipped["blazeface"].file("long_range.onnx")


def test_the_shipped_capabilities(shipped: Lock) -> None:
    assert dict(shipped.capabilities) == {
        "audio_aesthetics": ("audiobox",),
        "audio_tags": ("yamnet",),
        "av_sync": ("synchformer",),
        "dnsmos": ("dnsmos",),
        "face_clips": ("s3fd",),
        "faces": ("blazeface",),
        "frame_aesthetics": ("aesthetic_v25",),
        "clap_audio": ("clap",),
        "clap_text_audio": ("clap_text",),
        "clip_image": ("clip_vit_l14",),
        "clip_text_image": ("clip_text",),
        "frame_distance": ("lpips_alex", "stlpips"),
        "frame_interpolation": ("amt_g", "rife"),
        "grounded_boxes": ("grounding_dino",),
        "image_embedding": ("dinov2", "efficientnet_lite0"),
        "imagebind_av": ("imagebind",),
        "lip_embedding": ("syncnet_lip",),
        "object_detections": ("object_detector",),
        "optical_flow": ("raft_small",),
        "plcmos": ("plcmos",),
        "point_tracks": ("cotracker", "lk_tracks"),
        "region_masks": ("sam2",),
        "region_similarity": ("dinov2_small",),
        "shot_boundaries": ("transnetv2",),
        "sound_stems": ("htdemucs",),
        "speaker_embedding": ("resemblyzer",),
        "speaker_verification": ("ecapa",),
        "speech_activity": ("silero_vad",),
        "speech_quality": ("nisqa", "distillmos"),
        "technical_quality": ("dover_technical",),
        "text_embedding": ("minilm",),
        "text_spotting": ("ppocr_v6",),
        "transcript": ("whisper_base",),
        "video_embedding": ("videoclip_xl",),
        "voice_embedding": ("syncnet_aud",),
    }


def test_stand_ins_say_so(shipped: Lock) -> None:
    named = {item.id: item.stands_in_for for item in shipped.models if item.stand_in}
    assert named == {
        "distillmos": "NISQA v2.0",
        "efficientnet_lite0": "DINOv2 ViT-B/14",
        "lk_tracks": "CoTracker3",
        "rife": "AMT-G",
        "stlpips": "LPIPS (AlexNet)",
    }


def test_every_embedded_file_is_pinned_and_comes_from_a_package(shipped: Lock) -> None:
    for item in shipped.embedded:
        assert all(source.package for source in item.sources), item.id
        assert all(found.sha256 not in {None, ZEROS} and found.size for found in item.files), item.id


def test_every_onnx_file_has_a_contract(shipped: Lock) -> None:
    for item in shipped.models:
        for found in item.files:
            assert bool(found.inputs) == bool(found.outputs) == found.name.endswith(".onnx"), (item.id, found.name)


def test_every_model_has_a_card_and_a_licence(shipped: Lock) -> None:
    for item in shipped.models:
        card = ROOT / "models" / "cards" / f"{item.id}.md"
        assert card.is_file(), f"{card} is missing"
        text = card.read_text(encoding="utf-8")
        assert item.licence.weights in text, f"{card} does not quote the licence of the weights"
        assert item.stands_in_for in text
        for source in item.sources:
            assert (source.sha256 or source.name) in text, f"{card} lacks {source.name} or its digest"
    assert {path.stem for path in (ROOT / "models" / "cards").glob("*.md")} == {item.id for item in shipped.models}


def test_nisqa_is_the_published_file(shipped: Lock) -> None:
    source = shipped["nisqa"].source("nisqa.tar")
    assert source.sha256 == "7ec4cf937514dd3f8860b21e66fabd8ca87a168572675ef8d979c4c4ad2e805c"
    assert (source.size, source.package, shipped["nisqa"].tier) == (1_051_663, None, Tier.REFERENCE)


def test_the_mounted_nisqa_file_has_that_digest(shared: Path) -> None:
    from evaluator.runtime.digests import sha256_file

    assert sha256_file(shared / "data" / "weights" / "nisqa.tar") == read_lock(LOCK_FILE)["nisqa"].sources[0].sha256
