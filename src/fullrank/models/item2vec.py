"""Item2Vec: skip-gram vectors of items that share users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError, suggest
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, derive, hash_elements, seed_of
from fullrank.models._base import Monitor
from fullrank.models._contexts import Stepped
from fullrank.models._sparse import triple
from fullrank.models._training import Stop, train_arrays

Similarity = Literal["cosine", "dot"]
_ROWS = 1 << 18  # between two looks at Ctrl-C
_BEYOND = 1.01  # the bound itself could be met


@dataclass(eq=False)
class Item2Vec(Stepped):
    """Score by the mean similarity of an item to those of the history, from skip-gram vectors.

    Barkan & Koenigstein 2016, "Item2Vec: Neural item embedding for collaborative filtering",
    equations 3 to 5: for items i and j of one user, the loss is

        -log s(u_i · v_j) - sum_{k of the negatives} log s(-u_i · v_k)

    with the logistic s. The set of a user's items is its context, without regard to order. An
    occurrence of an item with share f of the rows is kept with probability ``sqrt(rho / f)``.

    ``similarity="cosine"`` is the paper's: the mean over the history of ``cos(u_j, u_i)``, which
    is the product of the mean of the unit vectors with an item's. ``dot`` is the mean of
    ``u_j · v_i``: the network's own prediction, given each item of the history.

    Departures: the paper pairs an item with all others of its user, so that a user with n items
    weighs n (n - 1); here with ``companions`` others drawn for each in every epoch, so that users
    weigh n. Negatives are none of the user's items. The rate does not decay. Other objectives take
    the loss's place; a factor of popularity is drawn with the exponent 3/4, as in the paper.

    On validation parts of MovieLens 100K (last rows, and a global cut) NDCG@10 is 0.057 and 0.061
    with ``dot``, which is therefore the default, and 0.025 and 0.042 with ``cosine``; Popularity
    has 0.033 and 0.299. Other defaults were not searched.

    Without a history all scores are 0. Else items without training rows come last: scores of the
    others are mostly below 0, so that 0 would put them first.

    Attributes:
        companions: other items of the user that each item is paired with in an epoch.
        rho: of the discarding of frequent items, > 0; 1 keeps all.
        similarity: ``cosine`` or ``dot``.
    """

    embedding_dim: int = 64
    epochs: int = 20
    learning_rate: float = 0.025
    reg: float = 0.0
    objective: str = "cross_entropy"
    negatives: str = "popularity(exponent=0.75)"
    negatives_per_positive: int = 5
    companions: int = 5
    rho: float = 1e-3
    similarity: Similarity = "dot"

    version: ClassVar[int] = 2  # 1 scored items without training rows 0
    folds_in: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("history_factors_", "item_factors_")
    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [32, 64, 128],
        "learning_rate": {"low": 0.005, "high": 0.1, "log": True},
        "rho": {"low": 1e-5, "high": 1.0, "log": True},
        "negatives_per_positive": {"low": 1, "high": 15},
        "similarity": ["cosine", "dot"],
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.companions < 1:
            raise SpecError(
                f"Item2Vec: companions must be a whole number >= 1, got {self.companions!r}"
            )
        if not 0 < self.rho < np.inf:
            raise SpecError(f"Item2Vec: rho must be > 0, got {self.rho!r}")
        if self.similarity not in get_args(Similarity):
            hint = suggest(str(self.similarity), get_args(Similarity))
            raise SpecError(
                f"Item2Vec: unknown similarity {self.similarity!r}{hint}; one of cosine, dot"
            )

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        from fullrank.kernels.contexts import walk_companions

        seed, d = seed_of(rng), self.embedding_dim
        positives, pool, step = self._steps(train, seed)
        weights, known = derive(seed, "weights"), self.known_items_
        vectors = self._table("items", known, d, weights)
        factors = self._factors(self._table("companions", known, d, weights))
        keep = self._kept(np.bincount(positives.items, minlength=train.n_items))

        def epoch(number: int, stop: Stop) -> None:
            keys = hash_elements(derive(seed, "epoch", number), positives.keys)
            order = np.argsort(keys, kind="stable")
            for first in range(0, len(order), _ROWS):
                if stop and first > 0:
                    stop.early = True
                    return
                walk_companions(
                    order[first : first + _ROWS], keys, keep, int(self.companions), factors,
                    vectors, positives, pool, step,
                )  # fmt: skip

        def publish() -> None:
            self._with_bias(factors, vectors)
            if self.similarity == "dot":
                self.history_factors_, self.item_factors_ = vectors.copy(), factors.items.copy()
            else:
                lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
                unit = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
                self.history_factors_ = self.item_factors_ = unit

        arrays = {"vectors": vectors, "companions": factors.items}
        train_arrays(self, self.epochs, epoch, arrays=arrays, publish=publish, rows=train, rng=seed)

    def _kept(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of each item's occurrences that are kept."""
        shares = np.maximum(counts, 1) / counts.sum()
        return np.asarray(np.minimum(np.sqrt(self.rho / shares), 1.0))

    def item_factors(self) -> NDArray[np.float32]:
        """Float32 ``[n_items, d + 1]``: u_i of length 1, or v_i, and what puts unknown items last.

        With m the largest entry of the query's vector x, ``|x · v|`` is at most ``m sqrt(d) |v|``.
        """
        self._require_fitted()
        vectors = self.item_factors_
        longest = float(np.linalg.norm(vectors.astype(np.float64), axis=1).max())
        below = -_BEYOND * np.sqrt(vectors.shape[1]) * longest
        last = np.where(self.known_items_, 0.0, below)
        return np.hstack([vectors, last[:, None]], dtype=np.float32, casting="same_kind")

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        """Mean vector of the history, and last its largest entry: float32 ``[q, d + 1]``."""
        from fullrank.kernels.history_sums import sum_dense_rows

        self.check(queries)
        matrix = queries.history_csr()
        indptr, items, _ = triple(matrix)
        out = np.empty((len(queries), self.history_factors_.shape[1]), np.float32)
        sum_dense_rows(indptr, items, self.history_factors_, out)
        n = np.maximum(matrix @ self.known_items_.astype(np.float32), 1.0)
        out = np.asarray(out / n[:, None], np.float32)
        return np.hstack([out, np.abs(out).max(axis=1, keepdims=True)])
