"""``jit``: Numba's njit, cached on disk where a cache can be written, and without one elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_warned: list[bool] = []


@cache
def _stamp() -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of every file of kernels."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return tuple((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files)


def _stamped(kernel: Any) -> Any:
    """Make the cache of a kernel stale when any file of kernels changes.

    Numba looks at the kernel's own file alone, but its machine code holds that of the kernels that
    it calls: after an update of some files it would go on running the old ones.
    """
    file = kernel._cache._cache_file
    file._source_stamp = (file._source_stamp, _stamp())
    return kernel


def jit(**options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a kernel: ``nogil``, cached, no fastmath (sums keep their order)."""
    if TYPE_CHECKING:
        return lambda function: function
    import numba

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        try:
            return _stamped(numba.njit(nogil=True, cache=True, **options)(function))
        except RuntimeError as error:
            # Read-only package and home: Numba refuses at decoration. Slower starts, same results.
            if "no locator available" not in str(error):
                raise
            if not _warned:
                _warned.append(True)
                warnings.warn(
                    "no writable folder for compiled kernels: they are compiled anew in each "
                    "process (set NUMBA_CACHE_DIR to a writable folder to avoid it)",
                    RuntimeWarning,
                    stacklevel=2,
                )
            return numba.njit(nogil=True, **options)(function)

    return decorate
