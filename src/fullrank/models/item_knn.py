"""ItemKNN: recommend what is similar to the history, item by item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.core.ragged import as_indptr
from fullrank.core.random import RNG
from fullrank.models._base import Monitor
from fullrank.models._item_weights import ItemWeights
from fullrank.models._pattern import turned
from fullrank.models._similarity import Similarity, Weighting, cells, check_settings
from fullrank.models._sparse import row_sums, transpose, triple
from fullrank.models._threads import run_chunks
from fullrank.models._together import together

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from fullrank.models._together import Task

_CHUNK = 256


@dataclass(eq=False)
class ItemKNN(ItemWeights):
    """Score item i by ``sum of s_ij`` over the items j of the history among its neighbours.

    Sarwar et al. 2001, "Item-based collaborative filtering", as used for top-n lists by Deshpande
    & Karypis 2004. The neighbours of i are the ``neighbours`` other items with the greatest
    positive similarity ``s_ij``, and all that tie with the last of them: so neither row order nor
    ids decide, and items with the same users get the same scores. Similarities are those of
    ``Weighting`` (items compared by their users), times ``n / (n + shrinkage)`` with n the number
    of shared users (Bell & Koren 2007), and are kept as float32.

    Histories count as sets. Scores are 0 without a history, and for items without neighbours in
    it. Only sparse arrays are made: one dense row of items a thread beside the neighbours, and
    bits of the users of the most popular items, no larger than the training rows.

    Attributes:
        similarity: ``cosine``, ``adjusted_cosine`` (needs values), ``jaccard``, ``tfidf``,
            ``bm25``.
        neighbours: neighbours kept for each item.
        shrinkage: distrust of similarities from few users, in users.
        normalise: divide by the sum of the item's similarities, which favours rare items.
    """

    similarity: Similarity = "cosine"
    neighbours: int = 100
    shrinkage: float = 0.0
    normalise: bool = False

    version: ClassVar[int] = 2  # 1 summed in another order: last bits of all but cosine and jaccard
    complexity: ClassVar[str] = "sum over users of |S_u|²"
    search_space: ClassVar[Mapping[str, Any]] = {
        "similarity": ["cosine", "jaccard", "tfidf", "bm25"],
        "neighbours": {"low": 10, "high": 1000, "log": True},
        "shrinkage": {"low": 0.1, "high": 1000.0, "log": True},
        "normalise": [False, True],
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_settings("ItemKNN", self.similarity, self.neighbours, self.shrinkage)

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        by_user = cells(train, self.similarity, "ItemKNN")
        by_item = (transpose if self.similarity == "adjusted_cosine" else turned)(by_user)
        near = self._nearest(by_user, by_item)
        near.sort_indices()
        if self.normalise:
            sums = row_sums(near, near.data.astype(np.float64))
            near.data = (near.data / np.repeat(sums, np.diff(near.indptr))).astype(np.float32)
        self.weights_ = transpose(near)
        """Float32 CSR: row j holds s_ij for the items i that have j as neighbour."""

    def _nearest(self, by_user: csr_matrix, by_item: csr_matrix) -> csr_matrix:
        """Row i: similarities to the neighbours of item i."""
        from scipy.sparse import csr_matrix

        n = by_item.shape[0]
        weighting = Weighting.of(by_item, self.similarity)
        sums = weighting.sums(by_item)
        counted = self.similarity in ("cosine", "jaccard")
        if sums is not None and (counted or self.shrinkage == 0):
            weights, scales, norms = sums
            rule = (self.neighbours, float(self.shrinkage), self.similarity == "jaccard")
            task = together(by_user, by_item, weights, (scales, norms), rule, counted=counted)
        else:
            task = self._by_cells(*weighting.apply(by_item))
        counts, found, values = (np.concatenate(part) for part in zip(*run_chunks(task, n, _CHUNK)))
        return csr_matrix((values, found, as_indptr(counts)), shape=(n, n))

    def _by_cells(self, rows: csr_matrix, norms: NDArray[np.float64]) -> Task:
        """Neighbours where each cell has a weight of its own, or shared users are to be counted."""
        from fullrank.kernels.neighbours import nearest

        by_item, by_user = triple(rows), triple(transpose(rows))
        rest = (self.neighbours, float(self.shrinkage), self.similarity == "jaccard")
        return lambda start, stop: nearest(start, stop, by_item, by_user, norms, *rest)
