"""Software, cores, memory, disk, and what of a GPU can be seen without loading its libraries into this process.

Knows no model and opens no media.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import platform
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import evaluator
from evaluator.doctor.finding import Finding, Level
from evaluator.runner.header import cores, packages, revision

GIGABYTE = 1 << 30
ROOM = 2 * GIGABYTE
"""Bytes that a run of a few thousand clips with a judge's ledger takes, with room to spare."""
MEMORY = 2 * GIGABYTE
"""Bytes for two workers: a run stays below one per worker."""

NVIDIA = Path("/proc/driver/nvidia")
DRIVER_LIBRARIES = {"libcuda.so.1": "computing", "libnvcuvid.so.1": "decoding (capability `video` of the container)"}
OPTIONAL = {
    "torch": "holds device memory on a GPU, runs the in-process judge",
    "tensorrt": "builds and runs engines",
    "nvidia.dali": "decodes on a GPU",
    "vllm": "serves a judge (usually in an environment of its own)",
}


def findings(folders: Mapping[str, Path]) -> Iterator[Finding]:
    """Everything about the machine. `folders` are places that will be written to, by what they are for."""
    yield from _software()
    yield from _resources(folders)
    yield from _gpu()


def _software() -> Iterator[Finding]:
    section = "software"
    commit = revision()
    version = f"{evaluator.__version__}{f' ({commit[:12]})' if commit else ''}, Python {platform.python_version()}"
    yield Finding(section, "evaluator", Level.OK, version)
    versions = ", ".join(f"{name} {version}" for name, version in packages().items())
    yield Finding(section, "libraries", Level.OK, versions)
    for name, use in OPTIONAL.items():
        there = _installed(name)
        yield Finding(section, name, Level.OK if there else Level.NOTE, f"{there or 'not installed'}: {use}")


def _installed(name: str) -> str:
    """Version of an optional package; empty if it is not there. Imports nothing."""
    try:
        if importlib.util.find_spec(name) is None:
            return ""
    except ModuleNotFoundError:  # the package above it is not there
        return ""
    versions = importlib.metadata.packages_distributions().get(name.split(".")[0], [])
    return importlib.metadata.version(versions[0]) if versions else "installed"


def _resources(folders: Mapping[str, Path]) -> Iterator[Finding]:
    section = "resources"
    yield Finding(section, "cores", Level.OK, str(cores()))
    memory = _memory()
    level = Level.OK if memory >= MEMORY else Level.NOTE
    yield Finding(section, "memory", level, f"{memory / GIGABYTE:.1f} GiB available")
    for use, folder in folders.items():
        yield _place(section, use, folder)


def _memory() -> int:
    """Bytes that this process may still take: the kernel's estimate, or less in a container with a limit."""
    table = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
    available = int(table["MemAvailable"].split()[0]) * 1024
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text(encoding="ascii").strip() if limit.is_file() else "max"
    return min(available, int(text)) if text.isdecimal() else available


def _place(section: str, use: str, folder: Path) -> Finding:
    """Room in, and permission for, a folder that may not exist yet."""
    there = next(parent for parent in (folder, *folder.absolute().parents) if parent.is_dir())
    if not os.access(there, os.W_OK):
        return Finding(section, use, Level.MISSING, f"{folder} cannot be written", f"give this user access to {there}")
    free = shutil.disk_usage(there).free
    level = Level.OK if free >= ROOM else Level.MISSING
    remedy = "" if level is Level.OK else f"make room, at least {ROOM // GIGABYTE} GiB"
    return Finding(section, use, level, f"{folder}: {free / GIGABYTE:.1f} GiB free", remedy)


def has_gpu() -> bool:
    """Whether the kernel module knows a device."""
    return bool(_cards())


def _cards() -> list[Path]:
    return sorted(NVIDIA.glob("gpus/*/information"))


def _gpu() -> Iterator[Finding]:
    section = "GPU"
    cards = _cards()
    if not cards:
        yield Finding(section, "device", Level.NOTE, "none; everything runs on the CPU")
        return
    yield Finding(section, "driver", Level.OK, (NVIDIA / "version").read_text(encoding="utf-8").splitlines()[0])
    for card in cards:
        facts = dict(line.split(":", 1) for line in card.read_text(encoding="utf-8").splitlines() if ":" in line)
        yield Finding(section, card.parent.name, Level.OK, facts.get("Model", "unknown model").strip())
    for name, use in DRIVER_LIBRARIES.items():
        yield _library(section, name, use)


def _library(section: str, name: str, use: str) -> Finding:
    try:
        ctypes.CDLL(name)
    except OSError as error:
        return Finding(section, name, Level.NOTE, f"not loadable ({error}): no {use}")
    return Finding(section, name, Level.OK, use)
