"""FISM: a factored similarity of items, learnt with each item left out of its own history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, derive, hash_elements, seed_of
from fullrank.models._base import Monitor
from fullrank.models._contexts import Stepped
from fullrank.models._sparse import triple
from fullrank.models._training import Stop, train_arrays

_USERS = 4096  # between two looks at Ctrl-C


@dataclass(eq=False)
class FISM(Stepped):
    """Score by ``b_i + n^-alpha sum_{j in history} p_j · q_i``, without a factor for users.

    Kabbur, Ning & Karypis 2013, "FISM: Factored item similarity models for top-N recommender
    systems", equations 6 and 7. ``n`` is the number of terms of the sum. In training a positive is
    left out of its own sum (n is then one less), and its negatives are scored with that sum, as in
    the paper's algorithm 2 (FISMauc). ``objective="bpr"`` takes the place of its squared loss of
    the difference; ``squared`` is near the paper's FISMrmse.

    A step is the paper's: all p_j of the history move with each positive. The penalty falls on
    ``q`` and ``b`` at each step and on ``p`` once a user, so as often as the item has users (the
    paper: at each step of them). There are no biases of users, which change no order. Negatives
    are drawn anew for each positive; the paper draws a sample of zeros an epoch.

    Any history is folded in as its sum. An item that is scored for a history that holds it counts
    itself; the ranker leaves such items out. Without a history scores are ``b_i``; items without
    training rows have the least of the biases.

    Defaults are near the best of 16 settings on validation parts of MovieLens 100K (last rows, and
    a global cut): mean NDCG@10 of the two 0.194, with one negative 0.183; BPRMF 0.181.

    Attributes:
        alpha: from 0 (a sum over the history) to 1 (a mean).
    """

    negatives_per_positive: int = 3
    alpha: float = 0.5

    folds_in: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("history_factors_", "item_factors_")
    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [32, 64, 128],
        "learning_rate": {"low": 0.005, "high": 0.2, "log": True},
        "reg": {"low": 1e-4, "high": 0.1, "log": True},
        "alpha": {"low": 0.0, "high": 1.0},
        "negatives_per_positive": {"low": 1, "high": 5},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.alpha <= 1:
            raise SpecError(f"FISM: alpha must be from 0 to 1, got {self.alpha!r}")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        from fullrank.kernels.contexts import walk_histories

        seed = seed_of(rng)
        positives, pool, step = self._steps(train, seed)
        weights, known = derive(seed, "weights"), self.known_items_
        history = self._table("history", known, self.embedding_dim, weights)
        factors = self._factors(self._table("items", known, self.embedding_dim, weights))
        users, hashes = np.flatnonzero(self.known_users_), train.user_vocab.hashes

        def epoch(number: int, stop: Stop) -> None:
            key = derive(seed, "epoch", number)
            order = users[np.argsort(hash_elements(key, hashes[users]), kind="stable")]
            for first in range(0, len(order), _USERS):
                if stop and first > 0:
                    stop.early = True
                    return
                walk_histories(
                    order[first : first + _USERS], factors, history, positives, pool, step,
                    float(self.alpha), np.uint64(key),
                )  # fmt: skip

        def publish() -> None:
            self.item_factors_ = self._with_bias(factors, history)
            self.history_factors_ = history.copy()

        arrays = {"history": history, "items": factors.items, "bias": factors.item_bias}
        train_arrays(self, self.epochs, epoch, arrays=arrays, publish=publish, rows=train, rng=seed)

    def item_factors(self) -> NDArray[np.float32]:
        """Float32 ``[n_items, d + 1]``: q_i, and last the bias."""
        self._require_fitted()
        return self.item_factors_

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        """``n^-alpha`` times the sum of the history's p_j, and last 1: float32 ``[q, d + 1]``."""
        from fullrank.kernels.history_sums import sum_dense_rows

        self.check(queries)
        matrix = queries.history_csr()
        indptr, items, _ = triple(matrix)
        sums = np.empty((len(queries), self.history_factors_.shape[1]), np.float32)
        sum_dense_rows(indptr, items, self.history_factors_, sums)
        n = np.maximum(matrix @ self.known_items_.astype(np.float32), 1.0)
        ones = np.ones((len(queries), 1), np.float32)
        return np.hstack([sums * (n.astype(np.float64) ** -self.alpha)[:, None], ones],
                         dtype=np.float32, casting="same_kind")  # fmt: skip
