"""Conditions that a comparison may fail, such as ``ndcg@10 < baseline``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fullrank.core.errors import SpecError
from fullrank.experiment.compare import Comparison
from fullrank.metrics import Metric, parse


@dataclass(frozen=True)
class Condition:
    """When a comparison fails, such as ``ndcg@10 < baseline`` or ``recall@20 < 0.3``.

    Attributes:
        metric: of the condition.
        sign: ``"<"`` or ``">"``.
        limit: a number, or None for the baseline.
        margin: added to the baseline.
    """

    metric: Metric
    sign: Literal["<", ">"]
    limit: float | None
    margin: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read ``METRIC < baseline``, ``METRIC < baseline - 0.01`` or ``METRIC > 0.3``.

        Raises:
            SpecError: it is none of these.
        """
        number = r"\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+"
        pattern = rf"(.+?)\s*([<>])\s*(?:(baseline)(?:\s*([+-])\s*({number}))?|(-?(?:{number})))"
        match = re.fullmatch(pattern, text.strip(), flags=re.IGNORECASE)
        if match is None:
            raise SpecError(
                f"can't read the condition {text!r}; write it as 'ndcg@10 < baseline', "
                "'ndcg@10 < baseline - 0.01' or 'recall@20 < 0.3'"
            )
        metric, sign, base, direction, margin, limit = match.groups()
        shift = float(margin) * (-1 if direction == "-" else 1) if margin else 0.0
        chosen: Literal["<", ">"] = "<" if sign == "<" else ">"
        return cls(parse(metric), chosen, None if base else float(limit), shift)

    def failures(
        self, comparison: Comparison, on: Literal["interval", "value"] = "interval"
    ) -> list[str]:
        """Systems that meet the condition, each with its numbers; empty if none does.

        A value that is undefined (no query has one) fails: a check that was asked for can't pass
        on nothing. A value without an interval is not judged by ``"interval"``: see
        ``not_judged``.

        Args:
            comparison: what was compared.
            on: ``"interval"``: the whole (paired) interval lies beyond the limit; ``"value"``:
                the point estimate does.

        Raises:
            SpecError: the metric was not compared.
        """
        return [self._say(row) for row in self._rows(comparison) if self._met(row, on)]

    def not_judged(
        self, comparison: Comparison, on: Literal["interval", "value"] = "interval"
    ) -> list[str]:
        """Systems that the condition says nothing about: a value, and no interval (one user)."""
        if on == "value":
            return []
        return [
            f"{row['model']}: '{self}' is not judged: no interval (users: {row['n_users']:,}); "
            "--on value judges the point"
            for row in self._rows(comparison)
            if row[self._point] is not None and row["low"] is None
        ]

    def passed(
        self, comparison: Comparison, on: Literal["interval", "value"] = "interval"
    ) -> list[str]:
        """One line that says what was judged, and how, if no system meets the condition."""
        rows = self._rows(comparison)
        column = self._point if on == "value" else "low"
        judged = [row["model"] for row in rows if row[column] is not None]
        if not judged or any(self._met(row, on) for row in rows):
            return []
        how = "the point" if on == "value" else "the whole interval"
        return [f"passed: '{self}', judged by {how}, holds for none of: {', '.join(judged)}"]

    def __str__(self) -> str:
        limit = "baseline" if self.limit is None else f"{self.limit:g}"
        margin = f" {'-' if self.margin < 0 else '+'} {abs(self.margin):g}" if self.margin else ""
        return f"{self.metric} {self.sign} {limit}{margin}"

    @property
    def _point(self) -> str:
        return "difference" if self.limit is None else "value"

    def _rows(self, comparison: Comparison) -> list[Mapping[str, Any]]:
        name = str(self.metric)
        table = comparison.tests if self.limit is None else comparison.leaderboard
        rows = [r for r in table if r["metric"] == name and r["users"] == "all"]
        if not rows:
            raise SpecError(f"--fail-if speaks of {name}, which was not compared; add -m {name}")
        return [row for row in rows if row.get("seed") is None]

    def _met(self, row: Mapping[str, Any], on: str) -> bool:
        if row[self._point] is None:
            return True
        limit = self.margin if self.limit is None else self.limit
        value = row[self._point if on == "value" else ("high" if self.sign == "<" else "low")]
        if value is None:
            return False
        return bool(value < limit if self.sign == "<" else value > limit)

    def _say(self, row: Mapping[str, Any]) -> str:
        point = self._point
        against = f" against {row['baseline']}" if self.limit is None else ""
        limit = self.margin if self.limit is None else self.limit
        ends = [row[key] for key in (point, "low", "high")]
        value, low, high = ("undefined" if end is None else f"{end:.4f}" for end in ends)
        return (
            f"{row['model']}: {self.metric} {point}{against} is {value} [{low}, {high}], "
            f"and {self.sign} {limit:g} was to fail"
        )
