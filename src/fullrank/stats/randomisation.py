"""The sign-flip randomisation test: exact for few users, hashed draws for many."""

from __future__ import annotations

import math
import sys

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.core.errors import SpecError
from fullrank.core.random import RNG, seed_of
from fullrank.stats.bootstrap import fixed_point, run, seed_for
from fullrank.stats.pairs import Pairs, Significance, trivial

EXACT_UP_TO = 16
"""Users with a difference up to which all ``2**n`` flips are tried."""

FLIPS = 9_999
"""Draws above that: with the observed one, p-values are multiples of 1e-4."""

_SLACK = 1e-12  # sums that differ by less of the sum of sizes are tied, whatever rounding says


def sign_flip(
    a: ArrayLike,
    b: ArrayLike,
    users: ArrayLike | None = None,
    *,
    flips: int = FLIPS,
    rng: RNG = 0,
    threads: int | None = None,
) -> Significance:
    """Test that swapping the two systems for any user changes nothing (Fisher 1935).

    A flip swaps the systems for all queries of a user. The p-value is the share of flips whose
    mean difference is at least as far from 0 as the observed one: over all of them up to 16 users
    with a difference, or if all differences point one way; otherwise ``(1 + hits) / (1 + flips)``
    over draws hashed from (seed, user) (Phipson & Smyth 2010), never 0.

    Args:
        a: float64 ``[q]``, NaN where undefined.
        b: float64 ``[q]``, matched with ``a`` by query.
        users: integer codes ``[q]``; None if each query is a user of its own.
        flips: draws where not all flips are tried.
        rng: seed or Generator.
        threads: threads of the draws; all cores by default.

    Raises:
        SpecError: fewer than 100 flips.

    Example:
        >>> print(sign_flip([0.6, 0.8, 0.3, 1.0, 0.5], [0.5, 0.7, 0.2, 0.9, 0.4]))
        sign flip by user, exact: p = 0.0625
    """
    return sign_flip_of(Pairs.of(a, b, users), flips, seed_of(rng), threads)


def sign_flip_of(pairs: Pairs, flips: int, seed: int, threads: int | None) -> Significance:
    """``sign_flip`` of pairs."""
    if flips < 100:
        raise SpecError(f"flips must be at least 100, got {flips}; the default is {FLIPS:,}")
    found = trivial(pairs, "sign flip by user")
    if found is not None:
        return found
    clusters = pairs.clusters
    mean = clusters.state.value
    differ = np.abs(clusters.sums) > clusters.tolerance
    sums, n_users = clusters.sums[differ], int(differ.sum())
    if n_users <= EXACT_UP_TO:
        return Significance("sign flip by user, exact", _enumerated(sums), mean)
    if pairs.wins == 0 or pairs.losses == 0:
        # Only the two flips that swap nobody or everybody reach the observed mean.
        p = max(2.0 ** (1 - n_users), sys.float_info.min)
        return Significance("sign flip by user, exact", p, mean, "all differences point one way")
    p = _drawn(sums, clusters.users[differ], flips, seed_for(seed, "sign flip"), threads)
    return Significance(f"sign flip by user, {flips:,} draws", p, mean)


def _enumerated(sums: NDArray[np.float64]) -> float:
    """Share of all sign patterns that reach the observed sum; half of them mirror the others."""
    totals = sums[:1]
    for value in sums[1:]:
        totals = np.concatenate([totals + value, totals - value])
    reach = abs(math.fsum(sums)) - _SLACK * math.fsum(np.abs(sums))
    return float(np.mean(np.abs(totals) >= reach))


def _drawn(
    sums: NDArray[np.float64],
    users: NDArray[np.int64],
    flips: int,
    seed: int,
    threads: int | None,
) -> float:
    """Monte Carlo share, the observed pattern counted as one of the draws."""
    from fullrank.kernels.bootstrap import FLIPS as PER_HASH
    from fullrank.kernels.bootstrap import flipped_sums

    whole, _ = fixed_point(sums, 2 * len(sums))
    blocks = -(-flips // PER_HASH)
    kept = run(flipped_sums, whole[None, :], users, blocks, PER_HASH, seed, threads)
    observed = int(whole.sum())
    totals = 2 * kept.ravel()[:flips] - observed
    # Each whole number is off by half a unit at most.
    slack = len(sums) + int(_SLACK * float(np.abs(whole).sum()))
    hits = int(np.count_nonzero(np.abs(totals) >= abs(observed) - slack))
    return (1 + hits) / (1 + flips)
