"""Plan: ways to a wanted precision, and which is the cheapest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank.core.brief import duration

FULL = "full"


@dataclass(frozen=True)
class PlanRow:
    """One way to the wanted precision.

    Attributes:
        design: how candidates are drawn, or ``"full"``.
        queries: that it needs.
        items: scored for a query, on average.
        pairs: scored in all.
        se_items: standard error from the sampling of items, with that many queries.
        se_users: from the sampling of users.
        bias: of the estimate in the simulations: what the sample can't show. An interval doesn't
            allow for it.
        seconds: of scoring, if the cost is known.
    """

    design: str
    queries: int
    items: float
    pairs: float
    se_items: float
    se_users: float
    bias: float = 0.0
    seconds: float | None = None

    @property
    def misleads(self) -> bool:
        """The bias is larger than the standard error: intervals would often miss the truth."""
        return abs(self.bias) > float(np.hypot(self.se_items, self.se_users))


@dataclass(frozen=True)
class Plan:
    """Ways to a wanted half-width or power, cheapest first.

    Attributes:
        metric: that is estimated.
        value: the metric under the assumed distribution of ranks.
        wanted: what was asked for, in words.
        rows: one a design, and the full ranking.
        assumptions: what the numbers rest on.
        catalog_size: items that could be drawn, and the target.
    """

    metric: str
    value: float
    wanted: str
    rows: tuple[PlanRow, ...]
    assumptions: tuple[str, ...]
    catalog_size: int

    @property
    def best(self) -> PlanRow:
        """The cheapest."""
        return self.rows[0]

    @property
    def full(self) -> PlanRow:
        """The full ranking."""
        return next(row for row in self.rows if row.design == FULL)

    @property
    def best_sampled(self) -> PlanRow | None:
        """The cheapest that samples, of those that don't mislead if there is one."""
        sampled = [row for row in self.rows if row.design != FULL]
        return next((row for row in sampled if not row.misleads), next(iter(sampled), None))

    @property
    def verdict(self) -> str:
        """Whether to sample, in words."""
        full, best = self.full, self.best_sampled
        if best is None:
            return f"the full ranking needs {full.queries:,} queries"
        if full.seconds is None or best.seconds is None:
            return (
                f"{best.design} scores {best.pairs:,.0f} pairs, the full ranking "
                f"{full.pairs:,.0f}, which is cheaper only where a model ranks the catalogue for a "
                f"query in less time than it scores {best.pairs / full.queries:,.0f} pairs"
            )
        spent, whole = duration(best.seconds), duration(full.seconds)
        if full.seconds <= best.seconds:
            return (
                f"rank in full: {whole}, against {spent} for {best.design}, and nothing is "
                "estimated then"
            )
        return (
            f"sample: {best.design} takes {spent}, the full ranking {whole}, "
            f"{full.seconds / best.seconds:.3g} times as long"
        )
