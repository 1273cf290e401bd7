"""The engine: every file once, failures stay where they are, features go when their last user is done."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import av
import pytest

from evaluator.media.swscale import Swscale
from evaluator.metrics.base import Metric, Outcome
from evaluator.runner.engine import Engine, Shelf, Work
from evaluator.runner.telemetry import Telemetry
from evaluator.runtime.digests import stamp
from evaluator.runtime.onnx import OnnxSession
from evaluator.schema import Case, ExpertNeed, Score, Status, encode
from tests.media.oddfiles import nine_channels
from tests.runner.clips import clip
from tests.runner.fakes import (
    ALL,
    BRIGHT,
    COUNT,
    CRASHES,
    DEFECT,
    LIAR,
    LOUD,
    MOVED,
    NOWHERE,
    Brightness,
    World,
    case,
    metric,
)


def score_all(
    cases: Sequence[Case], metrics: Sequence[Metric] = ALL, workers: int = 1, world: World | None = None
) -> tuple[dict[tuple[str, str], Score], Telemetry]:
    """Run cases whose file names stand for their digests."""
    world, telemetry = world or World(), Telemetry()
    planner = world.planner()
    media = {item.id: {role: path.name for role in ("video", "source") if (path := item.media(role))} for item in cases}
    paths = {path.name: path for item in cases for role in ("video", "source") if (path := item.media(role))}
    work = [Work(item.id, tuple(planner.job(item, one, media[item.id]) for one in metrics)) for item in cases]
    found: dict[tuple[str, str], Score] = {}
    engine = Engine(planner, lambda name: world.experts[name], paths, telemetry)
    engine.run(work, workers, lambda _, scores: found.update({one.key: one for one in scores}))
    return found, telemetry


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("clips")
    made = {name: clip(folder / f"{name}.mp4", seed=seed) for seed, name in enumerate(("source", "a", "b"))}
    made["mute"] = clip(folder / "mute.mp4", seed=5, sound=False)
    made["broken"] = folder / "broken.mp4"
    made["broken"].write_bytes(b"this is no film" * 50)
    return made


def test_values_and_statuses(clips: dict[str, Path]) -> None:
    found, _ = score_all([case("one", clips["a"], clips["source"])])
    status = {name: found["one", name].status for name in (metric.id for metric in ALL)}
    assert {name for name, is_ok in status.items() if is_ok is Status.OK} == {"bright", "moved", "count", "loud"}
    assert found["one", "count"].value == 30
    assert found["one", "nowhere"].reason is not None
    assert found["one", "nowhere"].reason.code == "unavailable"


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_every_file_is_decoded_once_whatever_the_number_of_systems(clips: dict[str, Path], workers: int) -> None:
    Brightness.runs = 0
    cases = [case(f"{name}{n}", clips[name], clips["source"]) for name in ("a", "b") for n in range(3)]
    found, telemetry = score_all(cases, workers=workers)
    assert telemetry.counters["files_opened"] == 3
    assert telemetry.counters["decode_passes"] == 3
    assert Brightness.runs == 3
    assert len(found) == len(cases) * len(ALL)


def test_workers_do_not_change_a_score(clips: dict[str, Path]) -> None:
    cases = [case(name, clips[name], clips["source"]) for name in ("a", "b", "mute", "broken")]
    assert score_all(cases, workers=1)[0] == score_all(cases, workers=3)[0]


def test_a_copy_of_the_source_is_decoded_once_and_does_not_move(clips: dict[str, Path]) -> None:
    found, telemetry = score_all([case("copy", clips["source"], clips["source"])])
    assert telemetry.counters["decode_passes"] == 1
    assert found["copy", "moved"].value == 0


def test_a_bad_file_fails_alone(clips: dict[str, Path]) -> None:
    found, _ = score_all([case("bad", clips["broken"], clips["source"]), case("good", clips["a"], clips["source"])])
    reason = found["bad", "bright"].reason
    assert found["bad", "bright"].status is Status.FAILED
    assert reason is not None
    assert reason.code != "internal"
    assert "broken.mp4" in reason.message
    assert found["good", "bright"].status is Status.OK
    assert found["good", "moved"].status is Status.OK


def test_a_defect_of_ours_is_a_failure_with_its_name_and_nothing_else_falls(clips: dict[str, Path]) -> None:
    found, _ = score_all([case("one", clips["a"])], (BRIGHT, CRASHES, DEFECT, LIAR, COUNT))
    assert found["one", "bright"].status is Status.OK
    assert found["one", "count"].status is Status.OK
    reasons = {name: found["one", name].reason for name in ("crashes", "defect", "liar")}
    assert all(reason is not None and reason.code == "internal" for reason in reasons.values())
    assert "the model fell over" in str(reasons["crashes"])
    assert "ZeroDivisionError" in str(reasons["defect"])
    assert "declared range" in str(reasons["liar"])


def test_no_sound_and_no_source_are_skips_that_say_so(clips: dict[str, Path]) -> None:
    found, _ = score_all([case("one", clips["mute"])], (LOUD, MOVED))
    assert {score.status for score in found.values()} == {Status.SKIPPED}
    assert "no audio stream" in str(found["one", "loud"].reason)
    assert "no source clip" in str(found["one", "moved"].reason)


def test_only_what_is_wanted_is_decoded(clips: dict[str, Path]) -> None:
    _, few = score_all([case("one", clips["a"])], (BRIGHT,))
    _, all_frames = score_all([case("one", clips["a"])], (BRIGHT, COUNT))
    assert few.counters["frames_converted"] == 6  # every fifth of thirty
    assert all_frames.counters["frames_converted"] >= 30
    _, none = score_all([case("one", clips["a"])], (NOWHERE,))
    assert none.counters["decode_passes"] == 0


def test_what_a_delivery_raises_ends_the_run(clips: dict[str, Path]) -> None:
    world = World()
    planner = world.planner()
    item = case("one", clips["a"])
    work = [Work("one", (planner.job(item, BRIGHT, {"video": "v"}),))]
    engine = Engine(planner, lambda name: world.experts[name], {"v": clips["a"]}, Telemetry())

    def full_disk(_: Work, __: list[Score]) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        engine.run(work, 2, full_disk)


def test_a_clip_that_changes_during_the_run_is_not_scored_under_its_old_name(tmp_path: Path) -> None:
    path = clip(tmp_path / "c.mp4")
    world = World()
    planner = world.planner()
    work = [Work("one", (planner.job(case("one", path), BRIGHT, {"video": "v"}),))]
    planned = stamp(path)
    assert planned is not None
    found: list[Score] = []
    for expected in (Status.OK, Status.FAILED):
        engine = Engine(planner, lambda name: world.experts[name], {"v": path}, Telemetry(), {"v": planned})
        engine.run(work, 1, lambda _, scores: found.extend(scores))
        assert found[-1].status is expected
        clip(path, seed=9)
    assert found[-1].reason is not None
    assert found[-1].reason.code == "changed_during_run"


def test_a_damaged_sound_does_not_take_the_pictures_with_it(tmp_path: Path) -> None:
    found, _ = score_all([case("one", garbled(clip(tmp_path / "c.mp4", level=0.9)))], (BRIGHT, COUNT, LOUD))
    assert found["one", "bright"].status is Status.OK
    assert found["one", "count"].value == 30
    assert found["one", "loud"].status is Status.FAILED
    assert "audio" in str(found["one", "loud"].reason)


def test_a_network_that_cannot_be_opened_fails_the_metrics_of_its_model_alone(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(b"no network")

    class Broken(Brightness):
        id = capability = "broken"

        def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> float:
            return float(OnnxSession(tmp_path / "net.onnx").run({})["y"])

    world = World()
    world.experts["broken"] = Broken(None)  # type: ignore[arg-type]
    broken = metric("broken", {"level": ExpertNeed("broken")}, lambda level: Outcome(level))
    found, _ = score_all([case("one", clip(tmp_path / "c.mp4"))], (BRIGHT, broken, LOUD), world=world)
    assert [one.status for one in found.values()] == [Status.OK, Status.FAILED, Status.OK]
    reason = found["one", "broken"].reason
    assert reason is not None
    assert reason.code == "network"
    assert reason.message.startswith("net.onnx: expected an ONNX file")


def test_sound_that_cannot_be_converted_leaves_every_record_of_the_pictures_as_it_is(tmp_path: Path) -> None:
    """Beside it in one pass, and as in the same clip without sound; and it is no other file's affair."""
    metrics = (BRIGHT, COUNT, LOUD)
    mute = nine_channels(tmp_path / "mute" / "c.mkv", mute=True)
    wanted, _ = score_all([case("one", mute)], metrics)
    cases = [case("one", nine_channels(tmp_path / "c.mkv")), case("two", clip(tmp_path / "two.mp4"))]
    found, telemetry = score_all(cases, metrics)
    assert found["one", "loud"].status is Status.FAILED
    assert found["one", "loud"].reason is not None
    assert found["one", "loud"].reason.code == "unsupported_sound"
    for name in ("bright", "count"):
        assert found["one", name].status is Status.OK
        assert encode(found["one", name]) == encode(wanted["one", name])
    assert found["two", "loud"].status is Status.OK
    assert telemetry.counters["decode_passes"] == 2


def test_pictures_that_cannot_be_converted_leave_the_records_of_the_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = clip(tmp_path / "c.mp4")
    wanted, _ = score_all([case("one", path)], (LOUD,))

    def broken(self: Any, frame: av.VideoFrame) -> Any:
        raise av.error.FFmpegError(22, "no such scaler")

    monkeypatch.setattr(Swscale, "__call__", broken)
    found, _ = score_all([case("one", path)], (BRIGHT, COUNT, LOUD))
    assert {found["one", name].reason.code for name in ("bright", "count")} == {"unsupported_picture"}  # type: ignore[union-attr]
    assert encode(found["one", "loud"]) == encode(wanted["one", "loud"])


def garbled(path: Path) -> Path:
    """The clip with every sound packet overwritten in place."""
    with av.open(str(path)) as container:
        packets = [(packet.pos, packet.size) for packet in container.demux(audio=0) if packet.size]
    data = bytearray(path.read_bytes())
    for position, size in packets:
        data[position : position + size] = b"\xff" * size
    path.write_bytes(data)
    return path


def test_messages_do_not_depend_on_where_a_file_lies(tmp_path: Path) -> None:
    told = []
    for name in ("here", "there"):
        path = tmp_path / name / "c.mp4"
        path.parent.mkdir()
        path.write_bytes(b"no film " * 99)
        found, _ = score_all([case("one", path)], (BRIGHT,))
        told.append(encode(found["one", "bright"]))
    assert told[0] == told[1]


def test_a_file_that_had_to_be_counted_by_decoding_is_counted_as_that(tmp_path: Path) -> None:
    _, telemetry = score_all([case("one", clip(tmp_path / "c.avi", sound=False))], (COUNT,))
    assert telemetry.counters["index_passes"] == 1
    assert telemetry.counters["decode_passes"] == 1


def test_a_shelf_computes_once_and_forgets_after_the_last_user() -> None:
    made: list[str] = []
    planner = World().planner()
    work = [
        Work(name, (planner.job(case(name, Path("/v"), Path("/s")), MOVED, {"video": name, "source": "S"}),))
        for name in ("a", "b")
    ]
    users = {"S": work, "a": work[:1], "b": work[1:]}
    shelf = Shelf(users, lambda file: made.append(file) or {})
    for item in work:
        shelf.fetch(item.files)
    assert made == ["S", "a", "b"]
    shelf.release(work[0].files)
    shelf.fetch(["S"])
    assert made == ["S", "a", "b"]
    shelf.release(work[1].files)
    shelf.fetch(["S"])
    assert made == ["S", "a", "b", "S"]


def test_two_workers_wait_for_the_same_file() -> None:
    started, go = threading.Event(), threading.Event()
    calls: list[str] = []

    def slow(file: str) -> dict[object, object]:
        calls.append(file)
        started.set()
        assert go.wait(10)
        return {}

    shelf = Shelf({"S": []}, slow)  # type: ignore[arg-type]
    threads = [threading.Thread(target=shelf.fetch, args=(["S"],)) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert started.wait(10)
    go.set()
    for thread in threads:
        thread.join(10)
    assert calls == ["S"]
