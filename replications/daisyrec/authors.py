"""Models as the code that made the published tables has them, where ours differ.

Settings are the authors'. These are for comparison with their numbers and for nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, seed_of
from fullrank.models import Monitor, Recommender

_BLOCK = 500


@dataclass(eq=False)
class ShrunkItemKNN(Recommender):
    """Item neighbours by ``shared users / (norm_i norm_j + shrinkage)``.

    Ours multiplies the cosine by ``n / (n + shrinkage)`` instead.
    """

    neighbours: int = 100
    shrinkage: float = 100.0

    folds_in: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("weights_",)

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        users = train.csr("binary").astype(np.float32)
        norms = np.sqrt(np.bincount(users.indices, minlength=train.n_items)).astype(np.float32)
        starts = range(0, train.n_items, _BLOCK)
        self.weights_ = vstack([self._block(users, norms, start) for start in starts]).T.tocsr()

    def _block(self, users: csr_matrix, norms: NDArray[np.float32], start: int) -> csr_matrix:
        """Rows from ``start``: the greatest similarities to each of these items."""
        block = np.arange(start, min(start + _BLOCK, users.shape[1]))
        shared = (users[:, block].T @ users).toarray()
        shared[block - start, block] = 0.0
        similar = shared / (np.outer(norms[block], norms) + np.float32(self.shrinkage + 1e-6))
        k = min(self.neighbours, len(norms))
        nearest = np.argpartition(-similar, k - 1, axis=1)[:, :k]
        kept = np.zeros_like(similar)
        np.put_along_axis(kept, nearest, np.take_along_axis(similar, nearest, axis=1), axis=1)
        return csr_matrix(kept)

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        return np.asarray((queries.history_csr() @ self.weights_).toarray(), np.float32)


@dataclass(eq=False)
class UserRowSVD(Recommender):
    """``U S V'`` of scikit-learn's randomised decomposition, by the user's row of U.

    Rows of users without history are not zero but rounding errors of about 1e-14, and these order
    such a user's items. Ours projects the history, which is none.
    """

    embedding_dim: int = 39

    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("rows_", "columns_")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        from sklearn.utils.extmath import randomized_svd

        matrix = train.csr("binary").astype(np.float64)
        seed = 2019  # the authors'
        left, values, right = randomized_svd(matrix, self.embedding_dim, random_state=seed)
        self.rows_, self.columns_ = left, values[:, None] * right

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        return np.asarray(self.rows_[queries.users] @ self.columns_, np.float32)


@dataclass(eq=False)
class StaticBPR(Recommender):
    """BPR by plain steps on negatives that are drawn once, before the first of 50 epochs.

    With ``biases`` it is their FM: without history a user's factors stay at their start (normal,
    0.01), so that item biases decide, which is popularity. Without, it is their MF: such a start
    points to popular items for half of the users, and away from them for the other half. Their
    penalty, the length of the whole table times at most 0.01 in each batch, moves next to nothing
    and is left out; a batch's steps are taken one by one.
    """

    embedding_dim: int = 22
    learning_rate: float = 4e-4
    negatives_per_positive: int = 3
    biases: bool = False
    epochs: int = 50

    seeded: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("rows_", "columns_", "biases_")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        source = np.random.default_rng(seed_of(rng))
        matrix = train.csr("binary").sorted_indices()
        indptr, items = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        users = np.repeat(np.arange(train.n_users), np.diff(indptr))
        draws = _unseen(
            users, indptr, items, train.n_items, self.negatives_per_positive, seed_of(rng)
        )
        size = self.embedding_dim
        self.rows_ = source.normal(0.0, 0.01, (train.n_users, size))
        self.columns_ = source.normal(0.0, 0.01, (train.n_items, size))
        self.biases_ = np.zeros(train.n_items)
        tables = (self.rows_, self.columns_, self.biases_)
        for _ in range(self.epochs):
            order = source.permutation(draws.size)
            _descend(order, users, items, draws, *tables, self.learning_rate, self.biases)

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        found = self.rows_[queries.users] @ self.columns_.T + self.biases_
        return np.asarray(found, np.float32)


@numba.njit(cache=False)
def _unseen(users, indptr, items, n_items, m, seed):  # type: ignore[no-untyped-def]
    """``m`` items for each positive that its user does not have: ``[n, m]``."""
    np.random.seed(seed)  # noqa: NPY002 - the only generator inside a kernel
    out = np.empty((len(users), m), np.int64)
    for row in range(len(users)):
        mine = items[indptr[users[row]] : indptr[users[row] + 1]]
        for place in range(m):
            while True:
                item = np.random.randint(0, n_items)  # noqa: NPY002
                at = np.searchsorted(mine, item)
                if at == len(mine) or mine[at] != item:
                    break
            out[row, place] = item
    return out


@numba.njit(cache=False, fastmath=True)
def _descend(order, users, items, draws, rows, columns, biases, rate, biased):  # type: ignore[no-untyped-def]
    """A step for each pair of a positive and one of its negatives."""
    m, size = draws.shape[1], rows.shape[1]
    for pair in order:
        u, i, j = users[pair // m], items[pair // m], draws[pair // m, pair % m]
        x = biases[i] - biases[j]
        for d in range(size):
            x += rows[u, d] * (columns[i, d] - columns[j, d])
        step = rate / (1.0 + np.exp(x))
        for d in range(size):
            mine, apart = rows[u, d], columns[i, d] - columns[j, d]
            rows[u, d] += step * apart
            columns[i, d] += step * mine
            columns[j, d] -= step * mine
        if biased:
            biases[i] += step
            biases[j] -= step
