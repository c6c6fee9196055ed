"""Sizes of times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.kernels._jit import jit


@jit()
def time_sizes(
    times: NDArray[np.int64], unknown: int, limits: NDArray[np.int64]
) -> tuple[int, int, NDArray[np.int64]]:
    """Find the ends of the known times, and the first time of each size.

    Args:
        times: int64 ``[n]``.
        unknown: stands for no time.
        limits: int64 ``[k]``, ascending: a size is between two of them, 0 has none.

    Returns:
        (earliest, latest, row of the first time of each size ``[k + 1]``, -1 for none); earliest
        is above latest if no time is known.
    """
    low, high = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    firsts = np.full(len(limits) + 1, -1, dtype=np.int64)
    for i in range(len(times)):
        time = times[i]
        if time == unknown:
            continue
        low, high = min(low, time), max(high, time)
        size = 0
        while size < len(limits) and abs(time) >= limits[size]:
            size += 1
        if firsts[size] < 0 and time != 0:
            firsts[size] = i
    return low, high, firsts
