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
from fullrank.core.text import quoted
from fullrank.models._base import Monitor, Recommender
from fullrank.models._values import real_numbers

_LOOKED_AT = 1 << 16
"""Pairs of a call whose scores are compared in both precisions."""

_MERGED = 0.05
"""Share of the steps between different scores of a user that float32 may lose. Of 65,536 spread
over a factor of two less than one in a hundred are lost by chance."""

_ROUNDING = 2.0**-46
"""Scores that differ by less, relatively, do so by the order of sums in float64."""


@dataclass(eq=False)
class PairFunction(Recommender):
    """Ask a function for the scores of pairs, and for no others.

    Ranked among sampled candidates (``rank(…, candidates=…)``), only these and the targets are
    asked for; the full ranking asks for every pair of a query and an item. The function must give
    a pair the same score whatever stands beside it, or ranks depend on the batches. ``fit``
    learns nothing: it takes the catalogue and the ids from the training rows.

    Attributes:
        function: takes two arrays of outside ids of the same length (users, items) and gives as
            many real numbers, higher is better, -inf for never; they are compared as float32, and
            refused where that would make many of them equal.
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
        super().__post_init__()
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
        out = np.empty(len(candidates), dtype=np.float64)

        def ask(start: int) -> None:
            part = slice(start, start + self.batch)
            out[part] = self._asked(users[part].copy(), items[part].copy())

        starts = range(0, len(candidates), self.batch)
        if self.workers == 1 or len(starts) == 1:
            for start in starts:
                ask(start)
        else:
            with ThreadPoolExecutor(self.workers) as pool:
                list(pool.map(ask, starts))
        return _narrowed(out, users, items)

    def _asked(self, users: NDArray[Any], items: NDArray[Any]) -> NDArray[np.float64]:
        n = len(items)
        found = self.function(users, items)
        scores = real_numbers(found, f"{n:,} of them, one a pair")
        if scores.shape != (n,):
            raise ScoreError(
                f"the function gave an array of shape {scores.shape} for {n:,} pairs, expected one "
                "number a pair"
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


def _narrowed(
    scores: NDArray[np.float64], users: NDArray[Any], items: NDArray[Any]
) -> NDArray[np.float32]:
    """Scores as float32, in which they are compared.

    Raises:
        ScoreError: numbers that float32 can't hold, or many that it can't tell apart.
    """
    with np.errstate(over="ignore", under="ignore"):
        out = scores.astype(np.float32)
    beyond = np.flatnonzero(np.isfinite(scores) & np.isinf(out))
    if len(beyond):
        at = int(beyond[0])
        raise ScoreError(
            f"the function scored {scores[at]:g} for user {_label(users[at])} and item "
            f"{_label(items[at])}; scores are compared as float32, which ends at 3.4e38: scale "
            "them, or give -inf for never"
        )
    _check_apart(scores[:_LOOKED_AT], out[:_LOOKED_AT], users[:_LOOKED_AT])
    return out


def _check_apart(
    scores: NDArray[np.float64], narrow: NDArray[np.float32], users: NDArray[Any]
) -> None:
    """Refuse scores of which many that differ are equal as float32, by user."""
    codes = np.unique(users, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((scores, codes))
    mine, low, high = codes[order], scores[order][:-1], scores[order][1:]
    with np.errstate(invalid="ignore"):  # inf - inf
        apart = high - low > _ROUNDING * np.maximum(np.abs(low), np.abs(high))
    apart &= mine[1:] == mine[:-1]
    merged = apart & (narrow[order][1:] == narrow[order][:-1])
    lost, known = int(merged.sum()), int(apart.sum())
    if lost > max(1, _MERGED * known):
        at = int(np.flatnonzero(merged)[0])
        raise ScoreError(
            f"{lost:,} of {known:,} steps between scores of the function are lost in float32, in "
            f"which scores are compared (first: {low[at]:.17g} and {high[at]:.17g} for user "
            f"{_label(users[order][at])}); take the same number from all scores of a user, or "
            "scale them, until they differ in the first seven digits"
        )


def _label(outside_id: Any) -> str:
    """An id as Python writes it."""
    return quoted(outside_id.item() if isinstance(outside_id, np.generic) else outside_id)
