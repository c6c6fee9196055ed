"""How far two scorings agree about the order of algorithms: four measures, for stacks of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.stats.kendall import pair_signs, tau_of_signs

MEASURES = ("tau", "weighted_tau", "top1", "top3")
"""Names of the measures; Psi is the mean of the first."""


def agreement(
    full: NDArray[np.float64],
    sample: NDArray[np.float64],
    tied: tuple[NDArray[np.bool_] | None, NDArray[np.bool_] | None] = (None, None),
) -> dict[str, NDArray[np.float64]]:
    """Agreement of the scores on a sample with those on the full data.

    - ``tau``: Kendall's tau-b (``stats.kendall_tau``).
    - ``weighted_tau``: Vigna 2015, "A weighted correlation index for rankings with ties", with
      additive hyperbolic weights 1/(r + 1), mean over the ranks r of either side: what
      ``scipy.stats.weightedtau`` gives. Top places count most.
    - ``top1``, ``top3``: expected share, among the k algorithms that the sample puts first (equal
      scores in random order), of those with fewer than k better ones on the full data. For k = 1:
      the chance that the winner on the sample is a winner on the full data. NaN unless there are
      more than k algorithms.

    All are NaN where an algorithm has no score, and the taus where a side ties all algorithms.

    Args:
        full: scores ``[..., n]`` on the full data, higher is better.
        sample: scores ``[..., n]`` on the sample; leading axes are broadcast.
        tied: pairs ``[n (n - 1) / 2]`` in the order of ``pair_signs`` that count as ties whatever
            their scores, on the full data and on the sample.

    Returns:
        float64 ``[...]`` by name.

    Example:
        >>> found = agreement(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]))
        >>> {name: round(value.item(), 3) for name, value in found.items()}
        {'tau': 0.333, 'weighted_tau': 0.545, 'top1': 1.0, 'top3': nan}
    """
    n = full.shape[-1]
    plain = pair_signs(sample)
    a, b = _held(pair_signs(full), tied[0]), _held(plain, tied[1])
    a, b, plain = np.broadcast_arrays(a, b, plain)
    return {
        "tau": tau_of_signs(a, b),
        "weighted_tau": (_weighted(a, b, n) + _weighted(b, a, n)) / 2,
        "top1": _top(a, plain, n, 1),
        "top3": _top(a, plain, n, 3),
    }


def _held(signs: NDArray[np.float64], tied: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    return signs if tied is None else np.where(tied, 0.0, signs)


def better(signs: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """How many algorithms score higher than each: int64 ``[..., n]``."""
    first, second = np.triu_indices(n, k=1)
    of = np.arange(n)
    wins = (signs > 0).astype(np.int64) @ (second[:, None] == of)
    return np.asarray(wins + (signs < 0).astype(np.int64) @ (first[:, None] == of))


def _equal(signs: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """How many algorithms score as each does, itself included: int64 ``[..., n]``."""
    first, second = np.triu_indices(n, k=1)
    of = np.arange(n)
    either = (first[:, None] == of) | (second[:, None] == of)
    return np.asarray(1 + (signs == 0).astype(np.int64) @ either)


def _weighted(a: NDArray[np.float64], b: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Weighted tau with the ranks of side ``a``, its ties in the order of ``b``."""
    first, second = np.triu_indices(n, k=1)
    order = np.argsort(better(a, n) * n + better(b, n), axis=-1, kind="stable")
    weight = 1.0 / (1.0 + np.argsort(order, axis=-1, kind="stable"))
    pairs = weight[..., first] + weight[..., second]
    agree = (pairs * a * b).sum(axis=-1)
    untied = (pairs * a * a).sum(axis=-1) * (pairs * b * b).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(untied > 0, agree / np.sqrt(untied), np.nan))


def _top(
    full: NDArray[np.float64], sample: NDArray[np.float64], n: int, k: int
) -> NDArray[np.float64]:
    if n <= k:
        return np.full(full.shape[:-1], np.nan)
    chance = np.clip((k - better(sample, n)) / _equal(sample, n), 0.0, 1.0)
    share = (chance * (better(full, n) < k)).sum(axis=-1) / k
    known = ~(np.isnan(full).any(axis=-1) | np.isnan(sample).any(axis=-1))
    return np.asarray(np.where(known, share, np.nan))


def overlapping(drawn: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
    """Pairs whose paired interval holds 0: bool ``[n (n - 1) / 2]``, ordered as ``pair_signs``.

    Args:
        drawn: resampled scores ``[r, n]``; in resample ``r`` all have the same users.
        level: of the percentile interval of a difference.
    """
    first, second = np.triu_indices(drawn.shape[-1], k=1)
    gaps = drawn[:, first] - drawn[:, second]
    gaps = gaps[~np.isnan(gaps).any(axis=1)]
    if not len(gaps):
        return np.ones(len(first), dtype=bool)
    low, high = np.quantile(gaps, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.asarray((low <= 0) & (high >= 0))
