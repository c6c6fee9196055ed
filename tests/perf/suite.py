"""Instruction counts of the cases beside the baseline: ``python tests/perf/suite.py [--write]``.

A noisy machine changes seconds, not counts: callgrind emulates one processor (AVX2, told to Numba
and OpenBLAS too), threads are one. ``--write`` makes the present counts the baseline.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BASELINE = HERE / "baseline.json"
COMMAND = "python tests/perf/suite.py --write"

TOLERANCE = 0.05
"""A quarter of the regression that must be seen; counts of one build repeat to 0.5 %."""

ENVIRONMENT = {
    # What valgrind 3.19 can emulate; newer ones too, and the baseline is of this.
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+bmi,+bmi2,+lzcnt,+popcnt,+f16c",
    "OPENBLAS_CORETYPE": "Sandybridge",  # no fused multiply-add, which valgrind emulates slowly
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "FULLRANK_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class CannotCountError(RuntimeError):
    """Instructions can't be counted here; the message says why and what to do."""


@dataclass(frozen=True)
class Verdict:
    """A case beside its baseline; ``change`` is relative, positive if slower."""

    name: str
    count: int
    baseline: int

    @property
    def change(self) -> float:
        return self.count / self.baseline - 1

    @property
    def slower(self) -> bool:
        return self.change > TOLERANCE

    @property
    def faster(self) -> bool:
        return self.change < -TOLERANCE

    def __str__(self) -> str:
        return f"{self.name}: {self.count:,} instructions, {self.change:+.2%} of {self.baseline:,}"


def versions() -> dict[str, str]:
    """What decides on counts beside our own code."""
    import numba
    import numpy
    import polars
    import scipy

    found = {module.__name__: module.__version__ for module in (numba, numpy, polars, scipy)}
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **found}


def _valgrind() -> str:
    """Path of valgrind, or why there is none."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise CannotCountError(
            f"instructions are counted on Linux on x86-64, this is {sys.platform} on "
            f"{platform.machine()}"
        )
    found = shutil.which("valgrind")
    if found is None:
        raise CannotCountError("valgrind is not installed: apt-get install valgrind")
    return found


def _kernel_cache() -> Path:
    """Folder of kernels compiled for the emulated processor, one for each state of the sources.

    Numba looks at the file of a kernel alone, and not at what the kernel calls.
    """
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.py")):
        digest.update(path.read_bytes())
    folder = ROOT / ".pytest_cache" / "perf" / digest.hexdigest()[:16]
    if not folder.exists():
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def counts(*arguments: str) -> dict[str, int]:
    """Instructions of each case, and of a fifth more of its work as ``"NAME: more"``.

    Args:
        arguments: of ``counting.py``.

    Raises:
        CannotCountError: no valgrind, or another machine than it counts on.
    """
    valgrind = _valgrind()
    cache = {"NUMBA_CACHE_DIR": str(_kernel_cache())}
    env = {**os.environ, **ENVIRONMENT, **cache}
    script = [sys.executable, str(HERE / "counting.py"), *arguments]
    _run(script, env)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        tool = [valgrind, "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        _run([*tool, *script], env)
        found = {}
        for path in Path(folder).iterdir():
            text = path.read_text()
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
            total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
            if name and total:
                found[name[1]] = int(total[1])
    return found


def _run(command: list[str], env: dict[str, str]) -> None:
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-3000:]}")


def verdicts(found: dict[str, int]) -> list[Verdict]:
    """The cases beside the baseline.

    Raises:
        CannotCountError: the baseline is of other versions of what the code stands on.
    """
    baseline = json.loads(BASELINE.read_text())
    if baseline["versions"] != versions():
        raise CannotCountError(
            f"the baseline is of {baseline['versions']}, this is {versions()}; install the pinned "
            f"ones (-c constraints.txt), or make a baseline of these: {COMMAND}"
        )
    return [Verdict(name, found[name], count) for name, count in baseline["counts"].items()]


def write(found: dict[str, int]) -> None:
    """Make these counts the baseline."""
    plain = {name: count for name, count in sorted(found.items()) if ": " not in name}
    content = {"command": COMMAND, "versions": versions(), "counts": plain}
    BASELINE.write_text(json.dumps(content, indent=2) + "\n")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="make the counts the baseline")
    parser.add_argument("--repeat", type=int, default=1, help="count so many times")
    arguments = parser.parse_args()
    for turn in range(arguments.repeat):
        measured = counts()
        if arguments.write and turn == 0:
            write(measured)
        for verdict in verdicts(measured):
            mark = "SLOWER " if verdict.slower else "faster " if verdict.faster else ""
            print(f"{mark}{verdict}", flush=True)


if __name__ == "__main__":
    main()
