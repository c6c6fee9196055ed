"""Canonical scores of (query, candidate) pairs, without touching the rest of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fullrank.core.queries import Queries
from fullrank.models._base import Recommender
from fullrank.rank._blocks import check_scores
from fullrank.rank._factors import LARGEST_PRODUCT, rounding_error

WHOLE = 1 << 27
"""Bytes of whole rows that a block of queries keeps, for models that score nothing but rows."""

_ROWS = 256  # scored in one call


@dataclass(frozen=True, eq=False)
class PairScores:
    """How a model's pairs are scored: from factors, one row for all, or by ``score_pairs``.

    Attributes:
        model: a fitted recommender.
        factors: float32 ``[n_items, d]`` on the grid, or None.
        largest: the largest norm of a row of factors.
        shared: float32 ``[n_items]``, or None.
    """

    model: Recommender
    factors: NDArray[np.float32] | None = None
    largest: float = 0.0
    shared: NDArray[np.float32] | None = None

    @classmethod
    def of(cls, model: Recommender) -> PairScores:
        """Look for the quickest way to the same scores."""
        ways = model.ways()
        if not ways or model._place("score_pairs") < model._place(ways[0]):
            return cls(model)
        if ways[0] == "shared_scores":
            return cls(model, shared=model.shared_scores())
        factors = model.item_factors() if ways[0] == "item_factors" else None
        if factors is None:
            return cls(model)
        lengths = _lengths(factors)
        largest = float(lengths.max(initial=0.0))
        if not largest < LARGEST_PRODUCT:  # NaN too: let the scores be checked
            return cls(model)
        return cls(model, factors=on_grid(factors), largest=largest)

    def bind(self, queries: Queries) -> BlockScores:
        """Scores of a block of queries."""
        queries = queries.without_targets()  # not even by mistake
        if self.factors is None:
            return BlockScores(self, queries)
        mine = self.model.query_factors(queries)
        shape = (len(queries), self.factors.shape[1])
        check_scores(self.model, mine, shape, "query_factors")
        assert mine is not None
        lengths = _lengths(mine)
        if not bool((lengths * max(self.largest, 1.0) < LARGEST_PRODUCT).all()):
            return BlockScores(PairScores(self.model), queries)
        error = rounding_error(shape[1], lengths, self.largest)
        return BlockScores(self, queries, (on_grid(mine), error, self.factors))


@dataclass(frozen=True, eq=False)
class BlockScores:
    """Scores of a block of queries.

    Attributes:
        source: how pairs are scored.
        queries: without targets.
        product: of factors, where there are any: float32 ``[q, d]`` on the grid, float64 ``[q]``
            (how far a float32 score may be from the canonical one), and the items' factors.
    """

    source: PairScores
    queries: Queries
    product: tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.float32]] | None = None
    kept: list[_Rows] = field(default_factory=list)

    def __call__(
        self, rows: NDArray[np.int64], indptr: NDArray[np.int64], items: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """Scores ``[n]`` of the items that ``indptr`` gives to each of some rows."""
        source = self.source
        if source.shared is not None:
            return source.shared[items]
        if self.product is not None:
            from fullrank.kernels.candidates import pair_products

            mine, _, factors = self.product
            out = np.empty(len(items), np.float32)
            pair_products(indptr, items, mine[rows], factors, out)
            return out
        if 4 * len(self.queries) * self.queries.n_items <= WHOLE and source.model.scores_rows():
            if not self.kept:
                self.kept.append(_Rows.of(source.model, self.queries))
            return self.kept[0](rows, indptr, items)
        queries = self.queries if len(rows) == len(self.queries) else self.queries[rows]
        # Copies: what a model does to them is nothing that ranks go on with.
        scores = source.model.pair_scorer()(queries, indptr.copy(), items.copy())
        check_scores(source.model, scores, (len(items),), "score_pairs")
        return scores


@dataclass(frozen=True, eq=False)
class _Rows:
    """Whole rows of scores, made when first asked for and kept: stages ask again and again.

    Attributes:
        model: that scores nothing but rows.
        queries: a block.
        scores: float32 ``[q, n_items]``.
        done: bool ``[q]``.
    """

    model: Recommender
    queries: Queries
    scores: NDArray[np.float32]
    done: NDArray[np.bool_]

    @classmethod
    def of(cls, model: Recommender, queries: Queries) -> _Rows:
        """No row is made yet."""
        shape = (len(queries), queries.n_items)
        return cls(model, queries, np.empty(shape, np.float32), np.zeros(shape[0], dtype=bool))

    def __call__(
        self, rows: NDArray[np.int64], indptr: NDArray[np.int64], items: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """Scores ``[n]`` of the items that ``indptr`` gives to each of some rows."""
        new = rows[(np.diff(indptr) > 0) & ~self.done[rows]]
        for at in range(0, len(new), _ROWS):
            some = new[at : at + _ROWS]
            made = self.model.score(self.queries[some])
            check_scores(self.model, made, (len(some), self.queries.n_items), "score")
            self.scores[some] = made
        self.done[new] = True
        return self.scores[np.repeat(rows, np.diff(indptr)), items]


def on_grid(factors: NDArray[np.float32]) -> NDArray[np.float32]:
    """A copy of factors, rounded to the grid on which products are exact."""
    from fullrank.kernels.grid import to_grid

    given = np.ascontiguousarray(factors, dtype=np.float32)
    out = np.empty_like(given)
    to_grid(given, out)
    return out


def _lengths(factors: NDArray[np.float32]) -> NDArray[np.float64]:
    from fullrank.kernels.grid import norms

    out = np.empty(len(factors))
    norms(np.ascontiguousarray(factors), out)
    return out
