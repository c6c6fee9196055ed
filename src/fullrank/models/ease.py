"""EASE: a linear item-item model in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG
from fullrank.models._base import Monitor, Recommender
from fullrank.models._memory import require_memory
from fullrank.models._pattern import turned
from fullrank.models._sparse import first_twins, triple
from fullrank.models._threads import one_blas_thread, run_chunks
from fullrank.models._together import split_popular

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Measured at 3,706 items: wider panels spend longer on squares, narrower ones on passes. Rows of a
# task divide a panel, so that none is half inside it.
_PANEL, _ROWS = 384, 192


@dataclass(eq=False)
class EASE(Recommender):
    """Score by ``x_u B``, where B reconstructs the training matrix with a zero diagonal.

    Minimises ``|X - X B|^2 + reg |B|^2`` subject to ``diag(B) = 0`` for binary X: with
    ``P = (XᵀX + reg I)^-1``, ``B_ij = -P_ij / P_jj`` (Steck 2019, "Embarrassingly shallow
    autoencoders for sparse data", equation 8). Computed in float64, kept as float32. Items with the
    same users get the same column, so that they tie.

    Histories count as sets. Without a history, and for items without training rows, scores are 0.
    The Gram matrix of the items with rows is dense: 12 bytes for each pair of items, refused where
    the memory doesn't allow it.

    Attributes:
        reg: L2 regularisation, > 0; grows with the number of users.
    """

    reg: float = 500.0

    version: ClassVar[int] = 3  # 1 inverted by LAPACK, 2 by tiles: the last bits of weights differ
    folds_in: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("weights_", "places_")
    complexity: ClassVar[str] = "n³ + sum over users of |S_u|²"
    search_space: ClassVar[Mapping[str, Any]] = {"reg": {"low": 1.0, "high": 1e4, "log": True}}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.reg > 0:
            raise SpecError(f"EASE: reg must be > 0, got {self.reg!r}")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        known = np.flatnonzero(self.known_items_)
        check_memory(len(known))
        self.places_ = np.full(train.n_items, -1, dtype=np.int32)
        self.places_[known] = np.arange(len(known), dtype=np.int32)
        users = train.csr("binary")[:, known]
        self.weights_ = _weights(_negative_inverse(_gram(users), float(self.reg)))
        _tie(self.weights_, first_twins(users))

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        from fullrank.kernels.history_sums import sum_dense_rows

        indptr, items, _ = triple(queries.history_csr())
        scores = np.empty((len(queries), len(self.weights_)), dtype=np.float32)
        sum_dense_rows(indptr, self.places_[items], self.weights_, scores)
        if len(self.weights_) == queries.n_items:
            return scores
        out = np.zeros((len(queries), queries.n_items), dtype=np.float32)
        out[:, self.places_ >= 0] = scores
        return out

    def score_pairs(
        self, queries: Queries, indptr: NDArray[np.int64], candidates: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """Score each query's own candidates, without a row of all items."""
        from fullrank.kernels.history_sums import sum_dense_pairs

        self.check(queries)
        rows, items, _ = triple(queries.history_csr())
        out = np.empty(len(candidates), dtype=np.float32)
        places = self.places_
        sum_dense_pairs(rows, places[items], self.weights_, indptr, places[candidates], out)
        return out


def check_memory(n_items: int) -> None:
    """Refuse a catalogue whose Gram matrix (float64) and weights (float32) would not fit.

    Raises:
        TooLargeError: with the figures and the alternatives.
    """
    require_memory(
        12 * n_items * n_items,
        f"EASE on {n_items:,} items (a dense items × items matrix and its weights)",
        "take ItemKNN or IALS, which stay sparse, or filter the catalogue to fewer items",
    )


def _gram(users: csr_matrix) -> NDArray[np.float64]:
    """XᵀX (upper triangle alone), dense float64: whole counts, so exact."""
    from fullrank.kernels.together import count_together

    n = users.shape[1]
    head, rows, columns = split_popular(users, turned(users))
    out = np.zeros((n, n))
    run_chunks(lambda start, stop: count_together(start, stop, rows, columns, head, out), n, 64)
    return out


def _negative_inverse(gram: NDArray[np.float64], reg: float) -> NDArray[np.float64]:
    """``-(gram + reg I)^-1`` in the place of ``gram`` (upper triangle alone), in threads.

    Gauss and Jordan's elimination without pivots, which a positive definite matrix doesn't need
    (Higham 2002, "Accuracy and stability of numerical algorithms", section 14.4), by panels: as
    many operations as Cholesky and LAPACK's potri, nearly all in products of fixed parts, the same
    for any number of threads. With S = A_kk^-1, the k-th step is

        A_ij -= A_ik S A_kj,  A_ik = A_ik S,  A_kk = -S
    """
    n = len(gram)
    gram.flat[:: n + 1] += reg
    column, scaled = np.empty((2, n * min(_PANEL, n)))
    with one_blas_thread():
        for start in range(0, n, _PANEL):
            part = (start, min(start + _PANEL, n))
            k = part[1] - start
            panels = (column[: n * k].reshape(n, k), scaled[: n * k].reshape(n, k))
            _eliminate(gram, part, reg, panels)
    return gram


def _eliminate(
    A: NDArray[np.float64],
    part: tuple[int, int],
    reg: float,
    panels: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> None:
    """One step, for the rows and columns of ``part``; ``panels`` are overwritten."""
    from scipy.linalg.lapack import dpotrf, dpotri

    from fullrank.kernels.sweep import eliminate_rows, scale_panel

    square = slice(*part)
    factor, failed = dpotrf(A[square, square].T, lower=1)
    if failed:
        raise SpecError(
            f"EASE: the Gram matrix with reg={reg:g} is not positive definite in float64; raise reg"
        )
    half, _ = dpotri(factor, lower=1)
    inverse = np.ascontiguousarray(np.tril(half) + np.tril(half, -1).T)
    run_chunks(lambda i, j: scale_panel(i, j, A, part, inverse, *panels), len(A), _ROWS)
    run_chunks(lambda i, j: eliminate_rows(i, j, A, part, inverse, *panels), len(A), _ROWS)


def _weights(inverse: NDArray[np.float64]) -> NDArray[np.float32]:
    """B of the upper triangle of -P."""
    from fullrank.kernels.sweep import divide_columns

    out = np.empty(inverse.shape, dtype=np.float32)
    run_chunks(lambda start, stop: divide_columns(start, stop, inverse, out), len(out), _ROWS)
    return out


def _tie(weights: NDArray[np.float32], first: NDArray[np.int64]) -> None:
    """Give twins the column of the first of them; among themselves they share one weight."""
    order = np.argsort(first, kind="stable")
    starts = np.flatnonzero(np.append(True, first[order][1:] != first[order][:-1]))
    for group in np.split(order, starts[1:]):
        if len(group) > 1:
            shared = weights[group[1], group[0]]
            weights[:, group[1:]] = weights[:, group[:1]]
            weights[np.ix_(group, group)] = shared
            weights[group, group] = 0.0
