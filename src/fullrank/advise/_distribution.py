"""How unequal numbers are, and how far two distributions lie apart; arrays only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
"""Of degrees; both ends, since head and tail are what samplers differ in."""

_TAIL = 0.9
_FEWEST = 10
"""A tail of fewer values says nothing of an exponent."""


def gini(values: NDArray[np.int64]) -> float:
    """Gini coefficient of positive numbers: 0 if all are equal, near 1 if one has everything.

    ``sum_i (2 i - n - 1) x_i / (n sum x)`` over the ascending values, i from 1 (Gini 1912, in the
    form of Cowell 2011, *Measuring Inequality*, appendix A.4). NaN without values.
    """
    x = np.sort(values).astype(np.float64)
    n = len(x)
    if not n:
        return float("nan")
    return float(((2 * np.arange(1, n + 1) - n - 1) * x).sum() / (n * x.sum()))


def evenness(values: NDArray[np.int64]) -> float:
    """Entropy of the shares over its maximum, ``H / ln n`` in [0, 1] (Pielou 1966).

    NaN for fewer than two values, where the maximum is 0.
    """
    if len(values) < 2:
        return float("nan")
    share = values[values > 0] / values.sum()
    return float(-(share * np.log(share)).sum() / np.log(len(values)))


def tail_exponent(values: NDArray[np.int64]) -> float:
    """Exponent of a power law fitted to the largest tenth of whole numbers.

    ``1 + m / sum ln(x / (x_min - 1/2))`` over the m values of at least ``x_min``, the 0.9
    quantile (Clauset, Shalizi & Newman 2009, eq. 3.7; there ``x_min`` is searched for). NaN if
    fewer than 10 values are so large.
    """
    if not len(values):
        return float("nan")
    least = float(np.quantile(values, _TAIL, method="inverted_cdf"))
    tail = values[values >= least]
    if len(tail) < _FEWEST:
        return float("nan")
    return float(1 + len(tail) / np.log(tail / (least - 0.5)).sum())


def quantiles(values: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values at ``QUANTILES``, each one that occurs: float64 ``[8]``; NaN without values."""
    if not len(values):
        return np.full(len(QUANTILES), np.nan)
    return np.quantile(values, QUANTILES, method="inverted_cdf").astype(np.float64)


def jensen_shannon(p: NDArray[np.int64], q: NDArray[np.int64]) -> float:
    """Jensen-Shannon divergence in bits of two arrays of counts: 0 if proportional, 1 if disjoint.

    ``H((p + q) / 2) - (H(p) + H(q)) / 2`` with p and q as shares (Lin 1991, eq. 4.1). NaN if one
    of them is empty.

    Args:
        p: counts ``[n]``.
        q: counts ``[m]``; the shorter of both is filled up by zeros.
    """
    n = max(len(p), len(q))
    if not p.sum() or not q.sum():
        return float("nan")
    shares = np.zeros((2, n))
    shares[0, : len(p)] = p / p.sum()
    shares[1, : len(q)] = q / q.sum()
    mixed = _bits(shares.mean(axis=0)) - (_bits(shares[0]) + _bits(shares[1])) / 2
    return float(min(max(mixed, 0.0), 1.0))  # rounding leaves the range by 1e-16


def _bits(shares: NDArray[np.float64]) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log2(some)).sum())
