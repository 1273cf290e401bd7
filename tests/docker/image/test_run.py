"""The image does what the program does: same bytes, a closed container, outputs of who asked, exit codes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docker.image.conftest import OWNER, SOME, Image, header, mounts, outside, wait_for
from tests.runner.clips import clip
from tests.system.test_airgap import foreign_addresses
from tests.test_cli import write

PYTHON = "/opt/venv/bin/python"

LOOKS = """
import os, socket
def tries(what):
    try: what()
    except OSError as error: return type(error).__name__
    return "could"
print(os.getuid(), os.getgid(), [name for _, name in socket.if_nameindex()])
print(tries(lambda: open("/opt/evaluator/x", "w")), tries(lambda: open("/data/x", "w")), tries(lambda: os.setuid(0)))
print(tries(lambda: socket.create_connection(("192.0.2.1", 80), 1)))
print([line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")])
"""

READS = """
import hashlib, sys
import av, cv2
digest, film = hashlib.sha256(), cv2.VideoCapture(sys.argv[1])
frames = 0
while (found := film.read())[0]:
    frames += 1
    digest.update(found[1].tobytes())
print(frames, digest.hexdigest())
print(len({line.split()[-1] for line in open("/proc/self/maps") if "libavcodec" in line}))
"""

TRACED = """
import runpy, socket, sys, time
time.sleep(4)
socket.socket(socket.AF_UNIX)  # so that an empty trace is told from a good one
sys.argv = ["evaluator", *sys.argv[1:]]
runpy.run_path("/opt/evaluator/docker/entrypoint.py", run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.timeout(1800)  # a minute on a machine of one's own; not a reason to fail on a busy one
def test_the_demo_has_the_same_bytes_in_and_outside(image: Image, folder: Path) -> None:
    """The ten clips of the README's first command, in a container without a network, a writable root or a right."""
    manifests = ROOT / "manifests"
    out = folder / "demo"
    done = image.run("--manifest", "demo.jsonl", options=mounts(manifests, out))
    assert done.returncode == 0, done.stderr
    before = ROOT / "out-ci" / "scores.jsonl"
    if not before.exists():
        command = [str(ROOT / "run.sh"), "--manifest", str(manifests / "demo.jsonl"), "--out", str(before.parent), "-q"]
        subprocess.run(command, check=True)
    assert (out / "scores.jsonl").read_bytes() == before.read_bytes()


def test_small_clips_too(image: Image, media: Path, folder: Path, baseline: bytes) -> None:
    assert image.score(media, folder / "small", "--metrics", SOME) == baseline
    assert header(folder / "small")["revision"] not in {None, "", "unknown"}


def test_the_container_is_closed(image: Image, media: Path, folder: Path) -> None:
    options = (*mounts(media, folder / "looks"), f"--entrypoint={PYTHON}")
    told = image.run("-I", "-c", LOOKS, options=options).stdout.splitlines()
    assert told[0] == f"{OWNER} {OWNER} ['lo']"
    assert told[1] == "OSError OSError PermissionError"
    assert told[2] == "OSError"
    assert told[3] == "['0000000000000000']"


def test_opencv_reads_the_same_pictures_with_the_one_ffmpeg_of_the_image(
    image: Image, media: Path, folder: Path
) -> None:
    """Outside, PyAV and OpenCV load an FFmpeg each; the image has one for both (docker/steps/slim.sh)."""
    options = (*mounts(media, folder / "reads"), f"--entrypoint={PYTHON}")
    inside = image.run("-I", "-c", READS, "/data/0.mp4", options=options).stdout.splitlines()
    command = [sys.executable, "-c", READS, str(media / "0.mp4")]
    without = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert inside[0].startswith("40 ")
    assert inside[0] == without[0]
    assert (inside[1], without[1]) == ("1", "2")


def test_it_runs_as_its_own_account_where_nobody_says_otherwise(image: Image, media: Path, folder: Path) -> None:
    out = folder / "own"
    options = [option for option in mounts(media, out) if not option.startswith("--user")]
    os.chown(out, 10001, 10001)
    done = image.run("--manifest", "run.jsonl", "--metrics", "loudness", "--limit", "1", options=tuple(options))
    assert done.returncode == 0, done.stderr
    assert {path.stat().st_uid for path in out.iterdir()} == {10001}


def test_one_volume_is_enough(image: Image, media: Path, folder: Path) -> None:
    """`-v $PWD:/data --user ... evaluator --manifest run.jsonl`: out/ appears beside the manifest, and is ours."""
    mine = folder / "mine"
    mine.mkdir()
    clip(mine / "0.mp4", frames=12)
    write(mine / "run.jsonl", [{"id": "0", "suite": "core", "video": "0.mp4"}])
    os.chown(mine, OWNER, OWNER)
    options = (f"--volume={mine}:/data", f"--user={OWNER}:{OWNER}")
    done = image.run("--manifest", "run.jsonl", "--metrics", "loudness", options=options)
    assert done.returncode == 0, done.stderr
    found = {path.name for path in (mine / "out").iterdir()}
    assert {"scores.jsonl", "summary.json", "run.json", "log.jsonl", "metrics.prom"} <= found
    assert {(path.stat().st_uid, path.stat().st_gid) for path in (mine / "out").iterdir()} == {(OWNER, OWNER)}


def test_a_folder_of_somebody_else_is_refused_with_the_remedy(image: Image, folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    os.chown(other, OWNER, OWNER)
    done = image.run("--manifest", "run.jsonl", options=(f"--volume={other}:/data",))
    assert done.returncode == 2
    assert f"--user {OWNER}:{OWNER}" in done.stderr


def test_exit_codes_come_through(image: Image, media: Path, folder: Path) -> None:
    broken = folder / "broken"
    broken.mkdir()
    (broken / "x.mp4").write_bytes(b"no film at all" * 99)
    write(broken / "run.jsonl", [{"id": "x", "suite": "core", "video": "x.mp4"}])
    write(broken / "wrong.jsonl", [{"id": "x", "suite": "cor", "vidoe": "x.mp4"}])
    options = mounts(broken, folder / "codes")
    assert image.run("--manifest", "run.jsonl", "--metrics", "msm", options=options).returncode == 3
    assert image.run("--manifest", "wrong.jsonl", options=options).returncode == 2
    assert image.run("--manifest", "nowhere.jsonl", options=options).returncode == 2
    strict = ("--manifest", "run.jsonl", "--metrics", "subject_consistency", "--require-reference")
    assert image.run(*strict, options=mounts(media, folder / "strict")).returncode == 4
    assert image.run("models", "verify").returncode == 0


def test_a_stop_keeps_what_is_finished_and_a_kill_is_resumed(
    image: Image, media: Path, folder: Path, baseline: bytes
) -> None:
    out = folder / "crash"
    common = ("--manifest", "run.jsonl", "--metrics", SOME, "--workers", "1")

    def ended_by(*how: str) -> int:
        have = size(out)
        options = (*mounts(media, out), "--name=evaluator-crash")
        child = subprocess.Popen(image.command(*common, options=options), stderr=subprocess.DEVNULL)
        wait_for(lambda: size(out) > have)
        image.docker(*how, "evaluator-crash")
        return child.wait()

    assert ended_by("stop", "--time=30") == 130
    assert header(out)["status"] == "cancelled"
    assert ended_by("kill", "--signal=KILL") == 137
    assert header(out)["status"] == "started"
    assert 0 < size(out) < len(baseline), "nothing was left to resume"
    assert image.score(media, out, *common[2:]) == baseline
    assert header(out)["telemetry"]["counters"]["decode_passes"] < 8  # type: ignore[index]


def size(out: Path) -> int:
    scores = out / "scores.jsonl"
    return scores.stat().st_size if scores.exists() else 0


def test_shards_of_an_indexed_job_join_to_the_same_bytes(
    image: Image, media: Path, folder: Path, baseline: bytes
) -> None:
    out = folder / "shards"
    for index in range(3):
        job = ("--env=EVALUATOR_SHARDS=3", f"--env=JOB_COMPLETION_INDEX={index}")
        done = image.run("--manifest", "run.jsonl", "--metrics", SOME, options=(*mounts(media, out), *job))
        assert done.returncode == 0, done.stderr
    parts = [f"/out/part-{number}" for number in (1, 2, 3)]
    done = image.run("merge", "--manifest", "run.jsonl", "--out", "/out/all", *parts, options=mounts(media, out))
    assert done.returncode == 0, done.stderr
    assert (out / "all" / "scores.jsonl").read_bytes() == baseline


def test_no_socket_is_opened(image: Image, media: Path, folder: Path) -> None:
    """Every process traced from outside, and CI unset, which quiets some libraries."""
    trace, out = folder / "trace", folder / "traced"
    options = (*mounts(media, out), "--name=evaluator-traced", f"--entrypoint={PYTHON}")
    arguments = ("-I", "-c", TRACED, "--manifest", "run.jsonl", "--limit", "1")
    child = subprocess.Popen(image.command(*arguments, options=options), stderr=subprocess.DEVNULL)
    pid = ""
    while not pid.isdecimal() or pid == "0":
        pid = image.docker("inspect", "--format={{.State.Pid}}", "evaluator-traced", check=False).stdout.strip()
    command = ["strace", "-f", "-e", "trace=network", "-o", str(trace), "-p", pid]
    tracer = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    assert child.wait() == 0
    tracer.wait()
    assert "AF_UNIX" in trace.read_text()
    assert foreign_addresses(trace.read_text()) == []


def test_the_image_starts_in_seconds(image: Image) -> None:
    began = time.monotonic()
    told = image.run("--version")
    assert time.monotonic() - began < 30, "a second on a machine of one's own"
    assert re.fullmatch(r"evaluator \d\S*\n", told.stdout)
    limits = ("--memory=1g", "--pids-limit=64")
    assert image.run("models", "list", options=limits).returncode == 0


def test_the_outside_is_what_it_says(media: Path, folder: Path, baseline: bytes) -> None:
    """The comparison compares: other metrics give other bytes."""
    assert outside(media, folder / "else", "--metrics", "loudness") != baseline
