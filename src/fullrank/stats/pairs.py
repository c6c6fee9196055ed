"""Two systems on the same queries: their differences, gathered by user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fullrank.core.errors import DataError
from fullrank.stats.clusters import NOISE, Clusters, as_users, as_values


@dataclass(frozen=True, eq=False)
class Pairs:
    """Differences ``a - b`` over the queries where both have a value.

    Attributes:
        clusters: the differences by user; those that rounding may have made are 0.
        mean_a: mean of ``a`` over these queries; NaN if there are none.
        mean_b: mean of ``b`` over these queries.
        one_sided: queries left out because only one of the two has a value.
        equal: both have the same value on every one of these queries.
    """

    clusters: Clusters
    mean_a: float
    mean_b: float
    one_sided: int
    equal: bool

    @classmethod
    def of(cls, a: ArrayLike, b: ArrayLike, users: ArrayLike | None = None) -> Pairs:
        """Pair values that the caller has matched by query.

        Args:
            a: float64 ``[q]``, NaN where undefined.
            b: float64 ``[q]``, row ``i`` of the same query as ``a[i]``.
            users: integer codes ``[q]``; None if each query is a user of its own.

        Raises:
            DataError: values or users that can't be used, or that don't match in length.
        """
        left, right = as_values(a, "a"), as_values(b, "b")
        if len(left) != len(right):
            raise DataError(
                f"a has {len(left)} values and b {len(right)}; match them by query id first"
            )
        codes = as_users(users, len(left))
        gap = left - right
        both = ~np.isnan(gap)
        size = np.maximum(np.abs(left), np.abs(right))
        gap[np.abs(gap) <= NOISE * size] = 0.0
        scale = float(size[both].max()) if both.any() else 0.0
        side = np.where(both, left, np.nan), np.where(both, right, np.nan)
        return cls(
            clusters=Clusters.of(gap, codes, scale),
            mean_a=Clusters.of(side[0], codes).state.value,
            mean_b=Clusters.of(side[1], codes).state.value,
            one_sided=int(np.sum(np.isnan(left) != np.isnan(right))),
            equal=bool(both.any() and not gap[both].any()),
        )

    @property
    def identical(self) -> bool:
        """No user differs."""
        return self.wins == 0 and self.losses == 0

    @property
    def wins(self) -> int:
        """Users whose mean is higher under ``a``."""
        return int(np.sum(self.clusters.sums > self.clusters.tolerance))

    @property
    def losses(self) -> int:
        """Users whose mean is lower under ``a``."""
        return int(np.sum(self.clusters.sums < -self.clusters.tolerance))


@dataclass(frozen=True)
class Significance:
    """What one test says.

    Attributes:
        test: name of the test, with the variant that ran.
        p_value: two-sided; None if the test has no meaning here, for the reason in ``note``.
        statistic: the test's statistic; None where it has none.
        note: what a reader must know; empty if nothing.
    """

    test: str
    p_value: float | None
    statistic: float | None = None
    note: str = ""

    def __str__(self) -> str:
        p = "no p-value" if self.p_value is None else f"p = {self.p_value:.3g}"
        return f"{self.test}: {p}" + (f" ({self.note})" if self.note else "")


NO_PAIRS = "no query has a value in both"
NO_DIFFERENCE = "no difference"
EVEN = "no user's mean differs"


def trivial(pairs: Pairs, test: str) -> Significance | None:
    """What every test says of no pairs, and of two systems that don't differ; None otherwise."""
    if pairs.clusters.state.n_users == 0:
        return Significance(test, None, note=NO_PAIRS)
    if pairs.identical:
        return Significance(test, 1.0, 0.0, note=NO_DIFFERENCE if pairs.equal else EVEN)
    return None
