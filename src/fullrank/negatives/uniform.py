"""Uniform draws from the items that a query has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.threads import run_chunks
from fullrank.negatives._base import Drawn, Negatives, rows_between
from fullrank.negatives._pool import Pool

_ROWS = 4096
"""Rows a thread: as many as a block of ranking, whose threads then start none themselves."""


@dataclass(frozen=True, kw_only=True)
class Uniform(Negatives):
    """Each item of a query's pool is equally likely.

    The pool is the catalogue without the query's history and targets; with ``N - 1`` items in
    it, an item is among ``m`` draws with probability ``m / (N - 1)`` without replacement (the
    default: a random order of the pool, of which the first ``m`` are taken) and
    ``1 - (1 - 1 / (N - 1)) ** m`` with it.

    Example:
        >>> Uniform(m=100).settings()
        {'m': 100, 'replacement': False}
    """

    scheme = "uniform"

    def draw(self, pool: Pool, first: NDArray[np.int64], last: NDArray[np.int64]) -> Drawn:
        """Draws number ``first[q]`` up to ``last[q]`` of each row's sequence."""
        from fullrank.kernels.draws import draw_distinct, draw_repeated

        indptr = rows_between(first, last)
        out = np.empty(int(indptr[-1]), np.int32)
        sizes = pool.sizes if self.replacement else pool.bases
        starts, base = pool.own_indptr[:-1], pool.own_items
        if not len(pool.own_indptr):
            starts, base = np.zeros(len(pool), np.int64), pool.items

        def task(start: int, stop: int) -> None:
            rows = slice(start, stop)
            left_out = pool.starts[rows], pool.n_excluded[rows], pool.excluded
            mine = pool.keys[rows], sizes[rows], first[rows], indptr[start : stop + 1], *left_out
            if self.replacement:
                draw_repeated(*mine, out)
            else:
                draw_distinct(*mine, starts[rows], base, out)

        run_chunks(task, len(pool), _ROWS)
        return indptr, pool.decode(indptr, out) if self.replacement else out
