"""Dialect: how one tool computes one metric, and where that is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.ranked import UNRANKED, TargetRanks
from fullrank.core.state import State
from fullrank.metrics._prepared import Cuts, Prepared
from fullrank.metrics._rank import RankMetric

Formula = Callable[[RankMetric, Prepared, Cuts], NDArray[np.float64]]
"""Metric (for ``rel`` and options), ranks, cut-offs -> values ``[q, k]``."""


@dataclass(frozen=True, eq=False)
class Dialect:
    """A tool's definition of a metric.

    Attributes:
        metric: our name of the metric.
        tool: name of the tool.
        why: what differs from our default; ``"same"`` if nothing does.
        source: where the definition is written.
        formula: computes it; None if our own does, with ``options``.
        options: options of ours that give the tool's definition.
        empty: the value of a query without relevant targets; NaN leaves it out.
        weights: for a tool that pools over users, the weight of each query ``[q, k]`` in the
            weighted mean; such a metric has no per-query values.
        ties: what the tool does with equal scores, an order that ranks don't hold; empty if its
            value is the expectation over the orders that they leave open.
    """

    metric: str
    tool: str
    why: str
    source: str
    ties: str
    formula: Formula | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    empty: float = float("nan")
    weights: Formula | None = None

    def per_cutoff(self, metric: RankMetric, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        """Values ``[q, k]`` as the tool computes them.

        Raises:
            SpecError: the tool pools over users, or orders equal scores in a way of its own.
        """
        if self.weights is not None:
            raise SpecError(
                f"{metric}: {self.tool} pools {metric.name} over users, so that there is no value "
                "per query, interval or test; ask for value(ranked), or leave the dialect out"
            )
        return self._values(metric, ranks, ks)

    def value(self, metric: RankMetric, ranked: TargetRanks) -> float:
        """The figure that the tool would print."""
        if self.weights is None:
            return State.of(metric.per_query(ranked), ranked.users).value
        metric._check_input(ranked)
        ranks = Prepared(ranked)
        values = self._values(metric, ranks, (metric.k,))[:, 0]
        weights = self.weights(metric, ranks, (metric.k,))[:, 0]
        known = ~np.isnan(values)
        total = float(weights[known].sum())
        return float((values * weights)[known].sum()) / total if total else float("nan")

    def _values(self, metric: RankMetric, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        self._check_ties(metric, ranks, ks)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.formula is not None:
                out = self.formula(metric, ranks, ks)
            else:
                ours = metric(dialect=None, **self.options)
                ours._check_ranks(ranks)
                out = ours._at(ranks, ks)
        out[ranks.n_relevant(metric.rel) == 0] = self.empty
        return out

    def _check_ties(self, metric: RankMetric, ranks: Prepared, ks: Cuts) -> None:
        """Refuse relevant targets with several places, unless all are beyond the cut-offs."""
        ranked = ranks.ranked
        last = UNRANKED if None in ks else max((k for k in ks if k is not None), default=0)
        tied = (ranked.best != ranked.worst) & (ranked.best <= last) & ranks.relevant(metric.rel)
        if self.ties and bool(tied.any()):
            row = int(np.searchsorted(ranked.indptr, int(tied.argmax()), side="right")) - 1
            raise SpecError(
                f"{metric}: {self.tool} {self.ties}; equal scores (first: user "
                f"{ranked.user_vocab.label(ranked.users[row])}) have no such order here, so give "
                "a rank column, or break the ties (optimistic() or pessimistic() ranks)"
            )
