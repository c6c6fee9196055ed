"""ScoreStratified: rows of all degrees of difficulty, evenly over the range of the scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.core.interactions import Interactions
from fullrank.data.filters.amounts import check_choice, check_count, check_share
from fullrank.subsample._base import Order
from fullrank.subsample._by_importance import ByImportance
from fullrank.subsample._draws import row_draws
from fullrank.subsample._importance import SCENARIOS, Importance, Scenario
from fullrank.subsample._proxy import proxy_model

_FINEST = 1 << 53
"""Doubles tell no more strata apart."""


@dataclass(frozen=True)
class ScoreStratified(ByImportance):
    """Keep interactions evenly over the range of their importance: coverage-centric selection.

    Zheng, Liu, Lai & Prakash 2023, "Coverage-centric coreset selection for high pruning rates",
    algorithm 1: the hardest ``cutoff`` of the rows are set aside as probably noise; the others are
    cut into ``strata`` of equal width, and each gives as many random rows as any other, or all it
    has. Here rows join in rounds, one of each stratum that has any left, which comes to the same
    and makes samples nested; what was set aside joins last, easier rows first.

    Attributes:
        proxy: as in ``SVPCF``, and so are scenario and importance.
        scenario: ``implicit`` or ``explicit``.
        importance: file of a stored importance.
        strata: number of ranges (the paper's 50).
        cutoff: share of the hardest rows set aside, in [0, 1).
    """

    proxy: str = "mf"
    scenario: Scenario = "implicit"
    importance: str = ""
    strata: int = 50
    cutoff: float = 0.0

    def __post_init__(self) -> None:
        check_choice("ScoreStratified", "scenario", self.scenario, SCENARIOS)
        check_count("ScoreStratified", "strata", self.strata, least=1)
        check_share("ScoreStratified", "cutoff", self.cutoff, zero=True)
        proxy_model(self.proxy, self.scenario)

    def order_by(self, train: Interactions, found: Importance, seed: int) -> Order:
        """See ``ByImportance.order_by``."""
        draws = row_draws(train, seed, "ScoreStratified")
        keys = rounds(found.values, draws, self.strata, self.cutoff)
        return Order(keys, found.about, found)


def rounds(
    scores: NDArray[np.float64], draws: NDArray[np.uint64], strata: int, cutoff: float
) -> NDArray[np.int64]:
    """The round in which each row joins: int64 ``[n]``.

    Args:
        scores: float64 ``[n]``.
        draws: uint64 ``[n]``, the order within a stratum.
        strata: ranges of equal width from the least to the largest score.
        cutoff: share of the highest scores that join after all others.
    """
    n = len(scores)
    strata = min(strata, _FINEST)
    ascending = np.lexsort((draws, scores))
    kept, aside = np.split(ascending, [n - int(cutoff * n)])
    low, high = scores[kept[0]], scores[kept[-1]]
    width = (high - low) / strata if high > low else 1.0
    stratum = np.minimum(((scores[kept] - low) / width).astype(np.int64), strata - 1)
    order = np.lexsort((draws[kept], stratum))
    sizes = np.unique(stratum, return_counts=True)[1]  # of those that have rows
    firsts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    out = np.empty(n, np.int64)
    out[kept[order]] = np.arange(len(kept)) - firsts
    out[aside] = n + np.arange(len(aside))
    return out
