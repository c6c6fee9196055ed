"""What is measured on the rows themselves: repeats, times and values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank.advise._distribution import jensen_shannon
from fullrank.core.interactions import NO_TIME, UNITS_PER_DAY, Interactions

NAN = float("nan")


def time_features(rows: Interactions) -> dict[str, float]:
    """Span and drift of the rows whose time is known; NaN where there are no two different times.

    - ``known``: share of the rows with a time. 0 says that the others are missing.
    - ``log_days``: ln(1 + days from the first to the last row); NaN for times that are places.
    - ``drift_items``, ``drift_users``: Jensen-Shannon divergence of the items' (users') shares
      before and after the median time, less that of every other row in the log's order by user
      and time, whose halves have all times alike: what is left is owed to time, not to few rows.
    - ``new_items``, ``new_users``: share of the later rows whose item (user) has no earlier row.
    """
    names = ("log_days", "drift_items", "drift_users", "new_items", "new_users")
    out = {"known": 0.0, **dict.fromkeys(names, NAN)}
    if rows.times is None or not len(rows):
        return out
    known = rows.times != NO_TIME
    out["known"] = float(known.mean())
    times = rows.times[known]
    if not len(times) or times.min() == times.max():
        return out
    if rows.time_unit != "order":
        days = (float(times.max()) - float(times.min())) / UNITS_PER_DAY[rows.time_unit]
        out["log_days"] = float(np.log1p(days))
    middle = np.partition(times, len(times) // 2)[len(times) // 2]
    late = times >= middle if middle > times.min() else times > middle
    other = np.arange(len(times)) % 2 == 1
    sides = ("items", rows.items, rows.n_items), ("users", rows.users, rows.n_users)
    for side, codes, n in sides:
        halves = _halves(codes[known], late, n)
        by_chance = jensen_shannon(*_halves(codes[known], other, n))
        out[f"drift_{side}"] = jensen_shannon(*halves) - by_chance
        out[f"new_{side}"] = float(halves[1][halves[0] == 0].sum() / halves[1].sum())
    return out


def _halves(
    codes: NDArray[np.int32], late: NDArray[np.bool_], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of each code outside and within a half: int64 ``[n]`` twice."""
    whole, second = (np.bincount(part, minlength=n) for part in (codes, codes[late]))
    return whole - second, second


def value_features(rows: Interactions) -> dict[str, float]:
    """Moments of the values and what users and items explain of them.

    - ``known``: 1 with values, 0 without: the others are NaN then.
    - ``mean``, ``std``, ``skewness``, ``kurtosis`` (excess), as moments of these rows.
    - ``between_users``, ``between_items``: share of the variance that lies between their means
      (eta squared).

    All but mean and std are NaN where all values are equal.
    """
    names = ("mean", "std", "skewness", "kurtosis", "between_users", "between_items")
    out = {"known": 0.0, **dict.fromkeys(names, NAN)}
    if rows.values is None or not len(rows):
        return out
    mean = float(rows.values.mean())
    gap = rows.values - mean
    square = gap**2
    variance = float(square.mean())
    out |= {"known": 1.0, "mean": mean, "std": float(np.sqrt(variance))}
    if rows.values.min() == rows.values.max():
        return out
    out["skewness"] = float((square * gap).mean() / variance**1.5)
    out["kurtosis"] = float((square**2).mean() / variance**2 - 3)
    for side, codes, counts in (
        ("users", rows.users, rows.user_counts),
        ("items", rows.items, rows.item_counts),
    ):
        sums = np.bincount(codes, gap, minlength=len(counts))
        between = (sums**2 / np.maximum(counts, 1)).sum() / len(gap)
        out[f"between_{side}"] = float(between / variance)
    return out
