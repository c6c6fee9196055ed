"""UserKNN: recommend what users with a similar history have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG
from fullrank.models._base import Monitor, Recommender
from fullrank.models._similarity import Similarity, Weighting, cells, check_settings
from fullrank.models._sparse import history_values, transpose, triple


@dataclass(eq=False)
class UserKNN(Recommender):
    """Score an item by the summed similarity of the neighbours who have it.

    Herlocker et al. 1999, "An algorithmic framework for performing collaborative filtering", in the
    form for top-n lists. The neighbours of a query are the ``neighbours`` training users most
    similar to its *history*, and all that tie with the last of them. The query's own user is never
    a neighbour: their training row would be a perfect one and point at nothing but the history.
    Similarities are those of ``Weighting`` (users compared by their items; adjusted cosine takes
    off the mean of the item), times ``n / (n + shrinkage)`` with n the number of shared items.

    Histories count as sets; the value of an item is that of its last row. Without a history all
    scores are 0, and so are items that no neighbour has.

    Attributes:
        similarity: ``cosine``, ``adjusted_cosine`` (needs values), ``jaccard``, ``tfidf``,
            ``bm25``.
        neighbours: neighbours taken for each query.
        shrinkage: distrust of similarities from few items, in items.
    """

    similarity: Similarity = "cosine"
    neighbours: int = 100
    shrinkage: float = 0.0

    folds_in: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("rows_", "columns_", "norms_", "features_", "mean_count_")
    search_space: ClassVar[Mapping[str, Any]] = {
        "similarity": ["cosine", "jaccard", "tfidf", "bm25"],
        "neighbours": {"low": 10, "high": 1000, "log": True},
        "shrinkage": {"low": 0.1, "high": 1000.0, "log": True},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_settings("UserKNN", self.similarity, self.neighbours, self.shrinkage)

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        by_user = cells(train, self.similarity, "UserKNN")
        weighting = Weighting.of(by_user, self.similarity)
        self.features_, self.mean_count_ = weighting.features, weighting.mean_count
        self.rows_, self.norms_ = weighting.apply(by_user)
        self.columns_ = transpose(self.rows_)

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        from fullrank.kernels.neighbours import score_by_neighbours

        weighting = Weighting(self.similarity, self.features_, self.mean_count_)
        if self.similarity == "adjusted_cosine":
            histories = history_values(queries, "UserKNN(similarity='adjusted_cosine')")
        else:
            histories = queries.history_csr()
        weighted, norms = weighting.apply(histories)
        out = np.empty((len(queries), queries.n_items), dtype=np.float32)
        score_by_neighbours(
            triple(weighted),
            norms,
            self._own_rows(queries),
            triple(self.rows_),
            triple(self.columns_),
            self.norms_,
            self.neighbours,
            float(self.shrinkage),
            self.similarity == "jaccard",
            out,
        )
        return out

    def _own_rows(self, queries: Queries) -> NDArray[np.int64]:
        """Training row of each query's user, -1 for users outside the fitted data."""
        if queries.user_vocab == self.user_vocab_:
            return queries.users.astype(np.int64)
        return self.user_vocab_.encode(queries.user_ids).astype(np.int64)
