"""vLLM on a mounted model directory: the command line that makes it repeatable, its environment, its files.

Pure but for reading the model directory. `server` starts and stops what this module describes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from evaluator.errors import JudgeUnusableError
from evaluator.runtime.digests import DigestCache, cache_folder

SERVED_NAME = "judge"
"""What a server that we start calls a judge for all questions."""

MEMORY = 0.9
"""Share of a GPU's memory that vLLM takes, which is its default; several servers divide it."""

MOUNTED = Path("/models/judge")
"""Where a judge is mounted in the image."""

OFFLINE = {
    "VLLM_BATCH_INVARIANT": "1",  # equal answers whatever else is in the batch; NVIDIA from compute capability 8.0
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}

WEIGHTS = ".safetensors"
READ_BY_ENGINE = frozenset({".json", ".jinja", ".txt", ".model", WEIGHTS})
"""Suffixes of the files that can change an answer."""


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """How to serve a judge. `extra` goes to vLLM as it is, and into the digest of the flags."""

    model: Path
    port: int
    vllm: str = "vllm"
    max_model_len: int = 32768
    concurrency: int = 16
    dtype: str = "bfloat16"
    extra: tuple[str, ...] = ()
    served_name: str = SERVED_NAME
    servers: int = 1  # that share the GPU, this one included


def command(options: LaunchOptions) -> list[str]:
    """The command line of vLLM. The server reaches nothing and is reached from this machine only."""
    where = ["--host", "127.0.0.1", "--port", str(options.port), "--served-model-name", options.served_name]
    memory = ["--gpu-memory-utilization", f"{MEMORY / options.servers:.2f}"] if options.servers > 1 else []
    return [options.vllm, "serve", str(options.model), *where, *memory, *_flags(options)]


def _flags(options: LaunchOptions) -> list[str]:
    """The flags that can change an answer."""
    json_without_spaces = '{"backend":"xgrammar","disable_any_whitespace":true}'
    return [
        *("--dtype", options.dtype, "--seed", "0", "--load-format", "safetensors"),
        *("--max-model-len", str(options.max_model_len), "--max-num-seqs", str(options.concurrency)),
        *("--generation-config", "vllm"),  # not the sampling defaults of the checkpoint
        "--enforce-eager",
        *("--limit-mm-per-prompt", '{"image":32,"video":2}'),
        "--trust-request-mm-kwargs",  # needed for frame times
        *("--allowed-media-domains", "none.invalid"),  # the server fetches nothing
        *("--structured-outputs-config", json_without_spaces),
        "--no-enable-prefix-caching",
        *("--mm-processor-cache-gb", "0"),
        *options.extra,
    ]


def flags_sha256(options: LaunchOptions) -> str:
    """Digest of what can change an answer: flags and environment; not port, path, program, name or neighbours."""
    tree = {"flags": _flags(options), "environment": OFFLINE}
    return hashlib.sha256(orjson.dumps(tree, option=orjson.OPT_SORT_KEYS)).hexdigest()


def environment(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of the server: ours without proxies and without switches of vLLM, offline."""
    kept = {
        name: value
        for name, value in given.items()
        if not name.lower().endswith("_proxy") and not name.startswith("VLLM_")
    }
    return {**kept, **OFFLINE}


def installed() -> bool:
    """Whether vLLM is on the PATH."""
    return shutil.which("vllm") is not None


def find_vllm(given: str | None = None) -> str:
    """The vLLM program. Raises JudgeUnusableError (exit code 4) with what to do about its absence."""
    found = shutil.which(given or "vllm")
    if found is None:
        raise JudgeUnusableError(
            f"vLLM is needed to serve a judge, and {given or 'vllm'} is not on the PATH. Use the image's judge target, "
            "install vLLM in an environment of its own and name its program with --vllm, start a server yourself and "
            "name it with --judge-url, or install torch and transformers here for --judge-engine local (slow). "
            "Without a judge, judged metrics are skipped."
        )
    return found


def require_model(folder: Path) -> Path:
    """The resolved model directory. Raises JudgeUnusableError unless it holds a config and safetensors weights."""
    missing = [what for what, there in _contents(folder).items() if not there]
    if missing:
        raise JudgeUnusableError(
            f"{folder} is not a judge: {' and '.join(missing)} not found. Copy the whole directory of a Qwen3-VL "
            "checkpoint in safetensors format there (other weight formats can run code and are not read)."
        )
    return folder.resolve()


def _contents(folder: Path) -> dict[str, bool]:
    weights = folder.is_dir() and any(path.suffix == WEIGHTS for path in folder.iterdir())
    return {"config.json": (folder / "config.json").is_file(), f"*{WEIGHTS}": weights}


def model_sha256(folder: Path, digests: DigestCache | None = None) -> str:
    """Digest of a model directory: over the name and SHA-256 of every file that can change an answer.

    Files that were read before are not read again (see `runtime.digests`). Raises PrerequisiteError.
    """
    digests = digests or DigestCache(cache_folder() / "judge-digests.json")
    files = sorted(path for path in folder.iterdir() if path.suffix in READ_BY_ENGINE and path.is_file())
    with digests.together():
        lines = [f"{path.name}\0{digests.sha256(path)}\n" for path in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
