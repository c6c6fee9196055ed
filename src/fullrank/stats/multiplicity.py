"""Adjust p-values for the number of comparisons in a family that has a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import count
from fullrank.core.errors import DataError, SpecError, suggest

Correction = Literal["holm", "bh", "none"]


@dataclass(frozen=True)
class Family:
    """Comparisons that are judged together.

    Attributes:
        name: what the family consists of, for the reader.
        method: "holm" keeps the chance of any false claim below the level, "bh" the expected
            share of false claims among the claims, "none" neither.
        size: comparisons with a p-value, which is what the adjustment counts.
        p_values: as given, by comparison; None where no test could be made.
        adjusted: adjusted p-values, by comparison, in the order given.
    """

    name: str
    method: Correction
    size: int
    p_values: dict[str, float | None]
    adjusted: dict[str, float | None]

    def __str__(self) -> str:
        label = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "no adjustment"}[self.method]
        return f"{label} over {count(self.size, 'comparison')} ({self.name})"


def adjust(
    p_values: Mapping[str, float | None],
    method: Correction = "holm",
    *,
    family: str = "all comparisons given",
) -> Family:
    """Adjust the p-values of a family of comparisons.

    Sorted ascending, Holm (1979) takes the running maximum of ``(n - i) p_i`` for ``i`` from 0,
    Benjamini & Hochberg (1995) the running minimum from the end of ``n p_i / (i + 1)``; both are
    cut at 1. A comparison without a test (None) stays without one and isn't counted.

    Args:
        p_values: by name of the comparison.
        method: "holm", "bh" or "none".
        family: name of the family, such as ``"6 models against Popularity, NDCG@10"``.

    Raises:
        DataError: a p-value that is NaN or outside [0, 1].
        SpecError: an unknown method.

    Example:
        >>> found = adjust({"EASE": 0.01, "iALS": 0.04, "ItemKNN": 0.03})
        >>> found.adjusted
        {'EASE': 0.03, 'iALS': 0.06, 'ItemKNN': 0.06}
        >>> print(found)
        Holm over 3 comparisons (all comparisons given)
    """
    if method not in get_args(Correction):
        raise SpecError(f"unknown correction {method!r}{suggest(method, get_args(Correction))}")
    for name, p in p_values.items():
        if p is not None and not 0 <= p <= 1:
            raise DataError(
                f"the p-value of {name!r} must lie in [0, 1], got {p!r}; pass None for a "
                "comparison that could not be tested"
            )
    known = {name: float(p) for name, p in p_values.items() if p is not None}
    values = _adjusted(np.array(list(known.values()), dtype=np.float64), method)
    found = dict(zip(known, values.tolist()))
    return Family(
        name=family,
        method=method,
        size=len(known),
        p_values=dict(p_values),
        adjusted={name: found.get(name) for name in p_values},
    )


def _adjusted(p: NDArray[np.float64], method: Correction) -> NDArray[np.float64]:
    n = len(p)
    order = np.argsort(p, kind="stable")
    ranks = np.arange(n)
    if method == "holm":
        rising = np.maximum.accumulate((n - ranks) * p[order])
    elif method == "bh":
        rising = np.minimum.accumulate((n * p[order] / (ranks + 1))[::-1])[::-1]
    else:
        rising = p[order]
    out = np.empty(n)
    out[order] = np.minimum(rising, 1.0)
    return out
