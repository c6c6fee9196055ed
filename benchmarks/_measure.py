"""Run a command alone, and tell its time and peak memory; describe the machine."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Measured:
    """One run of a command: wall seconds, peak resident memory of the largest process."""

    seconds: float
    peak_gib: float
    status: int
    output: str


def measure(command: Sequence[str], *, limit: float = 3600, gib: float = 20) -> Measured:
    """Run a command to its end; the child is waited for so that its own peak is read.

    Args:
        command: to run.
        limit: seconds after which it is ended.
        gib: memory that it may ask for, so that a tool that needs more fails alone.
    """
    start = time.perf_counter()
    bound = (int(gib * 2**30),) * 2
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        resource.prlimit(child.pid, resource.RLIMIT_DATA, bound)
        try:
            output, _ = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            child.kill()
            output = b"over the time limit"
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    return Measured(seconds, peak, child.returncode, output.decode(errors="replace"))


def in_fresh_process(module: str, *arguments: str, limit: float = 3600) -> Measured:
    """Measure a module in a Python process whose parent is fresh too, so that peaks don't mix."""
    code = (
        "import sys; from benchmarks._measure import measure; "
        f"m = measure([sys.executable, '-m', {module!r}, *{list(arguments)!r}], limit={limit}); "
        "print(f'{m.seconds} {m.peak_gib} {m.status}'); print(m.output)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    head, _, output = done.stdout.partition("\n")
    seconds, peak, status = head.split()
    return Measured(float(seconds), float(peak), int(status), output)


def machine() -> str:
    """CPU, cores, memory, Python and commit, in one line."""
    cpu = "unknown CPU"
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return (
        f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, "
        f"commit {commit or 'unknown'}"
    )
