"""Samplers against each other: the same terms, the same repeats, corrected for their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fullrank.core.brief import count
from fullrank.core.errors import SpecError, suggest
from fullrank.stats import adjust
from fullrank.subsample.psi.summary import Terms, ends

NOISE = 1e-12
"""Differences of mean agreements below it are of rounding."""

_MANY = 1e9  # degrees of freedom that are as good as infinitely many

By = Literal["auto", "users", "repeats", "both"]

LEAST_SPLITS = 3
"""Splits from which ``auto`` tests by them alone: a t test of two has one degree of freedom."""


@dataclass(frozen=True)
class Comparison:
    """Psi of one sampler less Psi of another.

    Attributes:
        first: label.
        second: label.
        difference: of Psi over the common terms.
        low: lower end of the interval that belongs to the test; None without one.
        high: upper end.
        test: what the p-value comes from.
        p_value: two-sided; None where no test could be made.
        adjusted: by Holm over all comparisons.
    """

    first: str
    second: str
    difference: float
    low: float | None
    high: float | None
    test: str
    p_value: float | None
    adjusted: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def compare_samplers(
    terms: Terms, *, baseline: str | None = None, by: By = "auto"
) -> tuple[Comparison, ...]:
    """Compare samplers over the terms that all have.

    Terms depend on each other (one split, one ranking of the full data), so that they are no
    replicates. A difference may come out otherwise for other users, and for other seeds:

    - ``"users"``: percentiles of resamples of users, and
      ``2 min(share at or below 0, at or above 0)`` with the observed one counted;
    - ``"repeats"``: paired t over the values of the outermost seed that varies;
    - ``"both"``: t with the two variances added, which for repeats of one split are of different
      things; degrees of freedom by Satterthwaite 1946, those of the users taken for infinite;
    - ``"auto"``: three splits or more by ``"repeats"``, as each has other test rows; other repeats
      by ``"both"``; one repeat by ``"users"``.

    Args:
        terms: of a grid.
        baseline: compare the others with this sampler; every two by default.
        by: what is taken to vary.

    Raises:
        SpecError: no such baseline.
    """
    if baseline is not None and baseline not in terms.samplers:
        raise SpecError(f"there is no sampler {baseline!r}{suggest(baseline, terms.samplers)}")
    if not terms.common:
        return ()
    pairs = [
        (a, b) if baseline is None else (b, a) if a == baseline else (a, b)
        for a, b in combinations(terms.samplers, 2)
        if baseline is None or baseline in (a, b)
    ]
    found = [_compared(terms, a, b, _chosen(terms, by)) for a, b in pairs]
    return _adjusted(found)


def _adjusted(found: Sequence[Comparison]) -> tuple[Comparison, ...]:
    named = {f"{c.first} - {c.second}": c.p_value for c in found}
    family = adjust(named, "holm", family=count(len(found), "comparison"))
    return tuple(replace(c, adjusted=family.adjusted[f"{c.first} - {c.second}"]) for c in found)


def _chosen(terms: Terms, by: By) -> By:
    if by != "auto":
        return by
    if terms.units == 1:
        return "users"
    return "repeats" if terms.unit == "split" and terms.units >= LEAST_SPLITS else "both"


Outcome = tuple[str, float | None, float | None, float | None]
"""Name of a test, its p-value, and the ends of its interval."""


def _compared(terms: Terms, a: str, b: str, by: By) -> Comparison:
    gap = float(terms.grid(a, "tau").mean(axis=1).mean() - terms.grid(b, "tau").mean(axis=1).mean())
    left, right = terms.drawn(a, "tau"), terms.drawn(b, "tau")
    drawn = None if left is None or right is None else left - right
    units = terms.by_unit(a, "tau") - terms.by_unit(b, "tau")
    units[np.abs(units) <= NOISE] = 0.0
    if by == "users":
        test, p, low, high = _by_users(drawn, terms.level)
    else:
        test, p, low, high = _by_repeats(terms, gap, units, drawn if by == "both" else None)
    return Comparison(a, b, gap, low, high, test, p)


def _by_users(drawn: NDArray[np.float64] | None, level: float) -> Outcome:
    if drawn is None:
        return "none: no values of users", None, None, None
    kept = drawn[~np.isnan(drawn)]
    tails = [(1 + int(np.count_nonzero(side))) / (1 + len(kept)) for side in (kept <= 0, kept >= 0)]
    name = f"bootstrap by user, {len(kept):,} resamples, of one split and draw"
    return name, min(1.0, 2 * min(tails)), *ends(drawn, level)


def _by_repeats(
    terms: Terms, gap: float, units: NDArray[np.float64], drawn: NDArray[np.float64] | None
) -> Outcome:
    """A t test over repeats, with the variance over users added if it is given."""
    from scipy.special import stdtr, stdtrit

    what = {"split": "splits", "sampler": "draws of one split", "training": "trainings of one draw"}
    if terms.units < 2:
        return "none: one repeat", None, None, None
    name = f"{terms.units} {what[terms.unit]}"
    name = f"paired t over {name}" if drawn is None else f"t over users and {name}"
    repeats = float(units.var(ddof=1)) / len(units)
    users = 0.0 if drawn is None else float(np.nanvar(drawn, ddof=1))
    if not repeats + users:
        return name, None if abs(gap) > NOISE else 1.0, None, None
    se = float(np.sqrt(repeats + users))
    df = (len(units) - 1) * ((repeats + users) / repeats) ** 2 if repeats else np.inf
    half = se * float(stdtrit(min(df, _MANY), (1 + terms.level) / 2))
    return name, 2 * float(stdtr(min(df, _MANY), -abs(gap) / se)), gap - half, gap + half
