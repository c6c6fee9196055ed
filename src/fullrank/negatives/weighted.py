"""Draws by weight, shared by the distributions that have weights."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import DataError, SpecError
from fullrank.core.threads import run_chunks
from fullrank.negatives._base import Drawn, Negatives, rows_between
from fullrank.negatives._pool import Pool

_ROWS = 512
_TOTAL = 2**52
"""Weights become whole numbers of about this sum, so that draws by them are exact."""


@dataclass(frozen=True, kw_only=True)
class Weighted(Negatives):
    """An item is drawn with probability proportional to its weight among the query's pool.

    Without replacement: one after another, each by weight among what is left (Efraimidis &
    Spirakis 2006), at the cost of a look at every item of the pool; items of weight 0 are never
    drawn. Ranks among such candidates say nothing of ranks in the whole catalogue: only the
    weight above a target can be told from them.

    Attributes:
        weights: float64 ``[n_items]`` by item code, finite and >= 0.
    """

    scheme = "weighted"

    replacement: bool = True
    weights: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is None:
            return
        try:
            weights = np.asarray(self.weights, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.zeros((0, 0))
        if weights.ndim != 1:
            raise SpecError(
                "weights must be an array of numbers of one dimension, one for each item code, got "
                f"{type(self.weights).__name__} of shape {np.shape(self.weights)}"
            )
        bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
        if len(bad):
            raise SpecError(
                f"weights must be finite and >= 0, got {weights[bad[0]]} for item code {bad[0]}"
            )
        if not weights.any():
            raise SpecError("weights are all 0: nothing could be drawn")
        with np.errstate(over="ignore"):
            total = weights.sum()
        if not np.isfinite(total):
            raise SpecError(
                f"weights up to {weights.max():g} have no finite sum; divide them by their largest"
            )

    def settings(self) -> dict[str, object]:
        """Settings by name; the weights by a hash."""
        import hashlib

        given = super().settings()
        if self.weights is not None:
            digest = hashlib.blake2b(np.ascontiguousarray(self.weights).tobytes(), digest_size=8)
            given["weights"] = digest.hexdigest()
        return given

    def _of(self, pool: Pool) -> NDArray[np.float64]:
        if self.weights is None:
            raise SpecError(
                f"{type(self).__name__} has no weights; give weights=, one for each item"
            )
        if len(self.weights) != pool.n_items:
            raise DataError(
                f"{len(self.weights):,} weights were given for {pool.n_items:,} items; give one "
                "for each item code"
            )
        if len(pool.own_indptr):
            raise SpecError(
                "draws by weight can't be combined with items that differ by query (eligible "
                "lists); take Uniform, or give the candidates as lists"
            )
        return np.asarray(self.weights, np.float64)[pool.items]

    def probabilities(self, n_items: int) -> NDArray[np.float64]:
        """Share of draws of each item where none is excluded: float64 ``[n_items]``."""
        if self.weights is None or len(self.weights) != n_items:
            raise SpecError(f"{type(self).__name__} has no weights for {n_items:,} items")
        return np.asarray(self.weights / self.weights.sum(), np.float64)

    def limits(self, pool: Pool) -> NDArray[np.int64]:
        """Most draws that each row can give: int64 ``[q]``."""
        weights = self._of(pool)
        if self.replacement:
            left = _left(pool, _running(weights))
            return np.where(left > 0, np.iinfo(np.int64).max, 0)
        return _left(pool, np.concatenate([[0], np.cumsum(weights > 0)]).astype(np.int64))

    def draw(self, pool: Pool, first: NDArray[np.int64], last: NDArray[np.int64]) -> Drawn:
        """Draws number ``first[q]`` up to ``last[q]`` of each row's sequence."""
        weights = self._of(pool)
        indptr = rows_between(first, last)
        places = np.empty(int(indptr[-1]), np.int32)
        if self.replacement:
            self._repeated(pool, weights, first, indptr, places)
        else:
            self._distinct(pool, weights, first, indptr, places)
        return indptr, pool.items[places]

    def _repeated(
        self,
        pool: Pool,
        weights: NDArray[np.float64],
        first: NDArray[np.int64],
        indptr: NDArray[np.int64],
        places: NDArray[np.int32],
    ) -> None:
        from fullrank.kernels.draws import draw_weighted

        running = _running(weights)
        left = _left(pool, running)

        def task(start: int, stop: int) -> None:
            rows = slice(start, stop)
            draw_weighted(
                pool.keys[rows],
                left[rows],
                first[rows],
                indptr[start : stop + 1],
                pool.starts[rows],
                pool.n_excluded[rows],
                pool.excluded,
                running,
                places,
            )

        run_chunks(task, len(pool), _ROWS)

    def _distinct(
        self,
        pool: Pool,
        weights: NDArray[np.float64],
        first: NDArray[np.int64],
        indptr: NDArray[np.int64],
        places: NDArray[np.int32],
    ) -> None:
        from fullrank.kernels.draws import race

        with np.errstate(divide="ignore"):
            logs = np.log(weights)

        def task(start: int, stop: int) -> None:
            times = np.empty(len(logs))
            for row in range(start, stop):
                out = places[indptr[row] : indptr[row + 1]]
                allowed = np.ones(len(logs), dtype=bool)
                begin = pool.starts[row]
                allowed[pool.excluded[begin : begin + pool.n_excluded[row]]] = False
                race(pool.keys[row], logs, allowed, times)
                end = int(first[row]) + len(out)
                if 0 < end < len(times):
                    ahead = np.argpartition(times, end - 1)[:end]
                else:
                    ahead = np.arange(len(times))
                order = ahead[np.lexsort((ahead, times[ahead]))]
                out[:] = order[int(first[row]) : end]

        run_chunks(task, len(pool), _ROWS)


def _running(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Running sums of whole weights ``[c + 1]``; a weight above 0 stays above 0."""
    total = weights.sum()
    if not total > 0:
        return np.zeros(len(weights) + 1, np.int64)
    whole = np.maximum(np.rint(weights * (_TOTAL / total)), weights > 0)
    return np.concatenate([[0], np.cumsum(whole.astype(np.int64))])


def _left(pool: Pool, running: NDArray[np.int64]) -> NDArray[np.int64]:
    """Weight of each row's pool: int64 ``[q]``."""
    from fullrank.kernels.draws import weight_left

    left = np.empty(len(pool), np.int64)
    weight_left(pool.starts, pool.n_excluded, pool.excluded, running, left)
    return left
