"""Canonical scores of (query, candidate) pairs, without touching the rest of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.queries import Queries
from fullrank.models._base import Recommender
from fullrank.rank._blocks import check_scores


@dataclass(frozen=True, eq=False)
class PairScores:
    """Scores pairs by what a model shows: factors, one row for all, or ``score_pairs``.

    Attributes:
        model: a fitted recommender.
        factors: float32 ``[n_items, d]`` on the grid, or None.
        shared: float32 ``[n_items]``, or None.
    """

    model: Recommender
    factors: NDArray[np.float32] | None = None
    shared: NDArray[np.float32] | None = None

    @classmethod
    def of(cls, model: Recommender) -> PairScores:
        """Look for the quickest way to the same scores."""
        ways = model.ways()
        own = model._place("score_pairs") < min(model._place(w) for w in ways) if ways else True
        if own:
            return cls(model)
        if ways[0] == "shared_scores":
            return cls(model, shared=model.shared_scores())
        factors = model.item_factors() if ways[0] == "item_factors" else None
        if factors is None:
            return cls(model)
        return cls(model, factors=on_grid(factors))

    def __call__(
        self, queries: Queries, indptr: NDArray[np.int64], items: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """Scores ``[n]`` of the items that ``indptr [q + 1]`` gives to each query."""
        queries = queries.without_targets()  # not even by mistake
        if self.shared is not None:
            return self.shared[items]
        if self.factors is not None:
            mine = self.model.query_factors(queries)
            shape = (len(queries), self.factors.shape[1])
            check_scores(self.model, mine, shape, "query_factors")
            assert mine is not None
            from fullrank.kernels.candidates import pair_products

            out = np.empty(len(items), np.float32)
            pair_products(indptr, items, on_grid(mine), self.factors, out)
            return out
        scores = self.model.score_pairs(queries, indptr, items)
        check_scores(self.model, scores, (len(items),), "score_pairs")
        return scores


def on_grid(factors: NDArray[np.float32]) -> NDArray[np.float32]:
    """A copy of factors, rounded to the grid on which products are exact."""
    from fullrank.kernels.grid import to_grid

    out = np.array(factors, dtype=np.float32, order="C")
    to_grid(out, out)
    return out
