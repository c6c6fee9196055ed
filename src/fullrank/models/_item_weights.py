"""What models share that score by a sparse matrix of weights between items."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.queries import Queries
from fullrank.models._base import Recommender
from fullrank.models._sparse import triple

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class ItemWeights(Recommender):
    """Base of those: the score of item i is the sum of ``w_ji`` over the items j of the history."""

    weights_: csr_matrix
    """Float32 CSR ``[n_items, n_items]``, set by the fit: row j holds w_ji."""

    folds_in: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("weights_",)

    def sparse_product(self, queries: Queries) -> tuple[csr_matrix, csr_matrix]:
        """Histories as sets, and the weights."""
        self.check(queries)
        return queries.history_csr(), self.weights_

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        from fullrank.kernels.history_sums import sum_sparse_rows

        indptr, items, _ = triple(queries.history_csr())
        out = np.empty((len(queries), queries.n_items), dtype=np.float32)
        sum_sparse_rows(indptr, items, triple(self.weights_, np.float32), out)
        return out

    def score_pairs(
        self, queries: Queries, indptr: NDArray[np.int64], candidates: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """Score each query's own candidates, without rows of all items."""
        from fullrank.kernels.history_sums import sum_sparse_pairs

        self.check(queries)
        rows, items, _ = triple(queries.history_csr())
        out = np.empty(len(candidates), dtype=np.float32)
        weights = triple(self.weights_, np.float32)
        sum_sparse_pairs(rows, items, weights, queries.n_items, indptr, candidates, out)
        return out
