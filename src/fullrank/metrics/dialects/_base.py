"""Dialect: how one tool computes one metric, and where that is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.ranked import TargetRanks
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
        ordered: the formula is only right where no target ties with another candidate.
    """

    metric: str
    tool: str
    why: str
    source: str
    formula: Formula | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    empty: float = float("nan")
    weights: Formula | None = None
    ordered: bool = False

    def per_cutoff(self, metric: RankMetric, ranks: Prepared, ks: Cuts) -> NDArray[np.float64]:
        """Values ``[q, k]`` as the tool computes them.

        Raises:
            SpecError: the tool pools over users, or its formula can't be averaged over ties.
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
        r = ranks.ranked
        if self.ordered and bool(np.any(r.best != r.worst)):
            raise SpecError(
                f"{metric}: the definition of {self.tool} has no expectation over equal scores "
                "here; break the ties first (optimistic() or pessimistic() ranks give bounds)"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.formula is not None:
                out = self.formula(metric, ranks, ks)
            else:
                out = metric(dialect=None, **self.options)._at(ranks, ks)
        out[ranks.n_relevant(metric.rel) == 0] = self.empty
        return out
