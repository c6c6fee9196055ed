"""Time, peak memory and energy of a piece of work, where the machine can tell."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


@contextmanager
def measured(out: dict[str, float | None], name: str) -> Iterator[None]:
    """Add ``{name}_seconds``, ``…_cpu_seconds``, ``…_peak_mib`` and ``…_joules`` to ``out``.

    Processor time is that of all threads of the process. Peak memory is that of the whole process
    while the work ran; None where the system can't reset its counter. Energy is that of the whole
    machine, None where it has no counter.
    """
    fresh = _reset_peak()
    energy = _energy_uj()
    start, busy = time.perf_counter(), time.process_time()
    yield
    out[f"{name}_seconds"] = time.perf_counter() - start
    out[f"{name}_cpu_seconds"] = time.process_time() - busy
    peak = _peak_kib()
    out[f"{name}_peak_mib"] = None if peak is None or not fresh else peak / 1024
    after = _energy_uj()
    wrapped = energy is None or after is None or after < energy
    out[f"{name}_joules"] = None if wrapped else (after - energy) / 1e6  # type: ignore[operator]
