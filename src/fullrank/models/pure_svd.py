"""PureSVD: project the history on the leading directions of the training matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, uniform_elements
from fullrank.models._base import Monitor, Recommender
from fullrank.models._pattern import Pattern, pattern, turned
from fullrank.models._sparse import first_twins, triple
from fullrank.models._threads import one_blas_thread, run_chunks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import LinearOperator

_CHUNK = 2048
_ROWS = 8192

# Up to here the dense decomposition is as fast, and it knows no start vector.
_DENSE_SIDE = 256


@dataclass(eq=False)
class PureSVD(Recommender):
    """Score by ``x_u V Vᵀ``, V the leading right singular vectors of the binary training matrix.

    Cremonesi, Koren & Turrin 2010, "Performance of recommender algorithms on top-n recommendation
    tasks", section 3.2.2. Missing cells are zeros. Vectors come from ARPACK, started from a fixed
    vector (from LAPACK where a side of the matrix is small), on one BLAS thread, so that the fit
    draws nothing. The sign of each is set so that its largest entry is positive. Items with the
    same users get the same factors, so that they tie.

    A history is folded in as ``x_u V``; without one all scores are 0, as they are for items without
    training rows. Directions beyond the rank of the matrix are arbitrary, and are left out: there
    are then fewer than ``embedding_dim``.

    Attributes:
        embedding_dim: number of singular vectors.
    """

    embedding_dim: int = 64

    version: ClassVar[int] = 3  # 1 and 2 left more to SciPy: the last bits of factors differ
    folds_in: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("item_factors_", "singular_values_")
    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": {"low": 8, "high": 256, "log": True}
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.embedding_dim < 1:
            raise SpecError(f"PureSVD: embedding_dim must be >= 1, got {self.embedding_dim!r}")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        matrix = train.csr("binary")
        if not (self.known_users_.all() and self.known_items_.all()):
            matrix = matrix[self.known_users_][:, self.known_items_]
        with one_blas_thread():
            values, vectors = _singular(matrix, self.embedding_dim)
        largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))]
        vectors = (vectors * np.where(largest < 0, -1.0, 1.0))[first_twins(matrix)]
        self.singular_values_ = values
        self.item_factors_ = np.zeros((train.n_items, len(values)), dtype=np.float32)
        self.item_factors_[self.known_items_] = vectors

    def item_factors(self) -> NDArray[np.float32]:
        """V, float32 ``[n_items, d]``."""
        self._require_fitted()
        return self.item_factors_

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        """``x_u V``, float32 ``[q, d]``."""
        from fullrank.kernels.history_sums import sum_dense_rows

        self.check(queries)
        indptr, items, _ = triple(queries.history_csr())
        out = np.empty((len(queries), self.item_factors_.shape[1]), dtype=np.float32)
        sum_dense_rows(indptr, items, self.item_factors_, out)
        return out


def _singular(matrix: csr_matrix, d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leading positive singular values, descending, and right vectors ``[n_items, d]``."""
    side = min(matrix.shape)
    if side <= _DENSE_SIDE or d >= side:
        _, values, right = np.linalg.svd(matrix.toarray().astype(np.float64), full_matrices=False)
    else:
        values, right = _leading(matrix, d)
    order = np.argsort(-values, kind="stable")[:d]
    # The rank as numpy.linalg.matrix_rank counts it.
    order = order[values[order] > values.max() * max(matrix.shape) * np.finfo(float).eps]
    return values[order], right[order].T


def _leading(matrix: csr_matrix, d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``d`` singular values and right vectors ``[d, n_items]`` of a large matrix.

    Eigenvectors of the smaller of ``X'X`` and ``XX'`` span the leading directions; what the other
    side makes of them is decomposed for values as accurate as those of a dense decomposition.
    """
    from scipy.sparse.linalg import eigsh

    start = uniform_elements(0, np.arange(min(matrix.shape))) - 0.5
    by_user, by_item = pattern(matrix), pattern(turned(matrix))
    tall = matrix.shape[0] >= matrix.shape[1]
    first, second = (by_user, by_item) if tall else (by_item, by_user)
    _, basis = eigsh(_square(first, second), k=d, v0=start, tol=0.0)
    if tall:
        _, values, inner = np.linalg.svd(_triangle(matrix, basis))
        return values, inner @ basis.T
    turned_basis = np.stack([_times(by_item, column) for column in basis.T])
    _, values, right = np.linalg.svd(turned_basis, full_matrices=False)
    return values, right


def _triangle(matrix: csr_matrix, basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """``R`` of the QR decomposition of ``X basis``, some rows at a time."""
    out: NDArray[np.float64] = np.zeros((0, basis.shape[1]))
    for start in range(0, matrix.shape[0], _ROWS):
        rows = matrix[start : start + _ROWS].astype(np.float64) @ basis
        out = np.asarray(np.linalg.qr(np.concatenate([out, rows]), mode="r"))
    return out


def _square(first: Pattern, second: Pattern) -> LinearOperator:
    """Products with ``X'X``, or ``XX'``, of the binary matrix, in threads."""
    from scipy.sparse.linalg import LinearOperator

    side = len(second[0]) - 1
    return LinearOperator(
        (side, side), matvec=lambda x: _times(second, _times(first, x)), dtype=np.float64
    )


def _times(rows: Pattern, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Product of a binary matrix, given by its pattern, with a vector."""
    from fullrank.kernels.gathered import sum_gathered

    indptr, indices = rows
    out = np.empty(len(indptr) - 1)
    x = np.ascontiguousarray(x, dtype=np.float64).ravel()
    run_chunks(lambda i, j: sum_gathered(i, j, indptr, indices, x, out), len(out), _CHUNK)
    return out
