"""Hypothesis strategies of ranks with ties, and random ranks of any size."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from fullrank.core.ranked import TargetRanks


@st.composite
def query(draw, ties=True):
    """Ranks, last ranks, grades and the number of candidates of one query."""
    # At most 24 x 2 x 2 x 2 orders, so that all can be listed.
    sizes = draw(st.lists(st.integers(1, 2 if ties else 1), max_size=3))
    sizes.insert(draw(st.integers(0, len(sizes))), draw(st.integers(1, 4 if ties else 1)))
    best, worst, gains, above = [], [], [], 0
    for size in sizes:
        for _ in range(draw(st.integers(0, size))):
            best.append(above + 1)
            worst.append(above + size)
            gains.append(float(draw(st.integers(0, 3))))
        above += size
    for _ in range(draw(st.integers(0, 1))):
        best.append(None)
        worst.append(None)
        gains.append(float(draw(st.integers(0, 3))))
    return best, worst, gains, above


@st.composite
def ranks(draw, ties=True, max_queries=4):
    """TargetRanks of a few queries of few users."""
    rows = draw(st.lists(query(ties), min_size=1, max_size=max_queries))
    users = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    best, worst, gains, n = (list(column) for column in zip(*rows))
    return TargetRanks.of(best, gains, worst=worst, n_candidates=n, users=sorted(users))


def random_ranks(seed, n_queries=50, n_candidates=200, targets=8, levels=None):
    """Ranks of targets under random scores; few ``levels`` of score make ties."""
    rng = np.random.default_rng(seed)
    best, worst, gains = [], [], []
    for _ in range(n_queries):
        scores = rng.random(n_candidates)
        if levels:
            scores = np.floor(scores * levels)
        chosen = rng.choice(n_candidates, rng.integers(1, targets + 1), replace=False)
        best.append([int((scores > scores[c]).sum()) + 1 for c in chosen])
        worst.append([int((scores >= scores[c]).sum()) for c in chosen])
        gains.append([float(g) for g in rng.integers(1, 5, len(chosen))])
    return TargetRanks.of(best, gains, worst=worst, n_candidates=[n_candidates] * n_queries)
