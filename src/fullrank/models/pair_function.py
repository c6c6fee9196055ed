"""Scores of (user, item) pairs by a function: a cross-encoder, a language model, a service."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import ScoreError, SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.ragged import rows_of
from fullrank.core.random import RNG
from fullrank.models._base import Monitor, Recommender


@dataclass(eq=False)
class PairFunction(Recommender):
    """Ask a function for the scores of pairs, and for no others.

    Ranked among sampled candidates (``rank(…, candidates=…)``), only these and the targets are
    asked for; the full ranking asks for every pair of a query and an item. The function must give
    a pair the same score whatever stands beside it, or ranks depend on the batches. ``fit``
    learns nothing: it takes the catalogue and the ids from the training rows.

    Attributes:
        function: takes two arrays of outside ids of the same length (users, items) and gives as
            many numbers, higher is better, -inf for never.
        batch: pairs a call, at most.
        workers: calls at a time, from threads: for a service, not for work in Python.

    Example:
        >>> from fullrank.testing.recommender import small_world
        >>> def likes(users, items):
        ...     return [-abs(int(u[1:]) - int(i[1:])) for u, i in zip(users, items)]
        >>> model = PairFunction(likes).fit(small_world())
        >>> model.settings()["batch"]
        4096
    """

    version: ClassVar[int] = 1

    function: Callable[[NDArray[Any], NDArray[Any]], Any]
    batch: int = 4096
    workers: int = 1

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise SpecError(
                f"PairFunction: function must be callable with (users, items), got "
                f"{self.function!r}"
            )
        for name in ("batch", "workers"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise SpecError(f"PairFunction: {name} must be a whole number >= 1, got {value!r}")

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        """Nothing is learnt."""

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        q, n = len(queries), queries.n_items
        every = np.tile(np.arange(n, dtype=np.int32), q)
        return self.score_pairs(queries, np.arange(q + 1) * n, every).reshape(q, n)

    def score_pairs(
        self, queries: Queries, indptr: NDArray[np.int64], candidates: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """Ask for the scores of each query's own candidates, in batches.

        Raises:
            ScoreError: the function gave something else than one number a pair.
        """
        self.check(queries)
        users = queries.user_vocab.decode(queries.users[rows_of(indptr)])
        items = queries.item_vocab.decode(candidates)
        out = np.empty(len(candidates), dtype=np.float32)

        def ask(start: int) -> None:
            part = slice(start, start + self.batch)
            out[part] = self._asked(users[part], items[part])

        starts = range(0, len(candidates), self.batch)
        if self.workers == 1 or len(starts) == 1:
            for start in starts:
                ask(start)
            return out
        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(ask, starts))
        return out

    def _asked(self, users: NDArray[Any], items: NDArray[Any]) -> NDArray[np.float64]:
        found = self.function(users, items)
        try:
            scores = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ScoreError(
                f"the function gave a {type(found).__name__} that holds no numbers, expected "
                f"{len(items):,} of them, one a pair"
            ) from error
        if scores.shape != (len(items),):
            raise ScoreError(
                f"the function gave an array of shape {scores.shape} for {len(items):,} pairs, "
                "expected one number a pair"
            )
        return scores

    def save(self, folder: Any) -> None:
        """Refused: a function can't be written down.

        Raises:
            SpecError: always.
        """
        raise SpecError(
            "a PairFunction can't be saved, as its function is code; build it anew, and fit it on "
            "the same rows"
        )
