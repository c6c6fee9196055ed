"""Versions and machine: what two runs must share before their digits can be expected to agree."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fullrank.core.threads import blas_libraries

PACKAGES = ("fullrank", "numpy", "scipy", "numba", "polars", "optuna")


def provenance() -> dict[str, Any]:
    """Versions, machine and time of day; no host or user names."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "versions": dict(_versions()),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "blas": _blas(),
    }


@lru_cache(maxsize=1)
def _versions() -> dict[str, str | None]:
    """Of the packages; read once, as it takes longer than a small cell."""
    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def _blas() -> list[str]:
    """BLAS builds in use with the kernel that they chose for this CPU."""
    if "numpy" not in sys.modules:
        return []
    return sorted(
        f"{info.get('internal_api')} {info.get('version')} {info.get('architecture', '')}".strip()
        for info in blas_libraries().info()
        if info.get("user_api") == "blas"
    )
