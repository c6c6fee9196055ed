"""Time and memory of a piece of work, alone or beside others; the machine in one line.

Standard library only at import, so that scripts of peers can use it in environments of their own.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import platform
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MARK = "benchmark result: "


@dataclass(frozen=True)
class Measured:
    """One run of a command: wall seconds, peak resident memory of the largest process."""

    seconds: float
    peak_gib: float
    status: int
    output: str


@dataclass(frozen=True)
class Alone:
    """One call of a function in a fresh process.

    Attributes:
        value: what it returned, through JSON; None if it failed.
        seconds: wall time of the call, the import of its module left out.
        process_seconds: wall time of the whole process.
        peak_gib: peak resident memory of the process.
        error: the last line that it printed if it failed, else empty.
    """

    value: Any
    seconds: float
    process_seconds: float
    peak_gib: float
    error: str = ""


def peak_gib() -> float:
    """Peak resident memory of this process since it began (not of what it was forked from)."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 2**20
    unit = 1 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def _end(process: subprocess.Popen[str]) -> None:
    """End a process and the workers that it started, which would run beside what comes next."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def alone(
    target: str,
    *arguments: Any,
    python: str | Path = sys.executable,
    limit: float = 1800,
    gib: float = 20,
    env: Mapping[str, str] | None = None,
) -> Alone:
    """Call ``"module:function"`` in a fresh process with arguments that JSON can carry.

    Args:
        target: such as ``"benchmarks.growth:from_factors"``.
        arguments: of the function.
        python: interpreter; that of a peer's environment for peers (see ``_peers``).
        limit: seconds after which it is ended.
        gib: memory that it may ask for, so that what needs more fails alone.
        env: variables to add to the environment.
    """
    command = [str(python), "-m", "benchmarks._measure", target, json.dumps(arguments), str(gib)]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **(env or {})}, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        _end(process)
        return Alone(None, limit, limit, 0.0, f"over {limit:.0f} s")
    _end(process)
    seconds = time.perf_counter() - start
    lines = printed.strip().splitlines()
    if process.returncode == 0 and lines and lines[-1].startswith(MARK):
        found = json.loads(lines[-1].removeprefix(MARK))
        return Alone(found["value"], found["seconds"], seconds, found["peak_gib"])
    reason = lines[-1][:200] if lines else f"ended with status {process.returncode}"
    return Alone(None, seconds, seconds, 0.0, reason)


def interleaved(pieces: Mapping[str, Callable[[], Any]], rounds: int = 3) -> dict[str, list[float]]:
    """Seconds of each piece in each round, one after another, so that noise meets all alike.

    Call each once before, where a first call compiles or loads.
    """
    found: dict[str, list[float]] = {name: [] for name in pieces}
    for _ in range(rounds):
        for name, piece in pieces.items():
            start = time.perf_counter()
            piece()
            found[name].append(time.perf_counter() - start)
    return found


def medians(pieces: Mapping[str, Callable[[], Any]], rounds: int = 3) -> dict[str, float]:
    """Median seconds of each piece; see ``interleaved``."""
    return {name: statistics.median(s) for name, s in interleaved(pieces, rounds).items()}


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
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True,
        check=False,
    ).stdout.strip()  # fmt: skip
    return (
        f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, "
        f"commit {commit or 'unknown'}"
    )


def blas() -> str:
    """Which BLAS with which kernels NumPy and SciPy use here, and threads: they decide on speed."""
    import numpy  # noqa: F401  (brings a BLAS)
    import scipy.linalg  # noqa: F401  (brings another)
    from threadpoolctl import threadpool_info

    found = {
        f"{one['internal_api']} {one['version']} ({one.get('architecture', 'unknown kernels')}, "
        f"{one['num_threads']} threads)"
        for one in threadpool_info()
        if one["user_api"] == "blas"
    }
    forced = [name for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if name in os.environ]
    return ", ".join([*sorted(found), *(f"{name} is set" for name in forced)])


def _call() -> None:
    """The child of ``alone``."""
    target, arguments, gib = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_DATA, (int(float(gib) * 2**30),) * 2)
    module, _, name = target.partition(":")
    function = getattr(importlib.import_module(module), name)
    start = time.perf_counter()
    value = function(*json.loads(arguments))
    seconds = time.perf_counter() - start
    print(f"\n{MARK}{json.dumps({'value': value, 'seconds': seconds, 'peak_gib': peak_gib()})}")


if __name__ == "__main__":
    _call()
