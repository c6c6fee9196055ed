"""BiasOnly: a rating is the mean, plus what the user adds, plus what the item adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ragged import rows_of
from fullrank.core.random import RNG
from fullrank.models._base import Monitor, Recommender


@dataclass(eq=False)
class BiasOnly(Recommender):
    """Predict ratings by ``mean + b_user + b_item``.

    Minimises ``sum (r - mean - b_u - b_i)^2 + reg_user sum b_u^2 + reg_item sum b_i^2`` over all
    training rows by alternating the two closed forms, items first. One epoch is the estimate of
    Koren 2010, "Factor in the neighbors", section 2.1 (``b_i = sum(r - mean) / (reg_item + n_i)``,
    then ``b_u = sum(r - mean - b_i) / (reg_user + n_u)``), whose constants are the defaults; more
    epochs descend to the joint optimum.

    A user is folded in by the same closed form from the values of the history, so training users
    get what they had at the end of ``fit``; without a history ``b_u`` is 0. ``score`` orders items
    by ``mean + b_i``: the user's bias shifts all items alike, and is left out so that rounding
    can't tie what it doesn't change. Items without rows have bias 0.

    Attributes:
        reg_user: shrinkage of user biases, in rows.
        reg_item: shrinkage of item biases, in rows.
        epochs: passes over items and users.
    """

    reg_user: float = 10.0
    reg_item: float = 25.0
    epochs: int = 10

    folds_in: ClassVar[bool] = True
    uses_values: ClassVar[bool] = True
    predicts_ratings: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("mean_", "item_bias_")
    search_space: ClassVar[Mapping[str, Any]] = {
        "reg_user": {"low": 0.1, "high": 100.0, "log": True},
        "reg_item": {"low": 0.1, "high": 100.0, "log": True},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("reg_user", "reg_item"):
            if not getattr(self, name) >= 0:
                raise SpecError(f"BiasOnly: {name} must be >= 0, got {getattr(self, name)!r}")
        if self.epochs < 1:
            raise SpecError(f"BiasOnly: epochs must be >= 1, got {self.epochs!r}")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        if train.values is None:
            raise DataError(
                "BiasOnly needs ratings and the training rows have no values; name the column "
                "(columns rating=…) or take Popularity"
            )
        self.mean_ = float(train.values.mean())
        rest = train.values - self.mean_
        user_bias = np.zeros(train.n_users)
        for epoch in range(self.epochs):
            self.item_bias_ = _bias(
                train.items, rest - user_bias[train.users], train.n_items, self.reg_item
            )
            user_bias = _bias(
                train.users, rest - self.item_bias_[train.items], train.n_users, self.reg_user
            )
            if monitor is not None and monitor(epoch, self):
                break

    def shared_scores(self) -> NDArray[np.float32]:
        """``mean + b_i`` as float32 ``[n_items]``."""
        self._require_fitted()
        return (self.mean_ + self.item_bias_).astype(np.float32)

    def predict(self, queries: Queries, items: NDArray[np.int32]) -> NDArray[np.float64]:
        """Predict the rating that query ``i`` gives ``items[i]``; not clipped to the scale.

        Returns:
            float64 ``[q]``.

        Raises:
            DataError: the histories carry no values.
        """
        self.check(queries)
        return np.asarray(self.mean_ + self._user_bias(queries) + self.item_bias_[items])

    def _user_bias(self, queries: Queries) -> NDArray[np.float64]:
        values = queries.history_values
        if values is None:
            if len(queries.history_items):
                raise DataError(
                    "BiasOnly folds users in by the ratings of their history and these queries "
                    "have none; make them from interactions with values"
                )
            return np.zeros(len(queries))
        rest = values - self.mean_ - self.item_bias_[queries.history_items]
        return _bias(rows_of(queries.history_indptr), rest, len(queries), self.reg_user)


def _bias(
    codes: NDArray[np.integer[Any]], rest: NDArray[np.float64], n: int, reg: float
) -> NDArray[np.float64]:
    """Shrunken mean of ``rest`` by code, summed row by row; 0 where there is no row."""
    sums = np.bincount(codes, weights=rest, minlength=n)
    counts = np.bincount(codes, minlength=n)
    out = np.zeros(n)
    np.divide(sums, counts + reg, out=out, where=counts > 0)
    return out
