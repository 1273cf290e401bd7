"""What starts in the image: settles what a container knows and a command line does not, then becomes `evaluator`.

For a run (`--manifest ...` or `run ...`), and only where neither an option nor a variable says otherwise:

    results   go to /out if something is mounted there, else to /data/out
    judge     /models/judge is served for the length of the run, if a model is mounted there and vLLM is in the image
    shard     part i + 1 of EVALUATOR_SHARDS, where a scheduler numbers its tasks (JOB_COMPLETION_INDEX counts from 0,
              SLURM_ARRAY_TASK_ID from SLURM_ARRAY_TASK_MIN); results then go to part-<i + 1> below

Standard library only until the hand-over. Knows folders and variables; nothing about scores.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

DATA, OUT, JUDGE = Path("/data"), Path("/out"), Path("/models/judge")
EXIT_USAGE = 2  # as in evaluator.errors
JUDGE_OPTIONS = ("--judge-url", "--judge-model", "--judge-replay")


def main() -> None:
    """Settle and hand over."""
    arguments = sys.argv[1:]
    if is_run(arguments):
        try:
            os.environ.update(settle(arguments, os.environ))
            require_writable(output_of(arguments, os.environ))
        except ValueError as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(EXIT_USAGE)
        if is_model(JUDGE) and not has_judge(arguments, os.environ):
            print(f"note: this image cannot serve the judge at {JUDGE}; target gpu can", file=sys.stderr)
    from evaluator.__main__ import main as evaluator

    evaluator()


def is_run(arguments: Sequence[str]) -> bool:
    """Whether the command scores a manifest, which is what a first option means too."""
    asks = {"-h", "--help", "--version"} & set(arguments)
    return bool(arguments) and not asks and (arguments[0] == "run" or arguments[0].startswith("-"))


def settle(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    out: Path = OUT,
    data: Path = DATA,
    judge: Path = JUDGE,
) -> dict[str, str]:
    """Variables to add for a run. Raises ValueError if a scheduler's numbers make no sense."""
    found: dict[str, str] = {}
    part = shard(environment)
    if part and not given(arguments, "--shard"):
        found["EVALUATOR_SHARD"] = "{}/{}".format(*part)
    if not given(arguments, "--out") and "EVALUATOR_OUT" not in environment:
        base = out if os.path.ismount(out) else data / "out"
        found["EVALUATOR_OUT"] = str(base / f"part-{part[0]}" if part else base)
    if not has_judge(arguments, environment) and is_model(judge) and shutil.which("vllm", path=environment.get("PATH")):
        found["EVALUATOR_JUDGE_MODEL"] = str(judge)
    return found


def shard(environment: Mapping[str, str]) -> tuple[int, int] | None:
    """(i, n) with 1 <= i <= n from EVALUATOR_SHARDS and the number of a scheduler's task; None without the first."""
    if "EVALUATOR_SHARDS" not in environment:
        return None
    if "JOB_COMPLETION_INDEX" in environment:
        index = number(environment, "JOB_COMPLETION_INDEX")
    elif "SLURM_ARRAY_TASK_ID" in environment:
        index = number(environment, "SLURM_ARRAY_TASK_ID") - number(environment, "SLURM_ARRAY_TASK_MIN")
    else:
        raise ValueError("EVALUATOR_SHARDS is set, but neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is")
    shards = number(environment, "EVALUATOR_SHARDS")
    if not 0 <= index < shards:
        raise ValueError(f"task {index} of a scheduler that counts from 0 is none of {shards} shards")
    return index + 1, shards


def number(environment: Mapping[str, str], name: str) -> int:
    """A whole number out of the environment. Raises ValueError with the name."""
    value = environment.get(name, "")
    if not value.isdecimal():
        raise ValueError(f"{name} must be a number, found {value!r}")
    return int(value)


def has_judge(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether somebody chose a judge."""
    return given(arguments, *JUDGE_OPTIONS) or any(variable(name) in environment for name in JUDGE_OPTIONS)


def given(arguments: Sequence[str], *options: str) -> bool:
    """Whether any of the options is on the command line, as `--x V` or `--x=V`."""
    return any(word == option or word.startswith(f"{option}=") for word in arguments for option in options)


def variable(option: str) -> str:
    """The environment variable of an option."""
    return "EVALUATOR_" + option.strip("-").replace("-", "_").upper()


def is_model(folder: Path) -> bool:
    """Whether somebody mounted a model there."""
    return (folder / "config.json").is_file()


def output_of(arguments: Sequence[str], environment: Mapping[str, str]) -> Path:
    """The output folder of a run, relative to the working directory."""
    for position, word in enumerate(arguments):
        if word == "--out" and position + 1 < len(arguments):
            return Path(arguments[position + 1])
        if word.startswith("--out="):
            return Path(word.removeprefix("--out="))
    return Path(environment["EVALUATOR_OUT"])


def require_writable(folder: Path) -> None:
    """Raise ValueError, with the option that mends it, if results could not be written there."""
    there = folder.absolute()
    while not os.path.exists(there):  # also where one may not look
        there = there.parent
    if os.access(there, os.W_OK | os.X_OK):
        return
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        raise ValueError(f"{there} is read-only and {folder} has to be written: mount a folder at {OUT}")
    owner = there.stat()
    mend = f"run with --user {owner.st_uid}:{owner.st_gid}" if owner.st_uid else f"mount a folder of yours at {OUT}"
    raise ValueError(f"{there} cannot be written by user {os.getuid()}, and {folder} is for the results: {mend}")


if __name__ == "__main__":
    main()
