"""Agreement of two orders: Kendall's tau-b, for many pairs of score columns at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.core.errors import DataError
from fullrank.stats.clusters import NOISE


def kendall_tau(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """Kendall's tau-b along the last axis.

    Kendall 1945, "The treatment of ties in ranking problems": with s the sign of each of the
    ``n (n - 1) / 2`` differences between two items,

        tau_b = sum s_a s_b / sqrt(sum s_a^2 · sum s_b^2)

    which is 1 for one order, -1 for its reverse, and undefined (NaN) if all items of a side tie.
    A difference that rounding may have made counts as a tie. Items without a value on one side
    are an error, as tau of the others would be of another set of items.

    Args:
        a: scores ``[..., n]``.
        b: scores ``[..., n]`` of the same items; leading axes are broadcast.

    Returns:
        float64 ``[...]``.

    Raises:
        DataError: fewer than two items, or another number of them.

    Example:
        >>> kendall_tau([1, 2, 3, 4], [1, 2, 4, 3]).round(3).item()
        0.667
    """
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if left.ndim == 0 or right.ndim == 0 or left.shape[-1] != right.shape[-1]:
        raise DataError(
            f"tau needs scores of the same items, got shapes {left.shape} and {right.shape}"
        )
    if left.shape[-1] < 2:
        raise DataError(f"tau is of two items or more, got {left.shape[-1]}")
    return tau_of_signs(pair_signs(left), pair_signs(right))


def pair_signs(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Which item of each pair scores higher: -1, 0 or 1, NaN where one has no score.

    Args:
        scores: float64 ``[..., n]``.

    Returns:
        float64 ``[..., n (n - 1) / 2]``.
    """
    first, second = np.triu_indices(scores.shape[-1], k=1)
    gap = scores[..., first] - scores[..., second]
    size = np.maximum(np.abs(scores[..., first]), np.abs(scores[..., second]))
    return np.where(np.abs(gap) <= NOISE * size, 0.0, np.sign(gap))


def tau_of_signs(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """tau-b of two sets of ``pair_signs`` ``[..., p]``: float64 ``[...]``."""
    agree = (a * b).sum(axis=-1)
    untied = (a * a).sum(axis=-1) * (b * b).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(untied > 0, agree / np.sqrt(untied), np.nan))


def tau_matrix(signs: NDArray[np.float64]) -> NDArray[np.float64]:
    """tau-b of every two rows of ``pair_signs`` ``[..., m, p]``: float64 ``[..., m, m]``."""
    agree = signs @ signs.swapaxes(-1, -2)
    own = (signs * signs).sum(axis=-1)
    untied = own[..., :, None] * own[..., None, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(untied > 0, agree / np.sqrt(untied), np.nan))
