"""A Slurm cluster of one node, this one: controller, node and credentials of its own, in one folder. Needs root."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evaluator.judge.server import free_port

CONFIGURATION = """
ClusterName=evaluator
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={controller}
SlurmdPort={node}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def cluster(folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands find the cluster. Everything is ended at the end."""
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    key, configuration = folder / "munge.key", folder / "slurm.conf"
    key.write_bytes(secrets.token_bytes(64))
    key.chmod(0o600)
    names = {"host": socket.gethostname(), "folder": folder, "cores": os.cpu_count()}
    configuration.write_text(CONFIGURATION.format(**names, controller=free_port(), node=free_port()))
    environment = {**os.environ, "SLURM_CONF": str(configuration)}
    sockets = [f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid", f"--seed-file={folder}/seed"]
    commands = [
        ["munged", "--foreground", "--force", f"--key-file={key}", f"--log-file={folder}/munged.log", *sockets],
        ["slurmctld", "-D", "-f", str(configuration)],
        ["slurmd", "-D", "-f", str(configuration), "-N", socket.gethostname()],
    ]
    children: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            log = (folder / f"{command[0]}.out").open("wb")
            children.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
            time.sleep(0.5)
        _wait_idle(environment, folder)
        yield environment
    finally:
        for child in reversed(children):
            child.terminate()
        for child in reversed(children):
            child.wait(30)


def _wait_idle(environment: dict[str, str], folder: Path) -> None:
    for _ in range(120):
        done = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, check=False)
        if done.stdout.strip() == "idle":
            return
        time.sleep(0.5)
    logs = "".join(path.read_text(errors="replace")[-1500:] for path in sorted(folder.glob("*.out")))
    raise RuntimeError(f"Slurm did not come up: {done.stdout}{done.stderr}\n{logs}")
