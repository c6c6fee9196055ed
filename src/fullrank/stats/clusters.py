"""Values gathered by user, the unit that is resampled, flipped and counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.core.errors import DataError
from fullrank.core.exact import peak
from fullrank.core.state import State, user_sums

NOISE = 64 * float(np.finfo(np.float64).eps)
"""Relative size of what rounding may leave in a metric: differences below it are none."""

_LARGEST = 1e100  # squares and cubes of values must stay finite
_BLOCK = 4096  # users looked at together for a spread


@dataclass(frozen=True, eq=False)
class Clusters:
    """The defined values of a column, by user.

    Attributes:
        users: int64 ``[u]``, codes of the users with a value, ascending.
        sums: float64 ``[u]``, sum of each user's values.
        counts: float64 ``[u]``, number of each user's values.
        state: exact moments of the column.
        scale: the largest absolute value that went in; rounding errors are relative to it.
    """

    users: NDArray[np.int64]
    sums: NDArray[np.float64]
    counts: NDArray[np.float64]
    state: State
    scale: float

    @classmethod
    def of(
        cls,
        values: NDArray[np.float64],
        users: NDArray[np.integer[Any]] | None,
        scale: float | None = None,
        *,
        ascending: bool = False,
    ) -> Clusters:
        """Gather float64 values ``[q]`` by user; ``scale`` if they are differences of larger.

        ``ascending`` says that each user is above the one before, where that is known.

        Raises:
            DataError: a value beyond 1e100.
        """
        codes, sums, counts = user_sums(values, users, ascending=ascending)
        if scale is None:
            scale = largest(values)
            if scale > _LARGEST:
                as_values(values)  # which says where
        return cls(codes, sums, counts, State.of_sums(values, sums, counts), scale)

    @cached_property
    def residuals(self) -> NDArray[np.float64]:
        """What each user's sum has above the overall mean: float64 ``[u]``."""
        return self.sums - self.state.value * self.counts

    @property
    def tolerance(self) -> NDArray[np.float64]:
        """Rounding error to allow in each user's sum: float64 ``[u]``."""
        return NOISE * self.scale * self.counts

    @property
    def flat(self) -> bool:
        """All users have the same mean, up to rounding, so that no spread can be estimated."""
        return self._close() or self.state.standard_error == 0

    def _close(self) -> bool:
        """No sum is further from the mean than its tolerance; the first users mostly tell."""
        allowed, mean = NOISE * self.scale, self.state.value
        for start in range(0, len(self.sums), _BLOCK):
            counts = self.counts[start : start + _BLOCK]
            apart = np.abs(self.sums[start : start + _BLOCK] - mean * counts)
            if not bool(np.all(apart <= allowed * counts)):
                return False
        return True

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean of each user's values: float64 ``[u]``."""
        return self.sums / self.counts


def largest(values: NDArray[np.float64]) -> float:
    """The largest absolute value, 0 without any; NaN is none."""
    found = peak(values.reshape(-1))
    if found == found:
        return found
    ends = np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None)
    return float(np.nan_to_num(max(ends), nan=0.0, posinf=np.inf))


def as_values(values: ArrayLike, name: str = "values", ndim: int = 1) -> NDArray[np.float64]:
    """Check per-query values: float64 of ``ndim`` dimensions, NaN where undefined.

    Raises:
        DataError: another shape, not numbers, infinite or beyond 1e100.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "fiub" or array.ndim != ndim:
        raise DataError(
            f"{name} must be an array of numbers with {ndim} dimension(s), got {array.dtype} of "
            f"shape {array.shape}"
        )
    array = array.astype(np.float64, copy=False)
    if largest(array) > _LARGEST:
        place = tuple(int(i) for i in np.argwhere(np.abs(array) > _LARGEST)[0])
        raise DataError(
            f"{name} must lie within ±1e100 or be NaN (undefined), got {array[place]} at row "
            f"{place[0]}; the metric that made it overflowed"
        )
    return array


def as_users(users: ArrayLike | None, n: int) -> NDArray[np.integer[Any]] | None:
    """Check user codes ``[n]``.

    Raises:
        DataError: not integers, or not one a query.
    """
    if users is None:
        return None
    array = np.asarray(users)
    if array.shape != (n,) or (n and array.dtype.kind not in "iu"):
        raise DataError(
            f"users must be {n} integer codes, one for each value, got {array.dtype} of shape "
            f"{array.shape}; encode outside ids with a Vocabulary"
        )
    return array.astype(np.int64, copy=False)
