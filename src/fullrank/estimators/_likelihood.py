"""Probability of a sampled rank given the rank in the catalogue."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln

_TABLED = 1 << 22
"""Largest number whose factorial is looked up: a table for 2^31 items would take 16 GiB."""


def log_pmf(
    ranks: NDArray[Any],
    sizes: NDArray[Any],
    catalogs: NDArray[Any],
    true: NDArray[Any],
    *,
    replacement: bool,
) -> NDArray[np.float64]:
    """Log-probability of landing at ``ranks`` among ``sizes``, given the true rank.

    ``r - 1`` of ``n - 1`` draws precede the target: binomial with ``(R - 1) / (N - 1)``, or
    hypergeometric with ``R - 1`` marked of ``N - 1``. Arguments broadcast.

    Args:
        ranks: sampled rank ``r``, 1-based.
        sizes: ``n``, the target included.
        catalogs: ``N``, the target included.
        true: ``R``, 1 to ``N``; beyond ``N`` the probability is 0.
        replacement: binomial, or hypergeometric.
    """  # fmt: skip
    hits, draws = np.asarray(ranks) - 1, np.asarray(sizes) - 1
    marked, population = np.asarray(true) - 1, np.asarray(catalogs) - 1
    outside = marked > population
    with np.errstate(divide="ignore", invalid="ignore"):
        if replacement:
            share = np.where(outside, 0.5, marked / np.maximum(population, 1))
            out = _choose(draws, hits) + _times(hits, np.log(share))
            out = out + _times(draws - hits, np.log1p(-share))
        else:
            out = (
                _choose(marked, hits)
                + _choose(population - marked, draws - hits)
                - _choose(population, draws)
            )
    return np.asarray(np.where(outside, -np.inf, out), dtype=np.float64)


def _times(count: NDArray[Any], log: NDArray[Any]) -> NDArray[np.float64]:
    """``count * log`` with ``0 * -inf = 0``."""
    return np.where(count == 0, 0.0, count * log)


def _choose(n: NDArray[Any], k: NDArray[Any]) -> NDArray[np.float64]:
    """Log of the binomial coefficient; -inf where it is 0."""
    n, k = np.asarray(n), np.asarray(k)
    fits = (k >= 0) & (k <= n) & (n >= 0)
    n, k = np.where(fits, n, 0), np.where(fits, k, 0)
    if n.max(initial=0) > _TABLED:
        out = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
        return np.asarray(np.where(fits, out, -np.inf))
    table = _log_factorials(int(n.max(initial=0)))
    return np.where(fits, table[n] - table[k] - table[n - k], -np.inf)


@lru_cache(maxsize=2)
def _table(n: int) -> NDArray[np.float64]:
    out = gammaln(np.arange(n + 1, dtype=np.float64) + 1.0)
    out.flags.writeable = False
    return np.asarray(out)


def _log_factorials(n: int) -> NDArray[np.float64]:
    """Logs of 0!, 1!, …, at least to ``n``."""
    return _table(1 << max(10, int(n).bit_length()))


def beyond(
    cut: int, size: int, catalog: int, true: NDArray[np.int64], *, replacement: bool
) -> NDArray[np.float64]:
    """Probability of a sampled rank above ``cut``, given the true rank: ``[…]`` like ``true``."""
    if replacement:
        share = np.clip((true - 1) / max(catalog - 1, 1), 0.0, 1.0)
        # P(hits >= cut) of a binomial with size - 1 draws.
        return np.asarray(np.where(true > catalog, 0.0, betainc(cut, size - cut, share)))
    ranks = np.arange(1, cut + 1)
    one = np.array(size), np.array(catalog)
    logs = log_pmf(ranks, *one, true[..., None], replacement=False)
    inside = np.exp(logs).sum(axis=-1)
    return np.asarray(np.where(true > catalog, 0.0, np.clip(1.0 - inside, 0.0, 1.0)))


__all__ = ["beyond", "log_pmf"]
