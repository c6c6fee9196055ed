"""Estimate: a number that says how sure it is, about whom, and how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Target = Literal["population", "these users"]


@dataclass(frozen=True)
class Estimate:
    """A value with its interval.

    Attributes:
        value: the estimate; NaN if nothing could be measured.
        low: lower end of the interval.
        high: upper end of the interval.
        se: standard error.
        level: confidence level, such as 0.95.
        n_queries: queries that have a value.
        undefined: queries that have none (no target) and are left out of the mean.
        n_users: users behind the queries, the unit of resampling.
        target: what the interval speaks of: the population that the users come from, or these
            users alone (zero width under full ranking, where nothing is sampled but users).
        method: how the interval was made.
        assumptions: what must hold for it.
    """

    value: float
    low: float
    high: float
    se: float
    level: float = 0.95
    n_queries: int = 0
    undefined: int = 0
    n_users: int = 0
    target: Target = "population"
    method: str = "normal"
    assumptions: tuple[str, ...] = field(default=("users are a simple random sample",))

    def __str__(self) -> str:
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"
