"""Candidates and the order of equal scores as in the code that made the published tables.

A user's candidates are the held-out items and unseen ones drawn up to 1,000, all ranked together.
They stood in a Python set, whose order is that of its slots, and were sorted by an unstable sort
that was then read backwards: of a user without history, whose scores are all equal, this alone
decides which ten items count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, derive, hash_elements
from fullrank.models import Monitor, Recommender
from fullrank.negatives import Pool, Uniform

Ties = Literal["authors", "stable", "fair"]

SIZE = 1000
_FEW = 16
"""Entries up to which NumPy's sort inserted, and moved no equal ones."""


def candidates(queries: Queries, size: int = SIZE, *, seed: int) -> dict[int, NDArray[np.int64]]:
    """By user code, the targets and draws of unseen items in the order of a Python set.

    Args:
        queries: cases, one a user.
        size: candidates of a query, fewer where fewer items are unseen; all targets stay.
        seed: of the draws.
    """
    pool = Pool.of(queries, np.ones(queries.n_items, bool), derive(seed, "candidates"))
    wanted = np.clip(size - queries.target_counts, 0, pool.sizes).astype(np.int64)
    indptr, drawn = Uniform(m=size).draw(pool, np.zeros_like(wanted), wanted)
    starts, targets = queries.target_indptr, queries.target_items
    out = {}
    for q, user in enumerate(queries.users.tolist()):
        held = set(targets[starts[q] : starts[q + 1]].tolist())
        out[user] = np.array(list(held | set(drawn[indptr[q] : indptr[q + 1]].tolist())))
    return out


@cache
def order_of_equals(n: int) -> tuple[int, ...]:
    """Where NumPy's quicksort (before 1.25) left n equal numbers (1.23.5 says so for n < 1,500).

    The pivot is the middle of three, set aside at the end but one; both pointers stop at equal
    numbers and change them over; up to 16 are left as they are.
    """
    order, left = list(range(n)), [(0, n - 1)]
    while left:
        low, high = left.pop()
        while high - low >= _FEW:
            _swap(order, (low + high) // 2, high - 1)
            i, j = low + 1, high - 2
            while i < j:
                _swap(order, i, j)
                i, j = i + 1, j - 1
            _swap(order, i, high - 1)
            left.append((low, i - 1))
            low = i + 1
    return tuple(order)


def _swap(order: list[int], i: int, j: int) -> None:
    order[i], order[j] = order[j], order[i]


def as_sorted(
    scores: NDArray[np.float32], items: NDArray[np.int64], user: int, ties: Ties
) -> NDArray[np.int64]:
    """Places of candidates, the best last.

    Args:
        scores: of the candidates ``[c]``, in the order of their set.
        items: the candidates.
        user: whose they are.
        ties: ``"authors"``: rows of equal scores as the old quicksort left them, other ties in
            the order of the set; ``"stable"``: all in that order; ``"fair"``: by a hash of user
            and item.
    """
    if ties == "fair":
        return np.lexsort((hash_elements(user, items), scores))
    if ties == "authors" and len(scores) and (scores == scores[0]).all():
        return np.array(order_of_equals(len(scores)))
    return np.argsort(scores, kind="stable")


@dataclass(eq=False)
class Ordered(Recommender):
    """Another model's scores of some candidates, turned into places that never tie.

    Attributes:
        model: a fitted model.
        lists: of each user code the candidates; None for all unseen items.
        ties: see ``as_sorted``.
    """

    model: Recommender = field(repr=False)
    lists: dict[int, NDArray[np.int64]] | None = field(repr=False)
    ties: Ties = "authors"

    fitted: ClassVar[tuple[str, ...]] = ()

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        """Nothing is learnt."""

    def _score(self, queries: Queries) -> NDArray[np.float32]:
        scores = self.model.score(queries)
        out = np.full(scores.shape, -np.inf, np.float32)
        every = np.arange(queries.n_items)
        for q, user in enumerate(queries.users.tolist()):
            mine = every if self.lists is None else self.lists[user]
            order = as_sorted(scores[q, mine], mine, user, self.ties)
            out[q, mine[order]] = np.arange(len(mine))
        return out
