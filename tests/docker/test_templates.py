"""Examples for schedulers and nights, read as what they are and run against programs that stand in for the engine."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

FOLDER = ROOT / "docker"
NIGHTLY = FOLDER / "nightly" / "nightly.sh"

ENGINE = r"""#!/bin/bash
# stands in for an engine: notes what it was told, leaves what a run leaves, ends as it is told to
printf '%s\n' "$*" >>"$NOTES"
case " $* " in
  *" rm "*) exit 0 ;;
  *" compare "*) exit "${COMPARED:-0}" ;;
esac
printf 'evaluator_run_status{status="success"} 1.0\n' >"$RUNS/$NIGHT/metrics.prom"
exit "${ENDS:-0}"
"""


def jobs() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / "kubernetes" / "shards.yaml").read_text()))


def container(job: dict[str, Any]) -> dict[str, Any]:
    (only,) = job["spec"]["template"]["spec"]["containers"]
    return dict(only)


def test_the_indexed_job_counts_the_same_everywhere() -> None:
    shards, merge = jobs()
    assert shards["spec"]["completionMode"] == "Indexed"
    count = shards["spec"]["completions"]
    environment = {item["name"]: item["value"] for item in container(shards)["env"]}
    assert environment["EVALUATOR_SHARDS"] == str(count)
    parts = [word for word in container(merge)["args"] if word.startswith("/out/part-")]
    assert parts == [f"/out/part-{number}" for number in range(1, count + 1)]
    manifest = container(shards)["args"][container(shards)["args"].index("--manifest") + 1]
    assert f"--manifest={manifest}" in container(merge)["args"]


def test_codes_that_another_try_does_not_mend_are_not_tried_again() -> None:
    rules = jobs()[0]["spec"]["podFailurePolicy"]["rules"]
    assert rules[0]["onExitCodes"]["values"] == [2, 3, 4]
    assert rules[0]["action"] == "FailIndex"
    assert jobs()[0]["spec"]["template"]["spec"]["restartPolicy"] == "Never"


@pytest.mark.parametrize("job", jobs(), ids=lambda job: job["metadata"]["name"])
def test_pods_are_closed(job: dict[str, Any]) -> None:
    spec = job["spec"]["template"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == 10001
    security = container(job)["securityContext"]
    assert security["readOnlyRootFilesystem"] is True
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}
    names = {volume["name"] for volume in spec["volumes"]}
    assert {mount["name"] for mount in container(job)["volumeMounts"]} == names


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("first", [1, 0, 7])
def test_a_task_of_an_array_runs_its_shard(tmp_path: Path, first: int) -> None:
    echo = program(tmp_path / "bin", "echo-arguments", '#!/bin/sh\necho "$@"\n')
    said = []
    for task in range(first, first + 3):
        environment = {
            "PATH": os.environ["PATH"], "EVALUATOR": f"{echo} --extra", "MANIFEST": "m.jsonl", "OUT": "/results",
            "SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_MIN": str(first), "SLURM_ARRAY_TASK_COUNT": "3",
        }  # fmt: skip
        script = ["bash", str(FOLDER / "slurm" / "shards.sbatch")]
        said.append(subprocess.run(script, env=environment, capture_output=True, text=True, check=True).stdout.strip())
    assert said == [f"--extra run --manifest m.jsonl --out /results/part-{n} --shard {n}/3 -q" for n in (1, 2, 3)]


def test_the_merge_waits_for_all_and_names_every_part(tmp_path: Path) -> None:
    sbatch = '#!/bin/sh\necho "$@" >>"$NOTES"; echo "$SHARDS $MANIFEST" >>"$NOTES"; echo "41;cluster"\n'
    program(tmp_path / "bin", "sbatch", sbatch)
    notes = tmp_path / "notes"
    environment = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "NOTES": str(notes), "EVALUATOR": "e"}
    submit = [str(FOLDER / "slurm" / "submit.sh"), "4", "m.jsonl", str(tmp_path / "out"), "--gres=gpu:1"]
    told = subprocess.run(submit, env=environment, capture_output=True, text=True, check=True).stdout
    assert told == "shards 41 merge 41\n"
    first, _, second, _ = notes.read_text().splitlines()
    assert "--array=1-4" in first
    assert "--gres=gpu:1" in first
    assert "--dependency=afterany:41" in second
    echo = program(tmp_path / "bin", "echo-arguments", '#!/bin/sh\necho "$@"\n')
    environment = {"PATH": os.environ["PATH"], "EVALUATOR": str(echo), "MANIFEST": "m", "OUT": "/o", "SHARDS": "2"}
    merge = ["bash", str(FOLDER / "slurm" / "merge.sbatch")]
    told = subprocess.run(merge, env=environment, capture_output=True, text=True, check=True).stdout
    assert told.strip() == "merge --manifest m --out /o/all /o/part-1 /o/part-2"


class Night:
    """nightly.sh with a stand-in for the engine."""

    def __init__(self, folder: Path) -> None:
        self.runs, self.prom, self.notes = folder / "runs", folder / "prom", folder / "notes"
        self.prom.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"], "ENGINE": str(program(folder / "bin", "engine", ENGINE)), "MEDIA": "/media/x",
            "RUNS": str(self.runs), "PROM_DIR": str(self.prom), "NOTES": str(self.notes), "NIGHT": "2026-11-30",
        }  # fmt: skip

    def run(self, **more: str) -> int:
        environment = {**self.environment, **more}
        return subprocess.run([NIGHTLY], env=environment, capture_output=True, check=False).returncode

    def told(self) -> list[str]:
        return self.notes.read_text().splitlines()


@pytest.fixture
def night(tmp_path: Path) -> Night:
    return Night(tmp_path)


def test_a_night_runs_closed_as_who_started_it(night: Night) -> None:
    assert night.run() == 0
    line = next(line for line in night.told() if line.startswith("run "))
    for word in ("--network none", "--read-only", "--cap-drop ALL", "-v /media/x:/data:ro", "--manifest run.jsonl"):
        assert word in line
    assert f"--user {os.getuid()}:{os.getgid()}" in line
    assert [path.name for path in night.prom.iterdir()] == ["evaluator.prom"]


@pytest.mark.parametrize("code", [1, 2, 3, 4, 130, 137])
def test_the_code_of_a_run_is_the_code_of_the_night(night: Night, code: int) -> None:
    assert night.run(ENDS=str(code), BASELINE="2026-11-01") == code
    assert not any(" compare " in line for line in night.told()), "there is nothing to compare"


def test_a_regression_is_three(night: Night) -> None:
    assert night.run(BASELINE="2026-11-01", FAIL_IF="ssim<-0.01@p0.05", COMPARED="3") == 3
    (compared,) = [line for line in night.told() if " compare " in line]
    assert compared.endswith("compare 2026-11-01 2026-11-30 --fail-if ssim<-0.01@p0.05")


def test_old_nights_are_dropped_but_not_the_baseline(night: Night) -> None:
    for name in ("2026-10-01", "2026-10-02", "2026-10-03", "notes"):
        (night.runs / name).mkdir(parents=True)
    assert night.run(KEEP="2", BASELINE="2026-10-01") == 0
    found = {path.name for path in night.runs.iterdir() if not path.name.startswith(".")}
    assert found == {"2026-10-01", "2026-10-03", "2026-11-30", "notes"}


def test_the_cron_lines_start_the_script_with_its_settings(tmp_path: Path) -> None:
    """Each line: a time, an account, and a command that a shell can run, here with the paths of this test."""
    lines = [line for line in (FOLDER / "nightly" / "crontab").read_text().splitlines() if "nightly.sh" in line]
    assert re.match(r"0 2 \* \* \* evaluator ", lines[0])
    assert lines[1].startswith("@reboot evaluator ")
    settings = tmp_path / "nightly.env"
    shutil.copy(FOLDER / "nightly" / "nightly.env", settings)
    script = program(tmp_path / "bin", "nightly.sh", '#!/bin/sh\necho "$IMAGE $MEDIA $FAIL_IF"\n')
    for line in lines:
        command = line.split("evaluator ", 1)[1]
        for place, here in (
            ("/etc/evaluator/nightly.env", settings),
            ("/opt/evaluator/docker/nightly/nightly.sh", script),
            ("/var/log/evaluator/nightly.log", tmp_path / "log"),
        ):
            assert place in command
            command = command.replace(place, shlex.quote(str(here)))
        subprocess.run(["bash", "-c", command], check=True)
    assert (tmp_path / "log").read_text().splitlines() == [
        "evaluator:cpu /srv/evaluator/tonight subject_consistency<-0.01@p0.05"
    ] * 2


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for name in ("evaluator-nightly.service", "evaluator-nightly.timer"):
        text = (FOLDER / "nightly" / name).read_text()
        (tmp_path / name).write_text(text.replace("/opt/evaluator/docker/nightly/nightly.sh", "/bin/true"))
    units = [str(tmp_path / "evaluator-nightly.timer"), str(tmp_path / "evaluator-nightly.service")]
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
