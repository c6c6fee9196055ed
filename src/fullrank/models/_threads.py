"""Threads of our own for kernels, and one BLAS thread for factorisations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fullrank.core.threads import blas_libraries, n_threads, run_chunks

__all__ = ["n_threads", "one_blas_thread", "run_chunks"]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread: with more, the last bits of a factorisation vary with them."""
    import scipy.linalg  # noqa: F401  (brings a BLAS of its own, which must be loaded to be limited)

    with blas_libraries().limit(limits=1, user_api="blas"):
        yield
