"""Analysis of variance by least squares: sums of squares of type II for factors of any design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.core.errors import DataError
from fullrank.stats.clusters import NOISE

_RANK = 1e-9  # a direction is spanned already if less than this share of its length is new


@dataclass(frozen=True, eq=False)
class Term:
    """A factor, or two whose effects depend on each other.

    Attributes:
        factors: one name, or two for an interaction.
        df: degrees of freedom that only this term has.
        gained: float64 ``[n, df]``, orthonormal directions that this term adds to all terms that
            don't contain it.
        sum_squares: float64 ``[...]``, type II: what it explains beyond all terms that don't
            contain it.
    """

    factors: tuple[str, ...]
    df: int
    gained: NDArray[np.float64]
    sum_squares: NDArray[np.float64]

    @property
    def name(self) -> str:
        """``split``, or ``model × split``."""
        return " × ".join(self.factors)


@dataclass(frozen=True, eq=False)
class Anova:
    """A variance decomposed.

    Attributes:
        terms: factors, then interactions.
        residual: float64 ``[...]``, sum of squares that no term explains.
        residual_df: its degrees of freedom.
        total: float64 ``[...]``, sum of squares about the mean.
        balanced: every combination of levels has the same number of values, so that the parts add
            up to the total.
    """

    terms: tuple[Term, ...]
    residual: NDArray[np.float64]
    residual_df: int
    total: NDArray[np.float64]
    balanced: bool


def anova(values: ArrayLike, factors: Mapping[str, Sequence[str]]) -> Anova:
    """Decompose the variance of some values over factors.

    Main effects and all interactions of two factors, if these leave a degree of freedom for the
    residual; main effects alone otherwise, and interactions are then part of the residual. The sum
    of squares of a term is of type II (Yates 1934, method of fitting constants): the residual
    that it saves when it is added last to all terms that don't contain it. Factors that always
    change together have no degree of freedom of their own.

    Args:
        values: float64 ``[..., n]``; leading axes are decomposed each on its own.
        factors: by name the level of each value.

    Raises:
        DataError: fewer than three values, values that are no numbers, or no factor with two
            levels.

    Example:
        >>> found = anova([1.0, 2.0, 5.0, 6.0], {"a": "xxyy", "b": "ijij"})
        >>> [(term.name, term.df, term.sum_squares.item()) for term in found.terms]
        [('a', 1, 16.0), ('b', 1, 1.0)]
    """
    y = np.asarray(values, dtype=np.float64)
    columns = {name: _dummies(levels) for name, levels in factors.items()}
    columns = {name: table for name, table in columns.items() if table.shape[1]}
    _check(y, factors, columns)
    none = y.shape[-1] * (NOISE * np.abs(y).max(axis=-1)) ** 2  # squares that rounding leaves
    y = y - y.mean(axis=-1, keepdims=True)
    mains = [(name,) for name in columns]
    pairs = list(combinations(columns, 2))
    many = [*mains, *pairs]
    chosen = many if _rank(columns, many) < y.shape[-1] - 1 else mains
    terms = tuple(_term(y, columns, chosen, one, none) for one in chosen)
    span = _span(columns, chosen)
    return Anova(
        tuple(term for term in terms if term.df or len(term.factors) == 1),
        _squares(y - (y @ span) @ span.T, none),
        y.shape[-1] - 1 - span.shape[1],
        _squares(y, none),
        _balanced(factors, list(columns)),
    )


def _check(
    y: NDArray[np.float64],
    factors: Mapping[str, Sequence[str]],
    columns: Mapping[str, NDArray[np.float64]],
) -> None:
    if y.ndim == 0 or y.shape[-1] < 3 or np.isnan(y).any():
        raise DataError(f"an analysis of variance needs three numbers or more, got {y.shape}")
    for name, levels in factors.items():
        if len(levels) != y.shape[-1]:
            raise DataError(f"factor {name!r} has {len(levels)} levels for {y.shape[-1]} values")
    if not columns:
        raise DataError("an analysis of variance needs a factor with two levels")


def _dummies(levels: Sequence[str]) -> NDArray[np.float64]:
    """Centred indicators of all levels but the first: float64 ``[n, levels - 1]``."""
    _, codes = np.unique(np.asarray([str(level) for level in levels]), return_inverse=True)
    table = np.eye(codes.max() + 1)[codes][:, 1:] if len(codes) else np.zeros((0, 0))
    return np.asarray(table - table.mean(axis=0)) if table.shape[1] else table


def _columns(
    columns: Mapping[str, NDArray[np.float64]], term: tuple[str, ...]
) -> NDArray[np.float64]:
    """Columns of a term: those of a factor, or products of those of two."""
    first = columns[term[0]]
    if len(term) == 1:
        return first
    table = (first[:, :, None] * columns[term[1]][:, None, :]).reshape(len(first), -1)
    return np.asarray(table - table.mean(axis=0))


def _span(
    columns: Mapping[str, NDArray[np.float64]], terms: Sequence[tuple[str, ...]]
) -> NDArray[np.float64]:
    """Orthonormal basis of what some terms span: float64 ``[n, rank]``."""
    n = len(next(iter(columns.values())))
    if not terms:
        return np.zeros((n, 0))
    return _basis(np.column_stack([_columns(columns, term) for term in terms]))


def _basis(table: NDArray[np.float64]) -> NDArray[np.float64]:
    left, sizes, _ = np.linalg.svd(table, full_matrices=False)
    return np.asarray(left[:, sizes > _RANK * max(float(sizes.max(initial=0.0)), 1.0)])


def _rank(columns: Mapping[str, NDArray[np.float64]], terms: Sequence[tuple[str, ...]]) -> int:
    return int(_span(columns, terms).shape[1])


def _term(
    y: NDArray[np.float64],
    columns: Mapping[str, NDArray[np.float64]],
    terms: Sequence[tuple[str, ...]],
    term: tuple[str, ...],
    none: NDArray[np.float64],
) -> Term:
    others = _span(columns, [one for one in terms if not set(term) <= set(one)])
    own = _columns(columns, term)
    gained = _basis(own - others @ (others.T @ own))
    return Term(term, gained.shape[1], gained, _squares(y @ gained, none))


def _squares(values: NDArray[np.float64], none: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of squares along the last axis; 0 for what is no more than ``none``."""
    found = (values**2).sum(axis=-1)
    return np.asarray(np.where(found > none, found, 0.0))


def _balanced(factors: Mapping[str, Sequence[str]], names: Sequence[str]) -> bool:
    """True if every combination of levels stands for the same number of values."""
    rows = list(zip(*(factors[name] for name in names), strict=True))
    counts = {row: rows.count(row) for row in rows}
    cells = int(np.prod([len(set(factors[name])) for name in names]))
    return len(counts) == cells and len(set(counts.values())) == 1
