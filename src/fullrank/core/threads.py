"""Threads of our own: as many as cores, results the same for any number of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from fullrank.core.errors import SpecError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

T = TypeVar("T")


def n_threads() -> int:
    """Threads for kernels: ``FULLRANK_THREADS`` if set, else the cores this process may use.

    Raises:
        SpecError: the variable is not a whole number of at least 1.
    """
    given = os.environ.get("FULLRANK_THREADS")
    if given is not None:
        if not given.isdigit() or int(given) < 1:
            raise SpecError(f"FULLRANK_THREADS must be a whole number >= 1, got {given!r}")
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_chunks(task: Callable[[int, int], T], n: int, size: int) -> list[T]:
    """Call ``task(start, stop)`` for each chunk of ``range(n)``, in threads; results in order.

    The chunks are the same for any number of threads, and so is the result of a task that
    depends on nothing but its chunk. Kernels release the GIL, so that threads help.
    """
    starts = range(0, n, size)
    threads = min(n_threads(), len(starts))
    if threads <= 1:
        return [task(start, min(start + size, n)) for start in starts]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda start: task(start, min(start + size, n)), starts))


def blas_libraries() -> ThreadpoolController:
    """The loaded libraries with threads of their own, to be told or limited.

    To look for them takes milliseconds, so it is done again only when modules were imported since.
    """
    return _libraries(len(sys.modules))


@lru_cache(maxsize=1)
def _libraries(_modules: int) -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
