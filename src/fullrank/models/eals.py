"""EALS: matrix factorisation of implicit feedback, missing cells weighed by popularity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, seed_of
from fullrank.models._base import Monitor, Recommender
from fullrank.models._draws import alike, normal_draws
from fullrank.models._pattern import Pattern, pattern, turned
from fullrank.models._ridge import gram_of
from fullrank.models._threads import one_blas_thread, run_chunks
from fullrank.models._training import Stop, train_arrays

_CHUNK = 64

# A query's factors are the optimum to four digits; one more cycle would change nothing visible.
_FOLD_IN = (200, 1e-4)


_LARGEST = 1e15
"""Of weights: products of two stay within float32, which ends at 3.4e38."""


@dataclass(eq=False)
class EALS(Recommender):
    """Score by ``p_u · q_i``, fitted element by element with popularity-aware missing weights.

    He, Zhang, Kan & Chua 2016, "Fast matrix factorization for online recommendation with implicit
    feedback", equations 7 to 13. With S the observed cells and ``f_i`` the share of item i in
    them, what is minimised is

        sum_S (1 - p_u · q_i)^2 + sum_u sum_{i not in S_u} c_i (p_u · q_i)^2
            + reg (sum_u |p_u|^2 + sum_i |q_i|^2),   c_i = c0 f_i^alpha / sum_j f_j^alpha.

    So a popular item that a user doesn't have counts as disliked more than an unknown one.
    ``alpha = 0`` weighs all missing cells alike, by c0 / n_items.

    An epoch sets each coordinate of each user to its optimum, then each of each item: users, and
    then items, don't depend on one another and are solved in parallel. Departures: user factors
    start from 0 (item factors from normal draws of deviation 0.01, as the paper's, equal for items
    with the same users); a query is folded in by the users' step from 0, cycle after cycle until
    it moves by less than 1e-4 of its length: so equal histories score alike, of training users
    too, whose factors the paper keeps. Without a history, and for items without training
    rows, factors and scores are 0. The paper's online updates are not here.

    Defaults are the best of four settings on validation parts of MovieLens 100K (last row of each
    user, and a global cut): NDCG@10 0.080 and 0.121; with ``reg=1`` and the paper's ``c0=512``
    0.077 and 0.123, with ``reg=1`` and ``c0=32`` 0.070 and 0.069; Popularity 0.033 and 0.118.
    ``alpha`` is the paper's.

    Attributes:
        embedding_dim: number of factors.
        reg: regularisation, > 0.
        c0: weight of the missing cells of a user, in sum over all items, > 0.
        alpha: exponent of popularity in that weight, >= 0.
        epochs: cycles over all users and items.
    """

    embedding_dim: int = 32
    reg: float = 5.0
    c0: float = 128.0
    alpha: float = 0.4
    epochs: int = 12

    folds_in: ClassVar[bool] = True
    seeded: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("item_factors_", "missing_")
    search_space: ClassVar[Mapping[str, Any]] = {
        "embedding_dim": [32, 64, 128],
        "reg": {"low": 1e-3, "high": 100.0, "log": True},
        "c0": {"low": 8.0, "high": 2048.0, "log": True},
        "alpha": {"low": 0.0, "high": 1.0},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("embedding_dim", "epochs"):
            if getattr(self, name) < 1:
                raise SpecError(f"EALS: {name} must be >= 1, got {getattr(self, name)!r}")
        for name in ("reg", "c0"):
            value = getattr(self, name)
            if not 0 < value < _LARGEST:
                raise SpecError(f"EALS: {name} must be > 0 and < {_LARGEST:g}, got {value!r}")
        if not 0 <= self.alpha < np.inf:
            raise SpecError(f"EALS: alpha must be >= 0 and finite, got {self.alpha!r}")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        matrix = train.csr("binary")
        columns = turned(matrix)
        by_user, by_item = pattern(matrix), pattern(columns)
        self.missing_ = self._missing(np.diff(by_item[0]))
        """Float64 ``[n_items]``: the c_i."""
        seed = seed_of(rng)
        draws = normal_draws(train.item_vocab, self.embedding_dim, seed, "EALS")
        items = alike(0.01 * draws, columns).astype(np.float32)
        users = np.zeros((train.n_users, self.embedding_dim), dtype=np.float32)
        ones, once = np.ones(train.n_users), (1, 0.0)

        def epoch(_: int, __: Stop) -> None:
            self._move(by_user, items, (ones, self.missing_), once, users)
            self._move(by_item, users, (self.missing_, ones), once, items)

        def publish() -> None:
            self.item_factors_ = items.copy()

        arrays = {"users": users, "items": items}
        train_arrays(self, self.epochs, epoch, arrays=arrays, publish=publish, rows=train, rng=seed)

    def _missing(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Weight of the missing cells of each item; 0 for items without rows."""
        shares = counts / counts.sum()
        weights = np.where(counts > 0, np.maximum(shares, 1e-300) ** self.alpha, 0.0)
        if not weights.any():
            raise SpecError(
                f"EALS: alpha={self.alpha:g} leaves no item a weight above 0; lower alpha"
            )
        return np.asarray(self.c0 * weights / weights.sum())

    def _move(
        self,
        rows: Pattern,
        factors: NDArray[np.float32],
        missing: tuple[NDArray[np.float64], NDArray[np.float64]],
        stopping: tuple[int, float],
        out: NDArray[np.float32],
    ) -> None:
        """Move ``out`` (``[n, d]``) towards its optimum given the factors of the other side."""
        from fullrank.kernels.coordinates import weighted_rows

        gram, turned_factors = gram_of(factors, missing[1]), np.ascontiguousarray(factors.T)
        rest = (rows, turned_factors, gram, missing, float(self.reg), stopping, out)
        run_chunks(lambda start, stop: weighted_rows(start, stop, *rest), len(out), _CHUNK)

    def item_factors(self) -> NDArray[np.float32]:
        """Float32 ``[n_items, d]``."""
        self._require_fitted()
        return self.item_factors_

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        """The users' step from each history: float32 ``[q, d]``."""
        self.check(queries)
        out = np.zeros((len(queries), self.item_factors_.shape[1]), dtype=np.float32)
        missing = (np.ones(len(queries)), self.missing_)
        with one_blas_thread():
            self._move(pattern(queries.history_csr()), self.item_factors_, missing, _FOLD_IN, out)
        return out
