"""Metrics against metrics: a matrix with intervals, over all conditions and for each split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fullrank.experiment.measure import number

ALL = "all"
"""Title of the matrix over all splits."""


@dataclass(frozen=True, eq=False)
class MetricMatrix:
    """A number for each ordered pair of metrics.

    Attributes:
        split: that it is over, or ``"all"``.
        metrics: rows and columns.
        values: float64 ``[m, m]``, NaN where none is defined.
        low: lower ends of intervals; NaN where there is none.
        high: upper ends.
        counts: int ``[m, m]``, how many numbers each is the mean of.
        unit: what is counted, ``"cases"`` or ``"conditions"``.
    """

    split: str
    metrics: tuple[str, ...]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    counts: NDArray[np.int64]
    unit: str

    def __getitem__(self, pair: tuple[str, str]) -> float:
        """The number of a row and a column."""
        return float(self.values[self.metrics.index(pair[0]), self.metrics.index(pair[1])])

    @property
    def pairs(self) -> list[dict[str, Any]]:
        """Rows of pairs of different metrics, for JSON and charts."""
        return [
            {
                "row": a,
                "column": b,
                "value": number(self.values[i, j]),
                "low": number(self.low[i, j]),
                "high": number(self.high[i, j]),
                "n": int(self.counts[i, j]),
            }
            for i, a in enumerate(self.metrics)
            for j, b in enumerate(self.metrics)
            if i != j
        ]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"split": self.split, "unit": self.unit, "pairs": self.pairs}


class _HasSplit(Protocol):
    @property
    def split(self) -> str: ...


T = TypeVar("T", bound=_HasSplit)


def by_split(
    parts: Sequence[T], make: Callable[[str, Sequence[T]], MetricMatrix]
) -> tuple[MetricMatrix, ...]:
    """The matrix over all parts, then over those of each split if there are several.

    Args:
        parts: cases or conditions.
        make: gives the matrix of some of them, under a title.
    """
    splits = list(dict.fromkeys(part.split for part in parts))
    groups = [(split, [part for part in parts if part.split == split]) for split in splits]
    each = [make(split, group) for split, group in groups] if len(groups) > 1 else []
    return (make(ALL, parts), *each)
