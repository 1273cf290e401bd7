"""What the figures were taken on, and the machine's own peak to hold them against."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from evaluator.bench.process import run
from evaluator.runner.header import cores, packages

QUIET_LOAD = 0.3
"""Running processes per core before we start, above which a machine counts as loaded."""

GEMM = """
import time, numpy
a = numpy.random.RandomState(0).rand(1536, 1536).astype(numpy.float32)
def once():
    start = time.thread_time()
    a @ a
    return time.thread_time() - start
print(2 * 1536**3 / min(once() for _ in range(8)) / 1e9)
"""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine, at one moment."""

    processor: str
    cores: int
    memory: int  # bytes
    system: str
    python: str
    load: float  # processes per core that were already running
    peak: float  # GFLOP/s: float32 matrix product of 1536, one thread, best of eight

    @property
    def loaded(self) -> bool:
        """Whether others used the machine when the measurement began."""
        return self.load > QUIET_LOAD


def look() -> Machine:
    """Facts of this machine and its measured peak."""
    load = os.getloadavg()[0] / cores()
    peak = float(run([sys.executable, "-c", GEMM], ONE_THREAD).output)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Machine(_processor(), cores(), memory, platform.platform(), platform.python_version(), load, peak)


def versions() -> dict[str, str]:
    """Versions of the libraries that do the work."""
    return packages()


def _processor() -> str:
    """What the kernel calls the processor, and its widest vector unit."""
    facts: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        facts.setdefault(name.strip(), value.strip())
    units = [unit for unit in ("avx2", "avx512f", "avx512_vnni", "amx_int8") if unit in facts.get("flags", "").split()]
    return f"{facts.get('model name', platform.machine())} ({', '.join(units) or 'no wide vectors'})"
