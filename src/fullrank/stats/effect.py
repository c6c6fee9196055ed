"""Effect size of a paired difference: Cohen's d_z."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from fullrank.stats.pairs import Pairs


def cohen_dz(a: ArrayLike, b: ArrayLike, users: ArrayLike | None = None) -> float | None:
    """The mean difference in units of its standard deviation over users (Cohen 1988, p. 48).

    ``d_z = mean / (se * sqrt(n_users))``: with one query a user, the mean difference over the
    standard deviation of differences. It is about paired data; d of two groups is another number.

    Args:
        a: float64 ``[q]``, NaN where undefined.
        b: float64 ``[q]``, matched with ``a`` by query.
        users: integer codes ``[q]``; None if each query is a user of its own.

    Returns:
        0 for two systems that don't differ; None without pairs, for one user, or if all users
        differ by the same amount, where there is no spread to divide by.

    Example:
        >>> round(cohen_dz([1.0, 2.0, 3.0], [0.0, 0.0, 0.0]), 12)
        2.0
    """
    return dz_of(Pairs.of(a, b, users))


def dz_of(pairs: Pairs) -> float | None:
    """``cohen_dz`` of pairs."""
    state = pairs.clusters.state
    if state.n_users == 0:
        return None
    if pairs.identical:
        return 0.0
    if state.n_users == 1 or pairs.clusters.flat:
        return None
    return state.value / (state.standard_error * math.sqrt(state.n_users))
