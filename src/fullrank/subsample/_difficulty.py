"""How wrong a model is about its training rows: inverse AUC against negatives, squared error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ragged import as_indptr, rows_of
from fullrank.core.random import derive, hash_elements
from fullrank.models import Recommender
from fullrank.rank import predict_rows, rank
from fullrank.split._queries import make_queries

_TRIES = 1000

_ALIKE = 1e-5
"""Ratings that differ by less are the same: scores are rounded to float32."""


class Tracker:
    """Sums the difficulty of each row over the epochs of a fit.

    Attributes:
        epochs: how many were added.
    """

    def __init__(
        self, train: Interactions, scenario: str, estimator: str, seed: int, keep: bool
    ) -> None:
        if scenario == "explicit" and train.values is None:
            raise DataError(
                "importance of scenario 'explicit' needs ratings, and the training rows have no "
                "values; name the column (columns rating=…), or take scenario 'implicit'"
            )
        everything = np.ones(len(train), bool)
        self.train, self.scenario, self.estimator, self.seed = train, scenario, estimator, seed
        self.queries = make_queries(train, history=everything, targets=everything, repeats="keep")
        self.pair_of_row = _pairs(train, self.queries)
        self.epochs = 0
        self._sum = np.zeros(len(train))
        self._kept: list[NDArray[np.float32]] | None = [] if keep else None

    def monitor(self, epoch: int, model: Recommender) -> bool:
        """Add the difficulty of all rows for a model; never asks to stop."""
        found = self._difficulty(model)
        self._sum += found
        if self._kept is not None:
            self._kept.append(found.astype(np.float32))
        self.epochs += 1
        return False

    def mean(self) -> NDArray[np.float64]:
        """Mean over the epochs ``[n]``."""
        return np.asarray(self._sum / max(self.epochs, 1))

    def kept(self) -> NDArray[np.float32] | None:
        """float32 ``[epochs, n]``, if they were to be kept."""
        return None if self._kept is None else np.stack(self._kept)

    def _difficulty(self, model: Recommender) -> NDArray[np.float64]:
        if self.scenario == "explicit":
            return squared_errors(model, self.queries, self.train, self.pair_of_row)
        if self.estimator == "exact":
            return inverse_auc(model, self.queries)[self.pair_of_row]
        seed = derive(self.seed, "negatives", self.epochs)
        return one_negative(model, self.queries, seed)[self.pair_of_row]


def inverse_auc(model: Recommender, queries: Queries) -> NDArray[np.float64]:
    """For each target, the share of the query's negatives that score above it: float64 ``[t]``.

    Negatives are all items of the fitted data that are no targets; equal scores count half. One
    pass of the ranking engine: nothing of the size users times items is made.

    Args:
        model: a fitted model.
        queries: with ``repeats="keep"``, and all that is no negative among the targets.
    """
    from fullrank.kernels.lost_pairs import lost_pairs

    ranks = rank(model, queries).targets
    room, out = np.empty(queries.n_items), np.empty(len(ranks.best))
    lost_pairs(
        ranks.indptr, ranks.best, ranks.worst, ranks.items, ranks.n_candidates,
        queries.target_items, room, out,
    )  # fmt: skip
    return out


def squared_errors(
    model: Recommender, queries: Queries, train: Interactions, pair_of_row: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Squared error of the predicted value of each row: float64 ``[n]``.

    A rating of ``BiasOnly`` or ``MF`` is its score and what its user adds. Where that holds, a
    prediction a user and the scores are enough, in place of a prediction with a history a row.

    Args:
        model: a fitted model that predicts ratings.
        queries: as for ``inverse_auc``.
        train: the rows.
        pair_of_row: int64 ``[n]``, place of each row's pair among the targets.
    """
    if train.values is None:
        raise DataError("squared errors need rows with values")
    predicted = _score_and_offset(model, queries)
    if predicted is None:
        return np.asarray((predict_rows(model, queries, train).predicted - train.values) ** 2)
    return np.asarray((predicted[pair_of_row] - train.values) ** 2)


def _score_and_offset(model: Recommender, queries: Queries) -> NDArray[np.float64] | None:
    """Predicted value of each target ``[t]``; None if it isn't score and offset of the user."""
    indptr, items = queries.target_indptr, queries.target_items
    scores = model.pair_scorer()(queries, indptr, items).astype(np.float64)
    first, last = indptr[:-1], indptr[1:] - 1
    offsets = [
        model.predict(queries, items[at]) - scores[at] for at in (first, last, (first + last) // 2)
    ]
    if not all(np.allclose(offsets[0], other, rtol=0.0, atol=_ALIKE) for other in offsets[1:]):
        return None
    return np.asarray(scores + offsets[0][rows_of(indptr)])


def one_negative(model: Recommender, queries: Queries, seed: int) -> NDArray[np.float64]:
    """1 where one random negative scores above the target, else 0: float64 ``[t]``.

    The published code's estimate; a user without negatives has the first item for one.

    Args:
        model: a fitted model.
        queries: as for ``inverse_auc``.
        seed: of the negatives.
    """
    items = queries.target_items
    rows = rows_of(queries.target_indptr)
    negatives = _negatives(queries, np.flatnonzero(model.known_items_), rows, seed)
    # Each query's candidates: its targets, then as many negatives.
    both = np.concatenate([np.column_stack([rows, items]), np.column_stack([rows, negatives])])
    order = np.argsort(both[:, 0], kind="stable")
    candidates = both[order, 1].astype(np.int32)
    scores = np.empty(len(order), np.float32)
    indptr = as_indptr(2 * queries.target_counts)
    scores[order] = model.pair_scorer()(queries, indptr, candidates)
    return np.asarray(scores[len(items) :] > scores[: len(items)], np.float64)


def _negatives(
    queries: Queries, catalogue: NDArray[np.int64], rows: NDArray[np.int64], seed: int
) -> NDArray[np.int64]:
    """A random item of the catalogue for each target that is no target of its query."""
    n = queries.n_items
    taken = rows * n + queries.target_items  # ascending
    users = queries.user_vocab.hashes[queries.users][rows]
    items = queries.item_vocab.hashes[queries.target_items]
    out = np.zeros(len(rows), np.int64)
    open_ = np.flatnonzero((queries.target_counts < len(catalogue))[rows])
    for attempt in range(_TRIES):
        draws = hash_elements(derive(seed, attempt), users[open_], items[open_])
        found = catalogue[(draws % np.uint64(len(catalogue))).astype(np.int64)]
        keys = rows[open_] * n + found
        at = np.minimum(np.searchsorted(taken, keys), len(taken) - 1)
        out[open_] = found
        open_ = open_[taken[at] == keys]
        if not len(open_):
            break
    return out


def _pairs(train: Interactions, queries: Queries) -> NDArray[np.int64]:
    """For each row, the place of its pair among the targets of all queries: int64 ``[n]``."""
    n = train.n_items
    users = queries.users[rows_of(queries.target_indptr)].astype(np.int64)
    keys = users * n + queries.target_items
    return np.searchsorted(keys, train.users.astype(np.int64) * n + train.items)
