"""Predicted values of held-out rows, for models that predict ratings."""

from __future__ import annotations

import numpy as np

from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ranked import Predictions
from fullrank.models._base import Recommender

BLOCK = 4096


def predict_rows(model: Recommender, queries: Queries, held: Interactions) -> Predictions:
    """Predict the value of each held-out row from its user's history.

    Args:
        model: a fitted model with ``predicts_ratings``.
        queries: one query per user of ``held``.
        held: rows with values; rows of users without a query are left out.

    Raises:
        DataError: the rows have no values.
    """
    if held.values is None:
        raise DataError(
            "rating metrics need values, and these data have none; "
            "name the rating column, or drop rmse and mae"
        )
    row_of = np.full(queries.n_users, -1, dtype=np.int64)
    row_of[queries.users] = np.arange(len(queries))
    rows = row_of[held.users]
    kept = np.flatnonzero(rows >= 0)
    predicted = np.empty(len(kept))
    for start in range(0, len(kept), BLOCK):
        part = kept[start : start + BLOCK]
        predicted[start : start + BLOCK] = model.predict(queries[rows[part]], held.items[part])
    return Predictions(
        held.users[kept],
        held.items[kept],
        predicted,
        held.values[kept],
        held.user_vocab,
        held.item_vocab,
    )
