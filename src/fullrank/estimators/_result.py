"""Recovered: a metric of the full ranking told from sampled ranks."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from fullrank.core.estimate import Estimate


@dataclass(frozen=True)
class Recovered:
    """One metric, estimated.

    Attributes:
        metric: as ``str()`` gives it.
        estimate: for the population that the users come from: users and items were sampled.
        these_users: for the evaluated users: only items were sampled.
        raw: the metric of the sampled ranks taken as if they were ranks in the catalogue;
            inconsistent, and no estimate of anything that a user sees.
        se_items: standard error from the sampling of items.
        se_users: standard error from the sampling of users.
        method: the estimator, with its settings.
        sensitivity: other fits' estimates, or how far fits that explain the data about as well
            are apart; by name.
        notes: what limits the estimate, in words.
    """

    metric: str
    estimate: Estimate
    these_users: Estimate
    raw: float
    se_items: float
    se_users: float
    method: str
    sensitivity: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The estimate."""
        return self.estimate.value

    def to_dict(self) -> dict[str, Any]:
        """As ``fullrank estimate --json`` has it; null where there is no number."""
        one, these = self.estimate, self.these_users
        return {
            "value": _number(one.value),
            "low": _number(one.low),
            "high": _number(one.high),
            "raw": _number(self.raw),
            "se": _number(one.se),
            "se_items": _number(self.se_items),
            "se_users": _number(self.se_users),
            "these_users": [_number(these.low), _number(these.high)],
            "level": one.level,
            "n_queries": one.n_queries,
            "undefined": one.undefined,
            "n_users": one.n_users,
            "method": self.method,
            "interval": one.method,
            "sensitivity": {name: _number(value) for name, value in self.sensitivity.items()},
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return f"{self.metric} {self.estimate} (sampled: {self.raw:.4f})"


def _number(value: float) -> float | None:
    """None for what JSON has no word for."""
    return float(value) if isfinite(value) else None
