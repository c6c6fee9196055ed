"""SLIM: a sparse item-item matrix, each column an elastic net."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.ragged import as_indptr
from fullrank.core.random import RNG
from fullrank.models._base import Monitor
from fullrank.models._item_weights import ItemWeights
from fullrank.models._pattern import pattern, turned
from fullrank.models._sparse import first_twins, transpose
from fullrank.models._threads import run_chunks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from fullrank.kernels.slim import Gram

_CHUNK = 32

# Cells of the Gram matrix that are kept, 8 bytes each: half a GiB. Beyond, rows are walked anew.
_STORED = 1 << 26


@dataclass(eq=False)
class SLIM(ItemWeights):
    """Score item j by ``sum of w_ij`` over the items i of the history.

    Ning & Karypis 2011, "SLIM: sparse linear methods for top-n recommender systems", equation 4.
    With A the binary training matrix and ``a_j`` the column of item j, its weights minimise

        1/2 |a_j - A w|^2 + l1_reg |w|_1 + l2_reg / 2 |w|^2   with w >= 0 and w_j = 0.

    ``l2_reg`` and ``l1_reg`` are the paper's beta and lambda. scikit-learn's
    ``ElasticNet(alpha, l1_ratio, positive=True, fit_intercept=False)`` divides by the number n of
    users (rows of A): ``l1_reg = n alpha l1_ratio``, ``l2_reg = n alpha (1 - l1_ratio)``; so does
    irspack's ``SLIMRecommender``. fastslim's ``lambd`` and ``beta`` are ``l1_reg`` and ``l2_reg``.

    Columns are solved in parallel by cyclic coordinate descent with covariance updates (Friedman,
    Hastie & Tibshirani 2010, section 2.2), over a working set that candidates enter until no weight
    is left to move (Massias, Gramfort & Salmon 2018). An item that shares at most ``l1_reg`` users
    with j has weight 0 if no weight may be negative, and is never looked at. Memory: rows of the
    sparse Gram matrix, those of the most popular items, up to half a GiB, the others being walked
    when they are needed; and a vector over all items for each thread.

    Items with the same users are solved as one, their common weight shared in equal parts. With
    ``l2_reg > 0`` that is the unique optimum; with 0 it is one of many, and coordinate descent
    would leave all of it on the first. So neither row order nor ids decide, and they tie.

    Histories count as sets. Scores are 0 without a history.

    Defaults are the best of three settings on validation parts of MovieLens 100K (last row of each
    user, and a global cut): NDCG@10 0.094 and 0.125; with ``l2_reg=100`` 0.086 and 0.121, with
    ``l1_reg=3, l2_reg=300`` 0.082 and 0.120; Popularity 0.033 and 0.118.

    Attributes:
        l1_reg: weight of the sum of absolute weights, in shared users, >= 0.
        l2_reg: weight of half the sum of squared weights, >= 0.
        non_negative: no weight below 0, as in the paper. Without it items that share no user
            with j are candidates too (negative weights), which costs a walk over all items.
        neighbours: only so many items with the greatest cosine to j may have a weight (the paper's
            fsSLIM), and all that tie with the last of them; items with the same users count as
            one. None for all.
        max_iter: cycles of coordinate descent for a column, at most; a warning says where they
            were too few.
        tolerance: a column is done when no weight would move by more than this.
    """

    l1_reg: float = 1.0
    l2_reg: float = 30.0
    non_negative: bool = True
    neighbours: int | None = None
    max_iter: int = 1000
    tolerance: float = 1e-4

    search_space: ClassVar[Mapping[str, Any]] = {
        "l1_reg": {"low": 0.1, "high": 100.0, "log": True},
        "l2_reg": {"low": 0.1, "high": 1000.0, "log": True},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("l1_reg", "l2_reg"):
            value = getattr(self, name)
            if not 0 <= value < np.inf:
                raise SpecError(f"SLIM: {name} must be >= 0 and finite, got {value!r}")
        if not 0 < self.tolerance < np.inf:
            raise SpecError(f"SLIM: tolerance must be > 0, got {self.tolerance!r}")
        if self.max_iter < 1:
            raise SpecError(f"SLIM: max_iter must be >= 1, got {self.max_iter!r}")
        if self.neighbours is not None and self.neighbours < 1:
            raise SpecError(f"SLIM: neighbours must be >= 1 or None, got {self.neighbours!r}")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        matrix = train.csr("binary")
        distinct, group = np.unique(first_twins(matrix), return_inverse=True)
        by_user = matrix if len(distinct) == train.n_items else matrix[:, distinct]
        by_column = self._columns(by_user, np.bincount(group))
        if len(distinct) < train.n_items:
            by_column = _shared_out(by_column, group)
        self.weights_ = transpose(by_column)
        """Float32 CSR: row i holds w_ij for the items j that i speaks for."""

    def _columns(self, by_user: csr_matrix, sizes: NDArray[np.int64]) -> csr_matrix:
        """Row j: the weights of column j, between distinct items that stand for ``sizes`` each."""
        from scipy.sparse import csr_matrix

        from fullrank.kernels.slim import solve_items

        gram, n = _gram(by_user), by_user.shape[1]
        squares = np.diff(gram[3][0]).astype(np.float64)
        rule = (
            float(self.l1_reg), float(self.l2_reg), self.non_negative, self.neighbours or 0,
            self.max_iter, float(self.tolerance),
        )  # fmt: skip
        parts = run_chunks(
            lambda start, stop: solve_items(start, stop, gram, squares, sizes, rule), n, _CHUNK
        )
        failed = sum(part[3] for part in parts)
        if failed:
            warnings.warn(
                f"SLIM: {failed:,} of {n:,} columns still moved by more than "
                f"tolerance={self.tolerance:g} after max_iter={self.max_iter} cycles; raise "
                "max_iter, or l2_reg",
                RuntimeWarning,
                stacklevel=4,
            )
        counts, found, values = (np.concatenate([part[i] for part in parts]) for i in range(3))
        return csr_matrix((values, found, as_indptr(counts)), shape=(n, n))


def _gram(by_user: csr_matrix) -> Gram:
    """Rows of the Gram matrix, those of the most popular items first, as many as are stored."""
    from fullrank.kernels.slim import gram_rows

    rows, columns = pattern(turned(by_user)), pattern(by_user)
    n = by_user.shape[1]
    most = np.minimum(_met(rows, np.diff(columns[0])), n)
    order = np.argsort(-np.diff(rows[0]), kind="stable")
    chosen = np.sort(order[np.cumsum(most[order]) <= _STORED]).astype(np.int32)
    parts = run_chunks(
        lambda start, stop: gram_rows(start, stop, chosen, rows, columns), len(chosen), _CHUNK
    )
    counts: NDArray[np.int64] = np.zeros(n, dtype=np.int64)
    if not parts:
        return as_indptr(counts), np.zeros(0, np.uint32), np.zeros(0, np.float32), rows, columns
    lengths, others, shared = (np.concatenate(part) for part in zip(*parts, strict=True))
    counts[chosen] = lengths
    return as_indptr(counts), others, shared, rows, columns


def _met(
    rows: tuple[NDArray[np.int64], NDArray[np.int32]], lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Rows of the users of each item, in sum: what a walk over them costs."""
    ends = np.concatenate([[0], np.cumsum(lengths[rows[1]])])
    return np.asarray(np.diff(ends[rows[0]]))


def _shared_out(by_column: csr_matrix, group: NDArray[np.int64]) -> csr_matrix:
    """Weights between distinct items, as weights between all: each of a group gets its part."""
    from scipy.sparse import csr_matrix

    sizes = np.bincount(group)
    rows = np.repeat(np.arange(len(sizes)), np.diff(by_column.indptr))
    others = sizes[by_column.indices] - (rows == by_column.indices)
    data = (by_column.data.astype(np.float64) / others).astype(np.float32)
    parts = (data, by_column.indices, by_column.indptr)
    coo = csr_matrix(parts, shape=by_column.shape)[group][:, group].tocoo()
    kept = coo.row != coo.col
    cells = (coo.data[kept], (coo.row[kept], coo.col[kept]))
    return csr_matrix(cells, shape=(len(group), len(group)))
