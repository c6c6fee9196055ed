"""Time, peak memory and energy of a piece of work, where the machine can tell."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

_RAPL = Path("/sys/class/powercap")


def _peak_kib() -> int | None:
    """Peak resident memory of this process since the last reset, in KiB."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    except OSError:
        pass
    return None


def _reset_peak() -> bool:
    """Ask Linux to forget the peak; False where that is not possible."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _energy_uj() -> int | None:
    """Energy counter of all CPU packages in microjoules, None where it can't be read."""
    total = 0
    found = False
    try:
        for path in _RAPL.glob("intel-rapl:?/energy_uj"):
            total += int(path.read_text())
            found = True
    except (OSError, ValueError):
        return None
    return total if found else None


def _compiling() -> AbstractContextManager[Any]:
    """Listen to Numba's compiler: ``wall`` and ``busy`` are what it took, in seconds.

    Its lock is held while a kernel is compiled, or read from the cache on disk or written there,
    by one thread at a time, which may take it again within.
    """
    from numba.core.event import Listener, install_listener

    class Clock(Listener):
        def __init__(self) -> None:
            self.wall = self.busy = 0.0
            self._depth = 0

        def on_start(self, event: Any) -> None:
            if self._depth == 0:
                self._from = time.perf_counter(), time.thread_time()
            self._depth += 1

        def on_end(self, event: Any) -> None:
            if self._depth == 0:  # another thread was compiling before
                return
            self._depth -= 1
            if self._depth == 0:
                self.wall += time.perf_counter() - self._from[0]
                self.busy += time.thread_time() - self._from[1]

    return install_listener("numba:compiler_lock", Clock())


@contextmanager
def measured(out: dict[str, float | None], name: str) -> Iterator[None]:
    """Add ``{name}_seconds``, ``…_cpu_seconds``, ``…_peak_mib`` and ``…_joules`` to ``out``.

    Compiling kernels is left out of both times: it is paid once on a machine, by whatever comes
    first, and would pass for time of that model. Processor time is that of all threads of the
    process. Peak memory is that of the whole process while the work ran; None where the system
    can't reset its counter. Energy is that of the whole machine, None where it has no counter.
    Both hold what compiling took.
    """
    fresh = _reset_peak()
    energy = _energy_uj()
    with _compiling() as compiler:
        start, busy = time.perf_counter(), time.process_time()
        yield
        out[f"{name}_seconds"] = time.perf_counter() - start - compiler.wall
        out[f"{name}_cpu_seconds"] = time.process_time() - busy - compiler.busy
    peak = _peak_kib()
    out[f"{name}_peak_mib"] = None if peak is None or not fresh else peak / 1024
    after = _energy_uj()
    wrapped = energy is None or after is None or after < energy
    out[f"{name}_joules"] = None if wrapped else (after - energy) / 1e6  # type: ignore[operator]
