"""Scores that another system wrote down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG
from fullrank.models._base import Monitor, Recommender
from fullrank.models._values import check_values


@dataclass(eq=False)
class SavedScores(Recommender):
    """Look scores up in a table of users, items and scores.

    ``SavedScores(fr.read("scores.parquet", columns={"rating": "score"}).interactions)``. A pair
    that is not in the table is never recommended (-inf): lists that were cut give ranks only for
    the targets that they hold. Of a pair with several rows the last in time counts. ``fit``
    learns nothing: it takes the catalogue and ids from the training rows.

    Attributes:
        scores: rows with values, the scores.
    """

    scores: Interactions = field(repr=False)

    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.scores, Interactions):
            raise DataError(
                "SavedScores takes Interactions whose values are the scores, such as "
                'fullrank.read("scores.parquet", columns={"rating": "score"}).interactions; got '
                f"{type(self.scores).__name__}"
            )
        if self.scores.values is None:
            raise DataError(
                "SavedScores: the rows have no values; name the column of scores when they are "
                'read, columns={"rating": "score"}'
            )

        check_values(self.scores, "SavedScores", float(np.finfo(np.float32).max))

    def settings(self) -> dict[str, Any]:
        """The scores by their fingerprint."""
        return {"scores": self.scores.fingerprint}

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        given = self.scores
        self._codes = train.item_vocab.encode(given.item_vocab.ids)
        if not (self._codes >= 0).any():
            raise DataError(
                f"SavedScores: none of the {given.n_items:,} items with scores is in the training "
                f"rows (first: item {given.item_vocab.label(0)}, there: item "
                f"{train.item_vocab.label(0)}); give scores under the ids of the log"
            )
        self._table = given.csr("values")

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        out = np.full((len(queries), queries.n_items), -np.inf, np.float32)
        users = self.scores.user_vocab.encode(queries.user_ids)
        table = self._table
        for row in np.flatnonzero(users >= 0):
            part = slice(table.indptr[users[row]], table.indptr[users[row] + 1])
            codes = self._codes[table.indices[part]]
            out[row, codes[codes >= 0]] = table.data[part][codes >= 0]
        return out

    def save(self, folder: Any) -> None:
        """Refused: the scores are in a file already.

        Raises:
            DataError: always.
        """
        raise DataError("SavedScores holds what a file holds; read that again")
