"""Threads of our own for kernels, and one BLAS thread for factorisations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from fullrank.core.errors import SpecError

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


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread: with more, the last bits of a factorisation vary with them."""
    import scipy.linalg  # noqa: F401  (brings a BLAS of its own, which must be loaded to be limited)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
