"""How much memory an array may take, asked before it is made."""

from __future__ import annotations

import os
from pathlib import Path

from fullrank.core.errors import TooLargeError

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_CGROUP_USED = Path("/sys/fs/cgroup/memory.current")
_MEMINFO = Path("/proc/meminfo")


def available_memory() -> int:
    """Bytes that this process can still take.

    On Linux the kernel's own estimate (``MemAvailable``), or what a container's limit leaves if
    that is less; elsewhere the physical memory of the machine, an upper bound.
    """
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(pages, _from_meminfo(pages), _from_cgroup(pages))


def _from_meminfo(otherwise: int) -> int:
    if not _MEMINFO.exists():
        return otherwise
    for line in _MEMINFO.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return otherwise


def _from_cgroup(otherwise: int) -> int:
    if not (_CGROUP_LIMIT.exists() and _CGROUP_USED.exists()):
        return otherwise
    limit = _CGROUP_LIMIT.read_text().strip()
    return otherwise if limit == "max" else max(int(limit) - int(_CGROUP_USED.read_text()), 0)


def require_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse a job whose arrays would not fit.

    Args:
        needed: bytes.
        what: what takes them, for the message.
        remedy: what to do instead.

    Raises:
        TooLargeError: more is needed than is available; with both figures.
    """
    free = available_memory()
    if needed > free:
        raise TooLargeError(
            f"{what} needs {_size(needed)} and {_size(free)} are available; {remedy}"
        )


def _size(n: int) -> str:
    """``1.5 GiB``, ``640.0 MiB`` or ``960 bytes``."""
    for power, unit in ((30, "GiB"), (20, "MiB")):
        if n >= 2**power:
            return f"{n / 2**power:,.1f} {unit}"
    return f"{n:,} bytes"
