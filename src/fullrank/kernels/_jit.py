"""``jit``: Numba's njit, cached on disk where a cache can be written, and without one elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_warned: list[bool] = []


def jit(**options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a kernel: ``nogil``, cached, no fastmath (sums keep their order)."""
    if TYPE_CHECKING:
        return lambda function: function
    import numba

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        try:
            return numba.njit(nogil=True, cache=True, **options)(function)
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
