"""Wilcoxon's signed-rank test on the mean difference of each user."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fullrank.stats.bootstrap import scaled
from fullrank.stats.clusters import NOISE
from fullrank.stats.pairs import Pairs, Significance, trivial

_NAME = "Wilcoxon signed-rank by user"


def wilcoxon(a: ArrayLike, b: ArrayLike, users: ArrayLike | None = None) -> Significance:
    """Test that differences are symmetric about 0, by the ranks of their sizes (Wilcoxon 1945).

    Users without a difference are left out, as Wilcoxon did, and counted in the note. Sizes that
    differ by rounding alone share a rank. SciPy chooses between the exact and the normal
    distribution. The test is about the typical user, not about the mean.

    Args:
        a: float64 ``[q]``, NaN where undefined.
        b: float64 ``[q]``, matched with ``a`` by query.
        users: integer codes ``[q]``; None if each query is a user of its own.

    Example:
        >>> print(wilcoxon([0.5, 0.7, 0.2, 0.9], [0.4, 0.4, 0.3, 0.5]))
        Wilcoxon signed-rank by user: p = 0.375 (0 users without a difference left out)
    """
    return wilcoxon_of(Pairs.of(a, b, users))


def wilcoxon_of(pairs: Pairs) -> Significance:
    """``wilcoxon`` of pairs."""
    found = trivial(pairs, _NAME)
    if found is not None:
        return found
    from scipy import stats

    means, exponent = scaled(pairs.clusters.means)  # only ranks matter
    grid = NOISE * float(np.ldexp(pairs.clusters.scale, -exponent))
    gaps = np.rint(means / grid) * grid
    gaps = gaps[np.abs(gaps) > grid]
    dropped = pairs.clusters.state.n_users - len(gaps)
    result = stats.wilcoxon(gaps)
    note = f"{dropped:,} users without a difference left out"
    return Significance(_NAME, float(result.pvalue), float(result.statistic), note)
