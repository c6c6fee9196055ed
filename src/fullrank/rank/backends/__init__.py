"""Where a ranking may run: the engine's own kernels, or PyTorch on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullrank.core.errors import SpecError, suggest

if TYPE_CHECKING:
    from fullrank.rank._job import Job

BACKENDS = ("numba", "torch")


def rank_elsewhere(job: Job, backend: str, device: str | None, memory: int, workers: int) -> bool:
    """Rank a job on the backend asked for; False, with nothing done, for the engine's own.

    Args:
        job: to fill.
        backend: one of ``BACKENDS``.
        device: of PyTorch, such as ``"cuda:1"``; None for CUDA where there is one, else the CPU.
        memory: bound on the extra memory of the device in bytes.
        workers: threads that make the factors of queries.

    Raises:
        SpecError: an unknown backend or device, a device without ``"torch"``, no PyTorch, or a
            model without factors.
    """
    if backend not in BACKENDS:
        raise SpecError(f"unknown backend {backend!r}{suggest(backend, BACKENDS)}")
    if backend == "numba":
        if device is not None:
            raise SpecError(
                f"device={device!r} needs backend='torch'; the backend 'numba' runs on the CPU"
            )
        return False
    from fullrank.rank.backends.torch import rank_on_device

    rank_on_device(job, device, memory, workers)
    return True
