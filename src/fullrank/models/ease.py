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

_TILE, _BLOCK = 256, 512


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

    version: ClassVar[int] = 2  # 1 inverted by LAPACK: the last bits of the weights differ
    folds_in: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("weights_", "places_")
    search_space: ClassVar[Mapping[str, Any]] = {"reg": {"low": 1.0, "high": 1e4, "log": True}}

    def __post_init__(self) -> None:
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
    """XᵀX, dense float64: whole counts, so exact."""
    from fullrank.kernels.together import count_together

    n = users.shape[1]
    head, rows, columns = split_popular(users, turned(users))
    out = np.zeros((n, n))
    run_chunks(lambda start, stop: count_together(start, stop, rows, columns, head, out), n, 64)
    return out


def _negative_inverse(gram: NDArray[np.float64], reg: float) -> NDArray[np.float64]:
    """``-(gram + reg I)^-1`` in the place of ``gram`` (upper triangle), in threads.

    Gauss and Jordan's elimination without pivots, which a positive definite matrix doesn't need
    (Higham 2002, "Accuracy and stability of numerical algorithms", section 14.4), on tiles: as many
    operations as Cholesky and LAPACK's potri, nearly all in products of whole tiles, whose order
    is the same for any number of threads. With S = A_kk^-1, the k-th step is

        A_ij -= A_ik S A_kj,  A_ik = A_ik S,  A_kk = -S
    """
    gram.flat[:: len(gram) + 1] += reg
    with one_blas_thread():
        for start in range(0, len(gram), _TILE):
            _eliminate(gram, slice(start, min(start + _TILE, len(gram))), reg)
    return gram


def _eliminate(A: NDArray[np.float64], part: slice, reg: float) -> None:
    """One step, for the rows and columns of ``part``."""
    from scipy.linalg.lapack import dpotrf, dpotri

    from fullrank.kernels.sweep import subtract_products

    factor, failed = dpotrf(A[part, part].T, lower=1)
    if failed:
        raise SpecError(
            f"EASE: the Gram matrix with reg={reg:g} is not positive definite in float64; raise reg"
        )
    inverse, _ = dpotri(factor, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    column = np.concatenate([A[: part.start, part], A[part, part.start :].T])
    scaled = np.empty_like(column)

    def scale(start: int, stop: int) -> None:
        np.dot(column[start:stop], inverse, out=scaled[start:stop])

    run_chunks(scale, len(A), _TILE)
    n_tiles, done = -(-len(A) // _TILE), (part.start, part.stop)
    run_chunks(lambda i, j: subtract_products(i, j, scaled, column, _TILE, done, A), n_tiles, 1)
    A[: part.start, part] = scaled[: part.start]
    A[part, part.stop :] = scaled[part.stop :].T
    A[part, part] = -inverse


def _weights(inverse: NDArray[np.float64]) -> NDArray[np.float32]:
    """B of the upper triangle of -P, block by block."""
    n = len(inverse)
    diagonal = -inverse.diagonal()
    out = np.empty((n, n), dtype=np.float32)

    def fill(start: int, stop: int) -> None:
        part = slice(start, stop)
        out[part, start:] = inverse[part, start:] / diagonal[start:]
        for row in range(start, n, _BLOCK):
            below = slice(row, min(row + _BLOCK, n))
            out[below, part] = inverse[part, below].T / diagonal[part]
        square = np.triu(inverse[part, part], 1)
        out[part, part] = (square + square.T) / diagonal[part]

    run_chunks(fill, n, _BLOCK)
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
