"""State: what a mean over queries needs, mergeable in any order with the same digits."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fullrank.core.exact import ExactSum


@dataclass(frozen=True)
class State:
    """Sufficient statistics of a mean over queries, clustered by user.

    A user's queries must lie in one state for the clustered variance to hold; the mean needs no
    such care. With ``s_u`` the sum of a user's values and ``n_u`` their number, the mean is
    ``sum s_u / sum n_u`` and its variance follows from the second moments (ratio estimator).

    Attributes:
        n_queries: queries with a value.
        undefined: queries without one (NaN).
        n_users: users with at least one value.
        total: sum of values.
        ss: sum of ``s_u ** 2``.
        sn: sum of ``s_u * n_u``.
        nn: sum of ``n_u ** 2``.
    """

    n_queries: int = 0
    undefined: int = 0
    n_users: int = 0
    total: ExactSum = ExactSum()
    ss: ExactSum = ExactSum()
    sn: ExactSum = ExactSum()
    nn: int = 0

    @classmethod
    def empty(cls) -> State:
        """The identity of ``merge``."""
        return cls()

    @classmethod
    def of(cls, values: NDArray[np.float64], users: NDArray[np.integer] | None = None) -> State:
        """Build the state of per-query values.

        Args:
            values: float64 ``[q]``, NaN where undefined.
            users: ``[q]`` user of each query; None if each query is a user of its own.
        """
        values = np.asarray(values, dtype=np.float64)
        known = ~np.isnan(values)
        kept = values[known]
        if users is None:
            sums, counts = kept, np.ones(len(kept))
        else:
            _, code = np.unique(np.asarray(users)[known], return_inverse=True)
            counts = np.bincount(code).astype(np.float64)
            sums = _ordered_sums(code, kept, len(counts))
        return cls(
            n_queries=len(kept),
            undefined=int(len(values) - len(kept)),
            n_users=len(sums),
            total=ExactSum.of(kept),
            ss=ExactSum.of(sums * sums),
            sn=ExactSum.of(sums * counts),
            nn=int((counts * counts).sum()),
        )

    def merge(self, other: State) -> State:
        """Add another state: associative, commutative, exact."""
        return State(
            **{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        )

    @property
    def value(self) -> float:
        """The mean, NaN if no query has a value."""
        return self.total.over(self.n_queries) if self.n_queries else float("nan")

    @property
    def standard_error(self) -> float:
        """Standard error of the mean over the population of users; NaN below two users."""
        if self.n_users < 2:
            return float("nan")
        mean = self.value
        squares = float(self.ss) - 2 * mean * float(self.sn) + mean * mean * self.nn
        scale = self.n_users / (self.n_users - 1)
        return float(np.sqrt(max(squares, 0.0) * scale)) / self.n_queries


def _ordered_sums(
    code: NDArray[np.intp], values: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Sum values by code; within a code in ascending order, so that input order is no matter."""
    order = np.lexsort((values, code))
    sums = np.bincount(code[order], weights=values[order], minlength=n)
    return sums.astype(np.float64)
