"""State: what a mean over queries needs, mergeable in any order with the same digits."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import brief, count
from fullrank.core.exact import PRODUCT_BITS, UNIT_BITS, ExactSum, peak

_ZERO = ExactSum()
_NO_PRODUCTS = ExactSum(0, PRODUCT_BITS)


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
    total: ExactSum = _ZERO
    ss: ExactSum = _NO_PRODUCTS
    sn: ExactSum = _NO_PRODUCTS
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
        _, sums, counts = user_sums(values, users)
        return cls.of_sums(values, sums, counts)

    @classmethod
    def of_sums(
        cls,
        values: NDArray[np.float64],
        sums: NDArray[np.float64],
        counts: NDArray[np.float64],
    ) -> State:
        """Build the state of values whose ``user_sums`` are at hand already."""
        kept = _defined(values)
        # Users with one value each: their sums are the values, and all counts are 1.
        single = len(sums) == len(kept)
        if single:
            total, ss = ExactSum.with_squares(kept)
        else:
            total, ss = ExactSum.of(kept), ExactSum.of_products(sums, sums)
        return cls(
            n_queries=len(kept),
            undefined=int(len(values) - len(kept)),
            n_users=len(sums),
            total=total,
            ss=ss,
            sn=total.as_products() if single else ExactSum.of_products(sums, counts),
            nn=len(kept) if single else int((counts * counts).sum()),
        )

    def merge(self, other: State) -> State:
        """Add another state: associative, commutative, exact."""
        return State(
            **{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        )

    def __repr__(self) -> str:
        queries = count(self.n_queries, "query", "queries")
        return brief(
            self, f"value {self.value:.4g} over {queries} of {count(self.n_users, 'user')}"
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
        # In whole numbers, since the three terms cancel: in units of 2**-2148 / n_queries**2.
        n, total = self.n_queries, self.total.units
        sn = self.sn.units >> UNIT_BITS  # exact: counts are whole numbers
        squares = self.ss.units * n * n - 2 * total * sn * n + total * total * self.nn
        scale = self.n_users / (self.n_users - 1)
        # An even power of two aside, so that the square of a small error is no zero.
        shift = squares.bit_length() // 2 * 2
        root = math.sqrt(squares / (n * n << shift) * scale) / n
        return math.ldexp(root, shift // 2 - UNIT_BITS)


def exact_mean(values: NDArray[np.float64]) -> float:
    """``State.of(values).value``, without the moments: NaN is left out, and rounded is once."""
    kept = _defined(values)
    return ExactSum.of(kept).over(len(kept)) if len(kept) else float("nan")


def _defined(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values without NaN: themselves where there is none."""
    return values if math.isfinite(peak(values)) else values[~np.isnan(values)]


def strictly_ascending(users: NDArray[np.integer]) -> bool:
    """Each is above the one before, as the users of one query each are."""
    return bool(np.all(users[1:] > users[:-1]))


def user_sums(
    values: NDArray[np.float64], users: NDArray[np.integer] | None, *, ascending: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Sum the defined values of each user, the same for any order of the rows.

    Args:
        values: float64 ``[q]``, NaN where undefined.
        users: ``[q]`` user of each query; None if each query is a user of its own.
        ascending: ``strictly_ascending(users)`` is known to hold.

    Returns:
        The users with a value, ascending (row numbers if ``users`` is None); the sums of their
        values; the numbers of their values: all ``[u]``, maybe views and not to be written to.
    """
    kept = _defined(values)
    codes = np.arange(len(values)) if users is None else np.asarray(users)
    if len(kept) < len(values):
        codes = codes[~np.isnan(values)]
    if users is None or ascending or strictly_ascending(codes):
        return codes.astype(np.int64, copy=False), kept, np.broadcast_to(1.0, len(codes))
    order = np.argsort(codes, kind="stable")
    codes, kept = codes[order].astype(np.int64), kept[order]
    first = np.ones(len(codes), dtype=bool)
    first[1:] = codes[1:] != codes[:-1]
    if first.all():
        return codes, kept, np.broadcast_to(1.0, len(codes))
    row = np.cumsum(first) - 1
    counts = np.bincount(row).astype(np.float64)
    # Within a user in ascending order, so that the order of the input is no matter.
    sums = np.bincount(row, weights=kept[np.lexsort((kept, row))])
    return codes[first], sums.astype(np.float64), counts
