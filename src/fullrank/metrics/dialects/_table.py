"""What each tool would say of the same ranks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Any

from fullrank.core.errors import SpecError
from fullrank.core.ranked import TargetRanks
from fullrank.metrics._base import Metric
from fullrank.metrics._rank import RankMetric
from fullrank.metrics.dialects._registry import TOOLS, dialects_of


@dataclass(frozen=True)
class DialectRow:
    """One figure of one tool.

    Attributes:
        metric: the metric, dialect left out.
        tool: ``"fullrank"`` or the name of the tool.
        value: what it would print; None where these ranks don't tell, NaN where no query has a
            value.
        why: what differs from our definition, ``"same"``, or why there is no value.
        source: where the tool's definition is written.
    """

    metric: Metric
    tool: str
    value: float | None
    why: str
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of ``evaluate --dialects``; NaN becomes None."""
        known = self.value is not None and isfinite(self.value)
        return {
            "metric": str(self.metric),
            "tool": self.tool,
            "value": self.value if known else None,
            "why": self.why,
            "source": self.source,
        }


def dialects(ranked: TargetRanks, metrics: Iterable[Metric]) -> list[DialectRow]:
    """Evaluate metrics as each known tool defines them.

    Args:
        ranked: what ranking left behind.
        metrics: metrics of ranks; a metric's own options other than ``rel`` are ours alone.

    Returns:
        For each metric our own figure, then one row for each tool that has the metric.
    """
    rows = []
    for metric in metrics:
        rows.append(DialectRow(metric, "fullrank", metric.value(ranked), "as documented"))
        if not isinstance(metric, RankMetric):
            continue
        plain = type(metric)(k=metric.k, rel=metric.rel)
        tools = [tool for tool in TOOLS if metric.name in dialects_of(tool)]
        rows += [_row(ranked, metric, plain(dialect=tool), tool) for tool in tools]
    return rows


def _row(ranked: TargetRanks, shown: Metric, metric: RankMetric, tool: str) -> DialectRow:
    dialect = dialects_of(tool)[metric.name]
    value: float | None = None
    try:
        value, why = metric.value(ranked), dialect.why
    except SpecError as error:
        why = str(error)
    return DialectRow(shown, tool, value, why, dialect.source)
