"""The doctor: what a healthy machine says, and that each kind of trouble is seen and named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import orjson
import pytest

from evaluator.doctor import codecs, device, judge, machine
from evaluator.doctor.codecs import FRAMES, KINDS, Kind, number, picture, write, wrong
from evaluator.doctor.finding import Finding, Level, ready, screen
from evaluator.runtime.engine_build import Built
from evaluator.runtime.engine_cache import EngineCache, EngineKey, Gpu
from evaluator.runtime.session import SessionSource
from tests.judge.fake_server import Behaviour, running
from tests.runner.clips import clip
from tests.test_cli import Cli, cli  # noqa: F401  (fixture)


def test_every_kind_of_clip_comes_back_frame_by_frame(tmp_path: Path) -> None:
    found = list(codecs.findings(tmp_path))
    assert [finding.name for finding in found] == [kind.name for kind in KINDS]
    assert {finding.level for finding in found} <= {Level.OK, Level.NOTE}
    needed = {"H.264 + AAC in MP4", "VP9 + Opus in WebM", "HEVC in MP4", "Motion JPEG in QuickTime"}
    assert needed <= {finding.name for finding in found if finding.level is Level.OK}


@pytest.mark.parametrize("index", [0, 1, 23, 170, 255])
def test_a_frame_carries_its_number_through_noise(index: int) -> None:
    noisy = picture(index).astype(np.int64) + np.random.default_rng(index).normal(0, 40, picture(index).shape)
    assert number(noisy.clip(0, 255).astype(np.uint8)) == index


def test_a_decoder_that_repeats_a_frame_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS[0]
    monkeypatch.setattr(codecs, "picture", lambda index: picture(min(index, 7)))
    write(kind, tmp_path / "clip.mp4")
    assert re.match(rf"frames \[0, 1, .*7, 7.*\] instead of 0 to {FRAMES - 1}", wrong(kind, tmp_path / "clip.mp4"))


def test_silence_where_a_tone_was_written_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS[0]
    tone = list(codecs._tone())
    for block in tone:
        block.planes[0].update(bytes(block.planes[0].buffer_size))
    monkeypatch.setattr(codecs, "_tone", lambda: tone)
    write(kind, tmp_path / "clip.mp4")
    assert wrong(kind, tmp_path / "clip.mp4") == "the sound is not the tone that was written"


def test_an_encoder_that_is_not_here_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "KINDS", (Kind("something", "mkv", "no_such_encoder"),))
    [finding] = codecs.findings(tmp_path)
    assert finding.level is Level.NOTE
    assert "cannot be written here" in finding.found


def test_a_folder_that_does_not_exist_yet_is_judged_by_the_one_above(tmp_path: Path) -> None:
    named = {finding.name: finding for finding in machine.findings({"output": tmp_path / "not" / "yet"})}
    assert named["output"].level is Level.OK
    assert "GiB free" in named["output"].found
    assert named["cores"].found.isdecimal()


def test_a_full_disk_is_missing_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "ROOM", 1 << 60)
    named = {finding.name: finding for finding in machine.findings({"output": tmp_path})}
    assert named["output"].level is Level.MISSING
    assert "make room" in named["output"].remedy


def test_a_gpu_is_described_by_what_the_kernel_module_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = tmp_path / "gpus" / "0000:01:00.0"
    card.mkdir(parents=True)
    (card / "information").write_text("Model: \t\t NVIDIA H200\nIRQ: 1\n")
    (tmp_path / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159\n")
    monkeypatch.setattr(machine, "NVIDIA", tmp_path)
    named = {finding.name: finding for finding in machine.findings({})}
    assert named["0000:01:00.0"].found == "NVIDIA H200"
    assert "580.159" in named["driver"].found
    assert {"libcuda.so.1", "libnvcuvid.so.1"} <= named.keys()


def test_engines_are_told_with_what_they_proved(tmp_path: Path) -> None:
    cache, gpu = EngineCache(tmp_path / "engines"), Gpu("NVIDIA H200", "9.0", "580")
    built = Built(b"plan", b"", rewrites=("axes of squeezes",))
    cache.keep(EngineKey("ab" * 32, "tensorrt 11", gpu, {}), built, {"cosine": 0.99999, "max_abs": 1e-4})
    cache.refuse(EngineKey("cd" * 32, "tensorrt 11", gpu, {}), "node 3 (Loop): not supported")
    (tmp_path / "engines" / "torn.json").write_text("{")
    found = list(device.findings(cache, tmp_path, "gpu"))
    told = {finding.name: finding for finding in found}
    assert "cosine 0.999990" in told["engine abababababab"].found
    assert told["engine abababababab"].found.endswith("; rewritten: axes of squeezes")
    assert told["engine cdcdcdcdcdcd"].level is Level.NOTE
    assert "Loop" in told["engine cdcdcdcdcdcd"].found
    assert "DALI is not installed" in told["DALI"].found


def test_an_engine_of_an_earlier_version_is_told_too(tmp_path: Path) -> None:
    cache, gpu = EngineCache(tmp_path), Gpu("NVIDIA H200", "9.0", "580")
    cache.keep(EngineKey("ab" * 32, "tensorrt 11", gpu, {}), Built(b"plan", b""), {"cosine": 1.0, "max_abs": 0.0})
    [written] = tmp_path.glob("*.json")
    record = orjson.loads(written.read_bytes())
    del record["rewrites"]
    written.write_bytes(orjson.dumps(record))
    told = {finding.name: finding.found for finding in device.findings(cache, tmp_path, "gpu")}
    assert told["engine abababababab"].endswith("largest difference 0")


def test_a_judge_is_met_or_missed() -> None:
    with running(Behaviour()) as url:
        [met] = judge.findings(url, needed=True)
        assert met.level is Level.OK
    [missed] = judge.findings(url, needed=True)
    assert missed.level is Level.MISSING
    [none] = judge.findings(None, needed=False)
    assert (none.level, none.remedy) == (Level.NOTE, "")


def test_judges_of_one_model_are_met_missed_or_wanted(tmp_path: Path) -> None:
    model, none = "VisualQuality-R1", {"url": None, "needed": False, "models": ["VisualQuality-R1"]}
    [_, wanted] = judge.findings(**none)  # type: ignore[arg-type]
    assert (wanted.level, wanted.name) == (Level.NOTE, model)
    assert f"--judge-for {model}=URL" in wanted.remedy
    with running(Behaviour(model="VisualQuality-R1-7B")) as url:
        [_, met] = judge.findings(**none, reserved={model.lower(): url})  # type: ignore[arg-type]
    assert (met.level, met.name) == (Level.OK, model)
    assert met.found.startswith("VisualQuality-R1-7B")
    with running(Behaviour()) as url:
        [_, other] = judge.findings(**none, reserved={model: url})  # type: ignore[arg-type]
    assert (other.level, "found judge" in other.found) == (Level.MISSING, True)
    [_, empty] = judge.findings(**none, reserved={model: str(tmp_path)})  # type: ignore[arg-type]
    assert (empty.level, "config.json" in empty.found) == (Level.MISSING, True)
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "w.safetensors").write_bytes(b"")
    [_, kept] = judge.findings(**none, reserved={model: str(tmp_path)})  # type: ignore[arg-type]
    assert kept.level is Level.OK
    [*_, unasked] = judge.findings(**none, reserved={"other": "http://127.0.0.1:9"})  # type: ignore[arg-type]
    assert (unasked.level, unasked.found) == (Level.MISSING, "no metric asks for that model")


def test_the_screen_names_what_is_missing_and_what_to_do() -> None:
    found = [
        Finding("one", "first", Level.OK, "fine"),
        Finding("two", "second", Level.MISSING, "not there " * 9, "copy it"),
    ]
    shown = screen(found, 60)
    assert not ready(found)
    assert max(map(len, shown.splitlines())) <= 60
    assert "→ copy it" in shown
    assert shown.endswith("not ready: 1 missing")
    assert ready(found[:1])


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    clip(tmp_path / "one.mp4", frames=4)
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps({"id": "one", "suite": "core", "video": "one.mp4"}))
    return path


def test_a_prepared_machine_is_ready_for_a_manifest(
    cli: Cli,  # noqa: F811
    manifest: Path,
    models: SessionSource,
    capfd: pytest.CaptureFixture[str],
) -> None:
    told = cli("doctor", "--manifest", manifest, "--json")
    assert told.code == 0
    found = json.loads(told.out)
    assert found["ready"] is True
    named = {(item["section"], item["name"]): item for item in found["findings"]}
    assert "CPUExecutionProvider" in named["models", "transnetv2"]["found"]
    assert "any that honours the contract" in named["suite core", "dinov2"]["remedy"]
    assert {section for section, _ in named} >= {"software", "resources", "GPU", "codecs", "models", "suite core"}
    assert {section for section, _ in named if section.startswith("suite")} == {"suite core"}
    assert "x265" not in capfd.readouterr().err


def test_what_is_needed_and_missing_is_exit_4(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    models: SessionSource,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = cli("doctor", "--manifest", manifest, "--require-reference")
    assert told.code == 4
    assert "not ready" in told.out
    monkeypatch.setenv("EVALUATOR_STORE", str(tmp_path / "empty"))
    told = cli("doctor", "--manifest", manifest)
    assert told.code == 4
    assert "./run.sh setup" in told.out


def test_a_manifest_is_examined_in_the_profile_in_which_it_will_be_scored(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    models: SessionSource,
) -> None:
    clip(tmp_path / "one.mp4", frames=4)
    path = tmp_path / "m.jsonl"
    line = {"id": "one", "suite": "ave_compass", "category": "speech", "video": "one.mp4", "source": "one.mp4"}
    path.write_text(json.dumps({**line, "prompt": "Say it again."}))

    def named(profile: str) -> set[str]:
        told = cli("doctor", "--manifest", path, "--profile", profile, "--json")
        assert told.code == 0
        return {item["name"] for item in json.loads(told.out)["findings"] if item["section"] == "suite ave_compass"}

    assert named("strict") - named("paper") == {"s3fd"}  # faces that are followed
    told = cli("doctor", "--manifest", path, "--profile", "nowhere")
    assert (told.code, "--profile nowhere: suite ave_compass has" in told.err) == (2, True)
